import { randomBytes } from 'node:crypto';
import { SharedReader } from '../../../engine/reading/shared-reader.ts';
import type { Channel, Size } from '../../../engine/terminal/channel.ts';
import type { Terminal } from '../../../engine/terminal/terminal.ts';
import { whenIdle } from '../../../engine/waiting/when-idle.ts';
import { uuid7 } from '../../../lib/uuid7.ts';
import type { SshSession } from '../sessions/session.ts';

export interface ShellRequest {
  readonly term: string;
  readonly size: Size;
  /** 0: never. */
  readonly inactivityMs: number;
  readonly bufferBytes: number;
  /** For followers of it as a resource: end it so long after the last one left. */
  readonly releaseWhenNoSubs: boolean;
  readonly graceMs: number;
}

/** A login shell whose raw output the shell tools read in order, and which ends when it is idle. A Terminal like any other. */
export class SshShell extends SharedReader {
  readonly id: string;
  readonly session: SshSession;
  readonly request: ShellRequest;
  readonly #channel: Channel;
  readonly #idle: Disposable;

  constructor(session: SshSession, channel: Channel, terminal: Terminal, request: ShellRequest) {
    super(terminal);
    this.id = uuid7(terminal.clock.now(), randomBytes(10));
    this.session = session;
    this.request = request;
    this.#channel = channel;
    this.#idle = whenIdle(terminal, request.inactivityMs, () => this.hangUp());
  }

  /** Ends the far side. What it printed stays readable. */
  hangUp(): void {
    Promise.resolve(this.#channel[Symbol.asyncDispose]()).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#idle[Symbol.dispose]();
  }
}
