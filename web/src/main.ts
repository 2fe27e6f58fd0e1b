import './app.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { feed } from './lib/feed.svelte.ts';
import { applyPreferences } from './lib/preferences.svelte.ts';
import { start } from './lib/start.ts';

applyPreferences();

const begun = await start().catch(() => ({ login: 'The server does not answer.' }));
if ('me' in begun) feed.start(begun.me);
mount(App, { target: document.body, props: { login: 'login' in begun ? begun.login : undefined } });
