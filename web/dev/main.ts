import '../src/app.css';
import { mount } from 'svelte';
import { applyPreferences } from '../src/lib/preferences.svelte.ts';
import { allowXtermStyles } from '../src/lib/xterm-styles.ts';
import { fillFeed } from './feed.ts';
import States from './States.svelte';
import { textNamed } from './texts.ts';

/** Every state of the parts, without a server: `?set=` chooses what holds for the whole page, `?text=` whose words it shows. */
const query = new URLSearchParams(location.search);
const text = textNamed(query.get('text') ?? 'plain');

allowXtermStyles();
applyPreferences();
fillFeed(query.get('set') ?? 'live', text);
mount(States, { target: document.body, props: { text } });
