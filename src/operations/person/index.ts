import { defineBook } from '../../engine/call/operation.ts';
import { sentences } from '../sentences.ts';
import { answer, decline } from './answer.ts';
import * as agents from './agents.ts';
import { resize, see, type } from './attach.ts';
import { blocks } from './blocks.ts';
import * as calls from './calls.ts';
import { followTerminal } from './follow.ts';
import * as health from './health.ts';
import { history, scrollback } from './history.ts';
import { give, take } from './keyboard.ts';
import { rename } from './rename.ts';
import * as running from './stop.ts';
import { text } from './text.ts';
import { waiting } from './waiting.ts';
import * as logins from './logins.ts';
import * as files from './replay/files.ts';
import { list } from './replay/list.ts';
import { blocks as replayBlocks, search, showMasked } from './replay/outline.ts';
import { followReplay, keys, range, seek } from './replay/play.ts';
import { peeks, watch } from './streams.ts';
import * as trail from './trail.ts';

export {
  answer,
  blocks,
  decline,
  followTerminal,
  give,
  history,
  peeks,
  rename,
  resize,
  scrollback,
  see,
  take,
  text,
  type,
  waiting,
  watch,
};

/** What only the person does. Folded by the local socket, HTTP and the command line; a model must not answer for the person. */
export const personBook = defineBook({
  name: 'person',
  summary:
    'What a person does beside the agents: see what waits, answer it, look into a terminal and type, play recordings, sign browsers out.',
  forPerson: true,
  // Spelled out, because they are listed in this order.
  nouns: {
    person: { waiting, answer, decline, see, text, blocks, history, scrollback, type, resize, rename, take, give },
    login: { list: logins.list, end: logins.end },
    agents: {
      list: agents.list,
      pause: agents.pauseAgents,
      resume: agents.resume,
      drop: agents.drop,
      revoke: agents.revoke,
      approve: agents.approve,
    },
    running: { list: running.list, stop: running.stop },
    terminals: { end: running.end },
    calls: { list: calls.list },
    health: { check: health.check },
    trail: { list: trail.list, verify: trail.verify, export: trail.export },
    replay: {
      list,
      blocks: replayBlocks,
      seek,
      range,
      keys,
      search,
      masked: showMasked,
      export: files.export,
      remove: files.remove,
    },
  },
  streams: {
    person: { watch, follow: followTerminal, peeks },
    calls: { watch: calls.watch },
    trail: { watch: trail.watch },
    replay: { follow: followReplay },
  },
  renderError: sentences,
});
