import { defineBook } from '../../engine/call/operation.ts';
import { sentences } from '../sentences.ts';
import * as clients from './clients.ts';
import * as lang from './lang.ts';
import { bootstrap, open, state, updates } from './pages.ts';
import * as recording from './recording.ts';
import * as rules from './rules.ts';
import { getCompat, getScrollback, setCompat, setScrollback } from './terminal.ts';
import * as theme from './theme.ts';
import { watch } from './watch.ts';

/**
 * What a person chooses for an instance. Folded by the local socket, HTTP and the command line: the reference of the session RPC says
 * that themes are no methods of it. Policy, proxy and the
 * recordings themselves are in the session book, and on HTTP beside these.
 */
export const settingsBook = defineBook({
  name: 'settings',
  summary: 'What a person chooses: theme, language, scrollback, recording, what programs are told of their terminal.',
  forPerson: true,
  nouns: {
    theme: { list: theme.list, current: theme.current, switch: theme.switch },
    lang: { list: lang.list, current: lang.current, set: lang.set, words: lang.words },
    scrollback: { get: getScrollback, set: setScrollback },
    compat: { get: getCompat, set: setCompat },
    logs: { get: recording.getRecording, set: recording.setRecording, try: recording.try },
    rules: { try: rules.try },
    client: { list: clients.list },
    settings: { open, state, bootstrap, updates },
  },
  streams: { settings: { watch } },
  renderError: sentences,
});
