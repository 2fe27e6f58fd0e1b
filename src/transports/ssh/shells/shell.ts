import { randomBytes } from 'node:crypto';
import type { Size } from '../../../engine/terminal/channel.ts';
import { abortable } from '../../../system/abortable.ts';
import type { Terminal } from '../../../engine/terminal/terminal.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import { incompleteTail } from '../../../lib/utf8.ts';
import { uuid7 } from '../../../lib/uuid7.ts';
import type { SshProcess } from '../link/link.ts';
import type { SshSession } from '../sessions/session.ts';
import { PatternScan } from '../../../engine/reading/byte-patterns.ts';

export interface ShellRequest {
  readonly term: string;
  readonly size: Size;
  /** 0: never. */
  readonly inactivityMs: number;
  readonly bufferBytes: number;
  /** For whoever follows it as a resource: end it so long after the last follower left. */
  readonly releaseWhenNoSubs: boolean;
  readonly graceMs: number;
}

/** Unread output of a shell: what is there, and how much was lost since it was last read. */
export interface Unread {
  readonly bytes: Uint8Array;
  /** Offset after its last byte. */
  readonly to: number;
  /** Bytes there were, those included that are no longer kept. */
  readonly total: number;
}

export type Awaited = 'enough' | 'closed' | 'timeout';

/** What a shell that answers within the peek has said when it is quiet for so long. */
const peekQuietMs = 20;

/**
 * A login shell whose raw output is read in order. It is a Terminal like any other; this adds what its tools need besides: one
 * read mark for all of them, and an end when nobody uses it.
 */
export class SshShell {
  readonly id: string;
  readonly session: SshSession;
  readonly terminal: Terminal;
  readonly request: ShellRequest;
  readonly #process: SshProcess;
  readonly #clock: Clock;
  readonly #idle: Disposable;
  /** What was shown lies before it; read and wait_for share it. */
  #mark: number;

  constructor(session: SshSession, process: SshProcess, terminal: Terminal, request: ShellRequest, clock: Clock) {
    this.id = uuid7(clock.now(), randomBytes(10));
    this.session = session;
    this.terminal = terminal;
    this.request = request;
    this.#process = process;
    this.#clock = clock;
    this.#mark = terminal.log.start;
    this.#idle = whenIdle(terminal, clock, request.inactivityMs, () => this.hangUp());
  }

  get closed(): boolean {
    return this.terminal.ended !== undefined;
  }

  /** Ends the far side. What it printed stays readable. */
  hangUp(): void {
    Promise.resolve(this.#process[Symbol.asyncDispose]()).catch(() => {});
  }

  /** What has not been shown yet, up to `to`. The first bytes of a character whose rest has not arrived are not there yet. */
  unread(to: number = this.terminal.log.end): Unread {
    const { log } = this.terminal;
    const { bytes, missed } = log.read(this.#mark, to);
    const held = this.closed || to < log.end ? 0 : incompleteTail(bytes);
    const kept = bytes.subarray(0, bytes.length - held);
    return { bytes: kept, to: to - held, total: missed + kept.length };
  }

  /** Everything before `to` counts as shown. It never goes back: two readers at one time show no byte twice. */
  take(to: number): void {
    this.#mark = Math.max(this.#mark, to);
  }

  /** Waits for so many unread bytes, for the end of the shell, or for the time to run out. */
  async awaitBytes(count: number, timeoutMs: number, signal: AbortSignal): Promise<Awaited> {
    return await this.#until(() => this.unread().total >= count, timeoutMs, signal);
  }

  /** Waits for the earliest of these in what is unread and in what comes. */
  async awaitPattern(
    patterns: readonly Uint8Array[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly pattern: number; readonly to: number } | Exclude<Awaited, 'enough'>> {
    const scan = new PatternScan(patterns, this.terminal.log, this.#mark);
    const how = await this.#until(() => scan.look() !== undefined, timeoutMs, signal);
    return scan.found ?? (how === 'enough' ? 'closed' : how);
  }

  /** What it says at once, up to `max` bytes from its beginning; nothing is taken by it. */
  async peek(budgetMs: number, max: number, signal: AbortSignal): Promise<Uint8Array> {
    const { log, output } = this.terminal;
    const done = deferred();
    let quiet: Disposable | undefined;
    const rest = (): void => {
      quiet?.[Symbol.dispose]();
      quiet = this.#clock.after(peekQuietMs, done.resolve);
    };
    using _limit = this.#clock.after(budgetMs, done.resolve);
    using _output = output.on(rest);
    using _end = this.terminal.state.changed.on(() => void (this.closed && done.resolve()));
    if (log.end > log.start) rest();
    if (this.closed) done.resolve();
    try {
      await abortable(done.promise, signal);
    } finally {
      quiet?.[Symbol.dispose]();
    }
    const { bytes } = log.read(log.start, log.end, max);
    return bytes.subarray(0, bytes.length - incompleteTail(bytes));
  }

  [Symbol.dispose](): void {
    this.#idle[Symbol.dispose]();
  }

  async #until(holds: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<Awaited> {
    const done = deferred<Awaited>();
    const check = (): void => {
      if (holds()) done.resolve('enough');
      else if (this.closed) done.resolve('closed');
    };
    using _limit = this.#clock.after(timeoutMs, () => done.resolve('timeout'));
    using _output = this.terminal.output.on(check);
    using _end = this.terminal.state.changed.on(check);
    check();
    return await abortable(done.promise, signal);
  }
}

/** Calls back when nothing came in or went out for so long. One timer, however much does. */
function whenIdle(terminal: Terminal, clock: Clock, limitMs: number, call: () => void): Disposable {
  if (limitMs === 0) return { [Symbol.dispose]: () => {} };
  let activeMs = clock.monotonic();
  let timer: Disposable | undefined;
  const active = (): void => {
    activeMs = clock.monotonic();
  };
  const arm = (ms: number): void => {
    timer = clock.after(Math.max(1, ms), () => {
      const left = activeMs + limitMs - clock.monotonic();
      if (left > 0) return arm(left);
      stop();
      call();
    });
  };
  const listening = [terminal.output.on(active), terminal.input.on(active)];
  const stop = (): void => {
    timer?.[Symbol.dispose]();
    for (const one of listening) one[Symbol.dispose]();
  };
  arm(limitMs);
  return { [Symbol.dispose]: stop };
}
