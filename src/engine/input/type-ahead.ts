import type { Clock } from '../../lib/clock.ts';
import type { Blocks } from '../terminal/blocks.ts';
import type { ProcessView } from '../terminal/channel.ts';
import type { OutputLog } from '../terminal/output-log.ts';

export interface LastInput {
  readonly atMs: number;
  /** Where the output ended then. */
  readonly offset: number;
  /** It ended a line. */
  readonly entered?: boolean;
  /** It ended a line that no program was waiting for: the next prompt may belong to what ran before it. */
  readonly ahead?: boolean;
  /** It was Ctrl-C. */
  readonly stops?: boolean;
}

export interface TypeAheadInit {
  readonly clock: Clock;
  readonly log: OutputLog;
  readonly blocks: Blocks;
  readonly process: ProcessView | undefined;
}

/** The newest input, and whether the shell was ready for it. */
export class TypeAhead {
  readonly #init: TypeAheadInit;
  #last: LastInput | undefined;
  /** The newest input is the first since Ctrl-C, or a further piece of that line. */
  #afterStop = false;
  #lastAhead: number | undefined;

  constructor(init: TypeAheadInit) {
    this.#init = init;
  }

  get last(): LastInput | undefined {
    return this.#last;
  }

  get lastAhead(): number | undefined {
    return this.#lastAhead;
  }

  /** Call it before the bytes are sent. Answers with the time. */
  note(bytes: Uint8Array): number {
    const { blocks, clock, log, process } = this.#init;
    const atMs = clock.monotonic();
    const entered = bytes.includes(13) || bytes.includes(10);
    // The shell is known to read no commands just now.
    const early = entered && blocks.state !== 'unknown' && blocks.promptAt === undefined;
    const offset = log.end;
    this.#afterStop = this.#last?.stops === true || (this.#afterStop && this.#continues(offset));
    // A program that reads lines takes it, unless it was just told to stop; where the channel cannot tell, it is taken to.
    const ahead = early && (this.#afterStop || process?.reads?.() === false);
    const stops = bytes[0] === 3 && bytes.every((byte) => byte === 3);
    this.#last = { atMs, offset, entered, ahead, stops };
    if (early) this.#lastAhead = offset;
    return atMs;
  }

  /** The line that was begun before, unless a program that has printed something since waits for a new one. */
  #continues(offset: number): boolean {
    if (this.#last?.entered !== false) return false;
    return this.#last.offset === offset || this.#init.process?.reads?.() !== true;
  }
}
