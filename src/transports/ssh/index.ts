import { serviceKey } from '../../engine/call/service.ts';
import type { Clock } from '../../lib/clock.ts';
import { Commands } from './commands/commands.ts';
import type { SshConnector } from './sessions/connect.ts';
import { SshSessions } from './sessions/sessions.ts';
import type { SshSettings } from './settings.ts';
import { SshShells } from './shells/shells.ts';

interface SshOptions {
  readonly settings: SshSettings;
  readonly connector: SshConnector;
  readonly clock: Clock;
}

/** Everything over SSH that one engine has open. Operations find it with `engine.part(ssh)`. */
export class Ssh implements AsyncDisposable {
  readonly settings: SshSettings;
  readonly connector: SshConnector;
  readonly sessions: SshSessions;
  readonly commands: Commands;
  readonly shells: SshShells;

  constructor(options: SshOptions) {
    this.settings = options.settings;
    this.connector = options.connector;
    this.sessions = new SshSessions(options);
    this.commands = new Commands(options);
    this.shells = new SshShells();
  }

  /** Ends every session, and so everything that lives on one. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.shells[Symbol.dispose]();
    await this.sessions[Symbol.asyncDispose]();
    this.commands[Symbol.dispose]();
  }
}

export const ssh = serviceKey<Ssh>('SSH');
