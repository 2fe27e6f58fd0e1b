import { defineBook } from '../../engine/call/operation.ts';
import { sentences } from '../sentences.ts';
import { answer, decline } from './answer.ts';
import { resize, see, type } from './attach.ts';
import { waiting } from './waiting.ts';
import { followTerminal, watch } from './streams.ts';

export { answer, decline, followTerminal, resize, see, type, waiting, watch };

/** What only the person does. Folded by the local socket, HTTP and the command line; a model must not answer for the person. */
export const personBook = defineBook({
  name: 'person',
  summary: 'What a person does beside the agents: see what waits, answer it, look into a terminal and type.',
  forPerson: true,
  nouns: { person: { waiting, answer, decline, see, type, resize } },
  streams: { person: { watch, follow: followTerminal } },
  renderError: sentences,
});
