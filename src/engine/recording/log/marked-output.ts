import type { BlockMark } from '../source.ts';
import type { LogEventName } from './log-line.ts';

/** A stretch of output, or a mark between two of them. */
type OutputPiece = { readonly bytes: Buffer } | { readonly mark: BlockMark };

const oscStart = Buffer.from('\x1b]');
const nonceKey = Buffer.from(';fl=');
/** A longer sequence is no mark. */
const longestHeld = 8192;
const zero = 0x30;

/**
 * Puts marks into the output at their places, and hides the nonce of the shell's marks: programs can read the file. The
 * bytes keep their number, so that offsets can be counted from it.
 */
export class MarkedOutput {
  #marks: BlockMark[] = [];
  #held: Buffer = Buffer.alloc(0);
  #end: number;

  /** `from` is the offset of the first byte that comes. */
  constructor(from: number) {
    this.#end = from;
  }

  /** The offset behind everything that was given out. */
  get writtenTo(): number {
    return this.#end - this.#held.length;
  }

  /** Told before the bytes in which the mark stands. */
  mark(mark: BlockMark): void {
    this.#marks.push(mark);
  }

  output(bytes: Uint8Array): OutputPiece[] {
    const all = this.#held.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes]);
    const from = this.writtenTo;
    this.#end += bytes.length;
    const whole = wholeLength(all);
    this.#held = all.subarray(whole);
    return this.#pieces(all.subarray(0, whole), from, from + whole);
  }

  /** Bytes that are not to be had: what comes next stands behind them. */
  skip(bytes: number): OutputPiece[] {
    const pieces = this.end();
    this.#end += bytes;
    return pieces;
  }

  /** What is held, and marks that no output followed. */
  end(): OutputPiece[] {
    const from = this.writtenTo;
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return this.#pieces(rest, from, Number.POSITIVE_INFINITY);
  }

  #pieces(bytes: Buffer, from: number, to: number): OutputPiece[] {
    hideNonces(bytes);
    const pieces: OutputPiece[] = [];
    let done = 0;
    const upTo = (end: number): void => {
      if (end > done) pieces.push({ bytes: bytes.subarray(done, end) });
      done = Math.max(done, end);
    };
    let count = 0;
    for (const mark of this.#marks) {
      if (mark.at > to) break;
      count += 1;
      upTo(Math.min(bytes.length, mark.at - from));
      pieces.push({ mark });
    }
    this.#marks = this.#marks.slice(count);
    upTo(bytes.length);
    return pieces;
  }
}

/** A mark as events of a log, with their payloads. A command that is told at the end comes before it. */
export function markEvents(mark: BlockMark): (readonly [LogEventName, string])[] {
  if (mark.kind === 'output') return [['block_output', mark.command ?? '']];
  if (mark.kind !== 'exit') return [[`block_${mark.kind}`, '']];
  const command = mark.command === undefined ? [] : [['block_input', mark.command] as const];
  return [...command, ['block_exit', String(mark.exitCode ?? '')]];
}

/** Without an operating system command at the end that has not ended. */
function wholeLength(bytes: Buffer): number {
  if (bytes.at(-1) === 0x1b) return bytes.length - 1;
  const start = bytes.lastIndexOf(oscStart);
  if (start < 0 || bytes.length - start > longestHeld) return bytes.length;
  for (let at = start + 2; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x07 || byte === 0x1b || byte === 0x18 || byte === 0x1a) return bytes.length;
  }
  return start;
}

function hideNonces(bytes: Buffer): void {
  for (let at = bytes.indexOf(nonceKey); at >= 0; at = bytes.indexOf(nonceKey, at + 1)) {
    if (!isInMark(bytes, at)) continue;
    for (let index = at + nonceKey.length; isHex(bytes[index]); index++) bytes[index] = zero;
  }
}

/** Text that merely looks like a nonce stays as it is. */
function isInMark(bytes: Buffer, at: number): boolean {
  const start = bytes.lastIndexOf(oscStart, at);
  return start >= 0 && /^\x1b\][16]33;[^\x07\x1b]*$/.test(bytes.toString('latin1', start, at));
}

const isHex = (byte = 0): boolean => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66);
