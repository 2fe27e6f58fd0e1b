import { defineBook } from '../../engine/call/operation.ts';
import { remoteErrorFacts, renderRemoteError } from '../remote/errors.ts';
import { sentences } from '../sentences.ts';
import * as stats from './lane-stats.ts';
import * as lanes from './lanes.ts';
import { list, listen, read, subscribe, templates, unsubscribe } from './resources.ts';

/** What serves the methods for resources of a protocol that has such. */
export const resourceOperations = { list, templates, read, subscribe, unsubscribe };

/** What can be followed by a URI. */
export const resourceBook = defineBook({
  name: 'resource',
  summary:
    'Everything that can be read and followed by a URI: output of terminals, shells and commands, health of sessions.',
  asResources: true,
  nouns: { resource: resourceOperations },
  streams: { resource: { listen } },
  renderError: sentences,
  errorFacts: remoteErrorFacts,
});

export const subBook = defineBook({
  name: 'sub',
  summary: 'Lanes: queues of your own on what can be followed, in the words of the ssh-mcp reference.',
  spellsDefaults: true,
  // Spelled out, because tools are listed in this order.
  nouns: {
    sub: {
      open: lanes.open,
      close: lanes.close,
      pause: lanes.pauseLane,
      resume: lanes.resume,
      filter: lanes.filter,
      replay: lanes.replay,
      list: stats.list,
      stats: stats.stats,
      stats_all: stats.statsAll,
    },
  },
  renderError: renderRemoteError,
  errorFacts: remoteErrorFacts,
});
