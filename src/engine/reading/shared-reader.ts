import { incompleteTail } from '../../lib/utf8.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { until } from '../waiting/until.ts';
import { type BytesMatch, PatternScan } from './byte-patterns.ts';

/** Unread output: the bytes still in the log, and how many there were. */
export interface Unread {
  readonly bytes: Uint8Array;
  /** Offset after its last byte. */
  readonly to: number;
  /** Unread bytes, including those the log has dropped. */
  readonly total: number;
}

type ReadOutcome = 'enough' | 'closed' | 'timeout';

/** A terminal that says nothing more for so long has answered for now. */
const peekQuietMs = 20;

/** Reads the raw output of a terminal in order, with one read mark for all callers. Works until the terminal is disposed of. */
export class SharedReader {
  readonly terminal: Terminal;
  /** Callers have seen everything before it. */
  #mark: number;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
    this.#mark = terminal.log.start;
  }

  get closed(): boolean {
    return this.terminal.ended !== undefined;
  }

  /** What is unread, up to `to`. Holds back the first bytes of a character whose rest has not arrived. */
  unread(to: number = this.terminal.log.end): Unread {
    const { log } = this.terminal;
    const { bytes, missed } = log.read(this.#mark, to);
    const held = this.closed || to < log.end ? 0 : incompleteTail(bytes);
    const whole = bytes.subarray(0, bytes.length - held);
    return { bytes: whole, to: to - held, total: missed + whole.length };
  }

  /** Marks everything before `to` as read. The mark never goes back, so two readers at one time get no byte twice. */
  take(to: number): void {
    this.#mark = Math.max(this.#mark, to);
  }

  /** Waits for so many unread bytes, for the end of the terminal, or for the time to run out. */
  async awaitBytes(count: number, timeoutMs: number, signal: AbortSignal): Promise<ReadOutcome> {
    return await this.#until(() => this.unread().total >= count, timeoutMs, signal);
  }

  /** Waits for the earliest of these in unread and in new output. */
  async awaitPattern(
    patterns: readonly Uint8Array[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<BytesMatch | Exclude<ReadOutcome, 'enough'>> {
    const scan = new PatternScan(patterns, this.terminal.log, this.#mark);
    const outcome = await this.#until(() => scan.look() !== undefined, timeoutMs, signal);
    return scan.found ?? (outcome === 'enough' ? 'closed' : outcome);
  }

  /** What the terminal says at once, up to `max` bytes from its beginning. Does not move the mark. */
  async peek(budgetMs: number, max: number, signal: AbortSignal): Promise<Uint8Array> {
    const { log, clock } = this.terminal;
    const beganMs = clock.monotonic();
    const quiet = (): number | false =>
      log.end > log.start && Math.max(beganMs, this.terminal.usage.lastOutputMs ?? 0) + peekQuietMs;
    await until(this.terminal, quiet, budgetMs, signal);
    const { bytes } = log.read(log.start, log.end, max);
    return bytes.subarray(0, bytes.length - incompleteTail(bytes));
  }

  async #until(holds: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<ReadOutcome> {
    using _present = this.terminal.usage.keepAwake();
    if (await until(this.terminal, holds, timeoutMs, signal)) return 'enough';
    return this.closed ? 'closed' : 'timeout';
  }
}
