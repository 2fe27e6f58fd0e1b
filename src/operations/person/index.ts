import { defineBook } from '../../engine/call/operation.ts';
import { sentences } from '../sentences.ts';
import { answer, decline } from './answer.ts';
import { resize, see, type } from './attach.ts';
import { waiting } from './waiting.ts';
import * as replay from './replay.ts';
import { followTerminal, watch } from './streams.ts';

export { answer, decline, followTerminal, resize, see, type, waiting, watch };

/** What only the person does. Folded by the local socket, HTTP and the command line; a model must not answer for the person. */
export const personBook = defineBook({
  name: 'person',
  summary:
    'What a person does beside the agents: see what waits, answer it, look into a terminal and type, play recordings.',
  forPerson: true,
  // Spelled out, because they are listed in this order.
  nouns: {
    person: { waiting, answer, decline, see, type, resize },
    replay: { list: replay.list, seek: replay.seek, range: replay.range, keys: replay.keys },
  },
  streams: { person: { watch, follow: followTerminal } },
  renderError: sentences,
});
