import { defineBook } from '../../engine/call/operation.ts';
import { coreErrorFacts, renderCoreError } from './errors.ts';
import * as lifecycle from './lifecycle.ts';
import * as pictures from './pictures.ts';
import * as read from './read.ts';
import * as run from './run.ts';
import * as send from './send.ts';
import * as targets from './targets.ts';
import * as wait from './wait.ts';

export const coreBook = defineBook({
  name: 'core',
  summary: 'A dozen verbs over any terminal, for an agent that knows nothing of the references.',
  schemes: ['terminal://'],
  nouns: {
    terminal: {
      run: run.run,
      open: lifecycle.open,
      list: lifecycle.list,
      close: lifecycle.close,
      send: send.send,
      read: read.read,
      wait: wait.wait,
      find: read.find,
      screenshot: pictures.screenshot,
      record: pictures.record,
    },
    targets: { list: targets.list },
  },
  renderError: renderCoreError,
  errorFacts: coreErrorFacts,
});
