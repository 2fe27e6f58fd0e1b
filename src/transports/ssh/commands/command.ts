import type { Ended } from '../../../engine/terminal/channel.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';
import { Emitter } from '../../../lib/emitter.ts';
import { CommandOutput } from './command-output.ts';
import { settlesWithin } from './command-wait.ts';
import type { MergedProcess } from '../link/link.ts';
import type { SessionChild, SessionEnd, SshSession } from '../sessions/session.ts';

export type CommandStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'timeout';

export interface CommandRequest {
  readonly command: string;
  /** From the start on; then it is ended. */
  readonly timeoutMs: number;
  readonly pty: boolean;
  /** What its creator wants to happen when the last who follows its output leaves. */
  readonly releaseWhenNoSubs: boolean;
  readonly graceMs: number;
}

interface CommandFacts {
  readonly id: string;
  readonly number: number;
  readonly session: SshSession;
  readonly request: CommandRequest;
}

/** How it ended. `exitCode` is there when it ended by itself and the server said how. */
interface CommandEnd {
  readonly status: Exclude<CommandStatus, 'running'>;
  readonly exitCode?: number | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
}

/** How long a command has to heed a signal before it is killed. */
const patienceMs = 2_000;
/** The same when its session is closing and a caller waits for that. */
const shortPatienceMs = 300;

const ctrlC = Uint8Array.of(0x03);

/**
 * A command on a channel of its own, and the memory of what it wrote. Its stdin is empty, unless it has a terminal: what
 * asks a question there gets no answer, and ends by the timeout.
 *
 * To end it we ask the server to signal it (with OpenSSH its whole process group) and close the channel. A server that
 * ignores such requests (OpenSSH before 7.9, forced commands, processes of root) still hangs up a terminal. Without one,
 * a command lives on there until it next writes; and anywhere, whatever left the command's process group does.
 */
export class SshCommand implements SessionChild {
  readonly kind = 'command';
  readonly id: string;
  /** Which of all commands it is, in the order of their start. */
  readonly number: number;
  readonly sessionId: string;
  readonly principal: string;
  readonly request: CommandRequest;
  readonly startedAt: number;
  readonly output: CommandOutput;
  /** When a call begins or ceases to wait for its end. */
  readonly onAwaited = new Emitter<void>();
  readonly #clock: Clock;
  readonly #ended = deferred<CommandEnd>();
  readonly #limit: Disposable;
  readonly #holds = new Set<Deferred<void>>();
  #waiters = 0;
  /** Let go of at the end: what is kept for its readers needs no channel. */
  #process: MergedProcess | undefined;
  #end: CommandEnd | undefined;
  /** Why we are ending it, if we are. */
  #reason: 'cancelled' | 'timeout' | undefined;
  #stopping: Promise<void> | undefined;

  constructor(
    { id, number, session, request }: CommandFacts,
    process: MergedProcess,
    { clock, bufferBytes }: { readonly clock: Clock; readonly bufferBytes: number },
  ) {
    this.id = id;
    this.number = number;
    this.sessionId = session.id;
    this.principal = session.principal;
    this.request = request;
    this.#process = process;
    this.#clock = clock;
    this.startedAt = clock.now();
    this.output = new CommandOutput(bufferBytes);
    this.#limit = clock.after(request.timeoutMs, () => {
      this.#stopping ??= this.#stop('timeout', patienceMs);
    });
    if (!request.pty) process.end();
    this.#follow(process).catch((thrown: unknown) => this.#finish({ status: 'failed', error: String(thrown) }));
  }

  get status(): CommandStatus {
    return this.#end?.status ?? 'running';
  }

  /** Whether it still waits for a channel of its session. */
  get queued(): boolean {
    return this.#process?.waiting === true;
  }

  /** How it ended, if it has. */
  get end(): CommandEnd | undefined {
    return this.#end;
  }

  /** Settles once, after the last byte of its output was kept, and never rejects. */
  get whenEnded(): Promise<CommandEnd> {
    return this.#ended.promise;
  }

  /** Ends it: an interrupt, and after two seconds the axe. Resolves when it has ended, with how it did. */
  async cancel(): Promise<CommandEnd> {
    this.#stopping ??= this.#stop('cancelled', patienceMs);
    await this.#stopping;
    return await this.whenEnded;
  }

  async sessionEnded(end: SessionEnd): Promise<void> {
    if (end.by !== 'lost') this.#stopping ??= this.#stop('cancelled', shortPatienceMs);
    // What came before the break is still on its way to the log.
    else if (!(await settlesWithin(this.whenEnded, shortPatienceMs, this.#clock))) {
      this.#finish({ status: 'failed', error: end.reason });
    }
    await this.#stopping;
  }

  /** A call waits for its end. */
  get isAwaited(): boolean {
    return this.#waiters > 0;
  }

  /** Counts as a call that waits for its end, until disposed. */
  awaited(): Disposable {
    this.#waiters += 1;
    this.onAwaited.emit();
    return {
      [Symbol.dispose]: () => {
        this.#waiters -= 1;
        this.onAwaited.emit();
      },
    };
  }

  /** While held, nothing is read from the far side, which then has to wait. The holder sets a limit. */
  hold(): Disposable {
    const hold = deferred();
    this.#holds.add(hold);
    return {
      [Symbol.dispose]: () => {
        this.#holds.delete(hold);
        hold.resolve();
      },
    };
  }

  async #follow(process: MergedProcess): Promise<void> {
    for await (const { stream, bytes } of process.output) {
      this.output.append(stream, bytes);
      while (this.#holds.size > 0 && this.#reason === undefined) {
        await Promise.all([...this.#holds].map(({ promise }) => promise));
      }
    }
    this.#finish(ending(await process.ended, this.#reason));
  }

  async #stop(reason: 'cancelled' | 'timeout', patience: number): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    this.#reason = reason;
    // What is being ended waits for no reader.
    for (const hold of this.#holds) hold.resolve();
    if (reason === 'timeout') process.signal('TERM');
    // On a terminal the key reaches what is in the foreground, which a signal request does not.
    else if (this.request.pty) process.write(ctrlC).catch(() => {});
    else process.signal('INT');
    if (await settlesWithin(this.whenEnded, patience, this.#clock)) return;
    process.signal('KILL');
    await process[Symbol.asyncDispose]();
  }

  #finish(end: CommandEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#process = undefined;
    this.#limit[Symbol.dispose]();
    this.output.shrink();
    this.#ended.resolve(end);
  }
}

function ending(ended: Ended, reason: 'cancelled' | 'timeout' | undefined): CommandEnd {
  if (reason !== undefined) return { status: reason };
  if (ended.by === 'exit') return { status: 'completed', exitCode: ended.code };
  if (ended.by === 'lost') return { status: 'failed', error: ended.reason };
  const number = signalNumbers[ended.signal];
  return {
    status: 'failed',
    error: `The command was killed by signal ${ended.signal}.`,
    // As shells count it.
    ...(number !== undefined && { exitCode: 128 + number }),
  };
}

/** The signals of RFC 4254 by their numbers, the same on every system that has them. */
const signalNumbers: Readonly<Record<string, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ILL: 4,
  ABRT: 6,
  FPE: 8,
  KILL: 9,
  SEGV: 11,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
};
