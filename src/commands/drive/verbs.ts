import { verbsOf } from '../../faces/cli/verbs.ts';
import { personBook } from '../../operations/person/index.ts';
import { resourceBook, subBook } from '../../operations/streams/index.ts';
import { settingsBook } from '../../operations/settings/index.ts';
import { sessionBook } from '../../operations/session/index.ts';

/** What goes over the private socket of an instance: it is the person's, or goes on. */
export const personal = new Map([
  ...verbsOf(personBook),
  ...verbsOf(settingsBook),
  ...verbsOf(resourceBook),
  ...verbsOf(subBook),
]);

/** Every verb that drives a running instance, by noun. */
export const verbs = new Map([...verbsOf(sessionBook), ...personal]);
