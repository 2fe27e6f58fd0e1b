import { defineBook } from '../../engine/call/operation.ts';
import { remoteErrorFacts } from '../remote/errors.ts';
import { sentences } from '../sentences.ts';
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
