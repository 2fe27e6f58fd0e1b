import { defineBook } from '../../engine/call/operation.ts';
import { execBatch } from './batch.ts';
import { list } from './command-list.ts';
import * as commands from './commands.ts';
import { remoteErrorFacts, renderRemoteError } from './errors.ts';
import { run } from './run.ts';
import * as sessions from './sessions.ts';
import * as shells from './shells.ts';

export const sshBook = defineBook({
  name: 'ssh',
  summary: 'Sessions, commands and shells on other machines over SSH, in the words of the ssh-mcp reference.',
  schemes: ['shell://', 'command://', 'session://'],
  spellsDefaults: true,
  // Spelled out, because tools are listed in this order.
  nouns: {
    ssh: {
      connect: sessions.connect,
      disconnect: sessions.disconnect,
      sessions: sessions.sessions,
      disconnectAgent: sessions.disconnectAgent,
      disconnectMany: sessions.disconnectMany,
      exec: commands.exec,
      execOutput: commands.execOutput,
      commands: list,
      execCancel: commands.execCancel,
      run,
      execBatch,
      shellOpen: shells.open,
      shellWrite: shells.write,
      shellPress: shells.press,
      shellRead: shells.read,
      shellWaitFor: shells.waitFor,
      shellClose: shells.close,
    },
  },
  renderError: renderRemoteError,
  errorFacts: remoteErrorFacts,
});
