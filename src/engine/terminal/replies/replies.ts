import { timings } from '../../waiting/timings.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Blocks } from '../blocks.ts';
import type { ProcessView } from '../channel.ts';
import { readerOf, type Scene, verdictOn } from './verdict.ts';
import { isCanonical } from '../../shells/input-mode.ts';

interface RepliesInit {
  readonly clock: Clock;
  readonly blocks: Blocks;
  readonly process: ProcessView | undefined;
  /** Offset the next byte of output will get. */
  readonly offset: () => number;
  /** Brings onto the screen what the far side has printed so far. */
  readonly fetch: () => Promise<void>;
  readonly alternate: () => boolean;
  /** The cursor stands behind something that looks like the prompt of a shell. */
  readonly behindPrompt: () => boolean;
  /** Takes back an answer that was typed unseen and came back as an echo. */
  readonly echo: { readonly expect: (bytes: Uint8Array) => void } & Disposable;
  /** Types the bytes when their turn has come, if they may still go then. */
  readonly type: (bytes: Uint8Array, mayGo: () => boolean) => void;
  readonly onFault: (thrown: unknown) => void;
  /** Queries before this offset were answered by another process. */
  readonly answeredTo?: number | undefined;
}

interface Reply {
  readonly bytes: Uint8Array;
  /** The query ends before this offset. */
  readonly to: number;
  readonly askedMs: number;
  /** Where the output ended when the terminal was found in canonical mode. */
  linesTo: number | undefined;
}

/** More than this is not kept for a program that does not read. */
const mostWaiting = 64 << 10;
const { longestPauseMs } = timings.reply;

/**
 * Answers of the terminal on their way to the program that asked. One is typed only while that program can still read
 * it: a terminal has one input, and what its reader has left behind is the beginning of the shell's next line.
 */
export class Replies implements Disposable {
  readonly #init: RepliesInit;
  #waiting: Reply[] = [];
  #waitingBytes = 0;
  /** The program was seen doing something else than reading. */
  #isBusy = false;
  #round: Promise<void> | undefined;
  #pauseMs = 1;
  #timer: Disposable | undefined;
  #closed = false;

  constructor(init: RepliesInit) {
    this.#init = init;
  }

  /** Queries before this offset are not answered any more: they were, or the shell has gone on since. */
  get deadTo(): number {
    return Math.max(this.#init.answeredTo ?? 0, this.#init.blocks.turnedAt);
  }

  /** Settles when it is decided about every answer whether it goes, waits or is dropped; nothing when that is so. */
  get decided(): Promise<void> | undefined {
    return this.#round;
  }

  /** The answer to a query that ends before the offset `to`. Called while output is parsed. */
  add(bytes: Uint8Array, to: number): void {
    if (this.#closed || to <= this.deadTo || this.#waitingBytes + bytes.length > mostWaiting) return;
    this.#waiting.push({ bytes, to, askedMs: this.#init.clock.monotonic(), linesTo: undefined });
    this.#waitingBytes += bytes.length;
    this.#pauseMs = 1;
    this.#begin();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#init.echo[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#keep([]);
  }

  #begin(): void {
    if (this.#round) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#round = this.#decide()
      .catch((thrown: unknown) => {
        this.#keep([]);
        this.#init.onFault(thrown);
      })
      .finally(() => {
        this.#round = undefined;
        if (this.#closed || this.#waiting.length === 0) return;
        this.#timer = this.#init.clock.after(this.#pauseMs, () => this.#begin());
        this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
      });
  }

  async #decide(): Promise<void> {
    // Not while output is parsed: looking brings more of it.
    await Promise.resolve();
    const scene = await this.#look();
    this.#keep(this.#waiting.filter(({ to }) => to > this.deadTo));
    const replies = this.#waiting;
    for (const [at, reply] of replies.entries()) {
      const verdict = this.#judge(reply, scene);
      if (verdict === 'drop') continue;
      this.#keep(replies.slice(at));
      // Those behind it are for the same reader.
      if (verdict === 'send') this.#send(scene);
      return;
    }
    this.#keep([]);
  }

  /**
   * Who reads first, what was printed second. A shell says that a command has ended before it reads the next line: if the
   * reader found here were a shell with marks, its mark is among what is fetched.
   */
  async #look(): Promise<Scene> {
    const { blocks, process, fetch, alternate, behindPrompt } = this.#init;
    const mode = process?.inputMode();
    const program = mode === undefined || isCanonical(mode) ? undefined : process?.foreground();
    const reader = readerOf({ mode, program, state: blocks.state, reads: () => this.#reads() });
    await fetch();
    return {
      mode,
      reader,
      atPrompt: blocks.promptAt !== undefined || (blocks.shellAsks && blocks.state !== 'running'),
      asks: blocks.shellAsks,
      alternate: alternate(),
      behindPrompt: reader === 'unseen' && behindPrompt(),
    };
  }

  /** Unknown for a program at work, at that moment; always unknown for one that may not be inspected. */
  #reads(): boolean | undefined {
    const reads = this.#init.process?.reads?.();
    this.#isBusy ||= reads === false;
    return reads ?? (this.#isBusy ? false : undefined);
  }

  #judge(reply: Reply, scene: Scene): ReturnType<typeof verdictOn> {
    const end = this.#init.offset();
    if (isCanonical(scene.mode)) reply.linesTo ??= end;
    const printedOn = reply.linesTo !== undefined && reply.linesTo !== end;
    return verdictOn({ ageMs: this.#init.clock.monotonic() - reply.askedMs, printedOn }, scene);
  }

  #send({ reader, atPrompt }: Scene): void {
    const [first] = this.#waiting;
    if (first && reader === 'unseen' && !atPrompt) this.#init.echo.expect(first.bytes);
    for (const { bytes, to } of this.#waiting) this.#init.type(bytes, () => to > this.deadTo);
    this.#keep([]);
  }

  #keep(replies: Reply[]): void {
    this.#waiting = replies;
    if (replies.length === 0) this.#isBusy = false;
    this.#waitingBytes = replies.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}
