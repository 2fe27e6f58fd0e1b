import './app.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { feed } from './lib/feed.svelte.ts';
import { applyPreferences } from './lib/preferences.svelte.ts';
import { start } from './lib/start.ts';

applyPreferences();

const begun = await start();
// A login may have led to another address.
dispatchEvent(new PopStateEvent('popstate'));
if ('me' in begun) feed.start(begun.me);
mount(App, { target: document.body, props: 'me' in begun ? {} : { login: begun } });
