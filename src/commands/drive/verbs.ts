import { verbsOf } from '../../faces/cli/verbs.ts';
import { personBook } from '../../operations/person/index.ts';
import { sessionBook } from '../../operations/session/index.ts';

/** What only the person does: it goes over the private socket of an instance. */
export const personal = verbsOf(personBook);

/** Every verb that drives a running instance, by noun. */
export const verbs = new Map([...verbsOf(sessionBook), ...personal]);
