import type { Size } from '../../terminal/channel.ts';
import type { OutputLog } from '../../terminal/output-log.ts';
import { Transcriber } from '../../screen/transcript.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Pause } from '../../../system/turns.ts';
import { incompleteTail } from '../../../lib/utf8.ts';
import { CountedText, type Totals } from './counted-text.ts';

/** Bytes of the head that is put aside. */
const mostHead = 256 << 10;
/** Counted in one go: the last screenful of each piece costs most. */
const mostPiece = 128 << 10;

interface CountedOutput extends Totals {
  /** The first bytes of the output: whole lines, where it has any so early. */
  readonly head: Uint8Array;
  /** Offset up to which was counted. */
  readonly to: number;
}

/**
 * Output of one command beyond the capacity of the log: its head is put aside before it is dropped, the rest is counted
 * as it goes. Output that fits costs nothing.
 */
export class Overflow implements Disposable {
  readonly #log: OutputLog;
  readonly #size: Size;
  readonly #listening: Disposable;
  readonly #counted = new CountedText();
  readonly #pieceBytes: number;
  /** While there is something left to count. */
  #transcriber: Transcriber | undefined;
  #hasBegun = false;
  #head: Uint8Array = new Uint8Array();
  #from = 0;
  /** Where the output ends, once that is known. */
  #end = Number.POSITIVE_INFINITY;
  #to = 0;

  /** `outputFrom` is asked when the first bytes are about to be dropped. */
  constructor(
    { log, screen: { size } }: { readonly log: OutputLog; readonly screen: { readonly size: Size } },
    outputFrom: () => number,
  ) {
    this.#log = log;
    this.#size = size;
    this.#pieceBytes = Math.max(1, Math.min(mostPiece, log.capacity >> 3));
    this.#listening = log.onDrop.on((lowest) => this.#dropping(lowest, outputFrom));
  }

  /** No more output comes after this offset. */
  endsAt(offset: number): void {
    this.#end = offset;
  }

  /** Where the output begins; undefined while the log has all of it. */
  get from(): number | undefined {
    return this.#hasBegun ? this.#from : undefined;
  }

  /** The beginning of the output from an offset on, while the log may no longer have it. */
  headFrom(offset: number): Uint8Array | undefined {
    return this.#hasBegun && offset >= this.#from ? this.#head.subarray(offset - this.#from) : undefined;
  }

  /** Counts the output up to this offset, or a little further if the log has dropped more meanwhile. */
  async count(to: number, pause: Pause): Promise<CountedOutput> {
    while (this.#to < Math.min(to, this.#log.end) && this.#piece(to)) await pause();
    const counted = this.#counted.copy();
    this.#transcriber?.rest(counted);
    return { ...counted.totals, head: this.#head, to: Math.max(to, this.#to) };
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.#transcriber?.[Symbol.dispose]();
    this.#transcriber = undefined;
    this.#hasBegun = false;
  }

  #dropping(lowest: number, outputFrom: () => number): void {
    if (!this.#hasBegun) {
      const from = outputFrom();
      if (lowest <= from || from < this.#log.start || this.#end <= from) return;
      this.#hasBegun = true;
      this.#from = from;
      this.#to = from;
      this.#head = wholeLines(this.#log.read(from, Math.min(this.#end, from + mostHead)).bytes);
      this.#transcriber = new Transcriber(this.#size, this.#counted);
    }
    while (this.#to < lowest && this.#piece(this.#end));
  }

  /** False when there was nothing left to count. */
  #piece(to: number): boolean {
    const { bytes } = this.#log.read(this.#to, Math.min(to, this.#end), this.#pieceBytes);
    if (bytes.length === 0 || !this.#transcriber) return false;
    // Lines are quicker to count from the start of one.
    const piece = wholeLines(bytes);
    for (const _step of this.#transcriber.steps(piece));
    this.#to += piece.length;
    if (this.#to >= this.#end) this.#finish();
    return true;
  }

  #finish(): void {
    this.#transcriber?.rest(this.#counted);
    this.#transcriber?.[Symbol.dispose]();
    this.#transcriber = undefined;
  }
}

/** Up to the last end of a line; all of it but half a character where there is none. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  const lines = bytes.lastIndexOf(0x0a) + 1;
  return bytes.subarray(0, lines > 0 ? lines : bytes.length - incompleteTail(bytes) || bytes.length);
}

/** Watches the output of a command that is about to be sent, and forgets that of the one before. */
export function watchOverflow(terminal: Terminal, outputFrom: () => number): Overflow {
  terminal.commands.overflow?.[Symbol.dispose]();
  return (terminal.commands.overflow = new Overflow(terminal, outputFrom));
}

/** Of the output that begins at this offset, if something of it was dropped and it is that of the newest command. */
export function overflowFrom(terminal: Terminal, offset: number): Overflow | undefined {
  const { overflow } = terminal.commands;
  return overflow?.from === offset ? overflow : undefined;
}
