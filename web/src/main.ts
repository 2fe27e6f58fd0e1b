import './app.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { feed } from './lib/feed.svelte.ts';
import { applyPreferences } from './lib/preferences.svelte.ts';
import { start } from './lib/start.ts';

applyPreferences();
// Few need these rules: others do not load them.
const forced = matchMedia('(forced-colors: active)');
const force = () => void (forced.matches && import('./forced-colors.css'));
forced.onchange = force;
force();

const begun = await start();
// A login may have led to another address.
dispatchEvent(new PopStateEvent('popstate'));
if ('me' in begun) feed.start(begun.me);
mount(App, { target: document.body, props: 'me' in begun ? {} : { login: begun } });
