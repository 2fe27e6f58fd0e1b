import type { SavedBlocks } from '../terminal/blocks.ts';
import type { EchoedLine } from '../terminal/marks.ts';
import type { TypedEvent } from '../terminal/organs/history.ts';
import type { OutputLog } from '../terminal/output-log.ts';

/** What the output of a terminal has led to so far. With the bytes that came after, another process can go on. */
export interface SavedState {
  /** The screen shows everything before this offset. */
  readonly screenAt: number;
  /** Empty for a blank one. */
  readonly screen: Uint8Array;
  /** Blocks know of everything before this offset. */
  readonly blocksAt: number;
  readonly blocks: SavedBlocks;
  readonly line: EchoedLine | undefined;
  /** Who typed last. */
  readonly typed?: readonly TypedEvent[] | undefined;
}

/** Of another version of this format nothing is read: the bytes are parsed again. */
const version = 1;

export function encodeState({ screen, ...rest }: SavedState): Uint8Array {
  const head = Buffer.from(JSON.stringify({ version, ...rest }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, screen]);
}

export function decodeState(bytes: Uint8Array): SavedState | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < 4) return undefined;
  const headEnd = 4 + buffer.readUInt32BE(0);
  try {
    const read = JSON.parse(buffer.toString('utf8', 4, headEnd)) as SavedState & { version: number };
    if (read.version !== version) return undefined;
    return { ...read, line: read.line, screen: new Uint8Array(buffer.subarray(headEnd)) };
  } catch {
    return undefined;
  }
}

/** Where to go on that was at this offset, or knows nothing. */
export function resumeAt(log: OutputLog, at: number | undefined): number {
  return at !== undefined && at >= log.start && at <= log.end ? at : safeStart(log);
}

const longestLine = 64 << 10;

/** Where reading may begin in a log whose oldest bytes are gone: not within a line, a character or an escape sequence. */
function safeStart(log: OutputLog): number {
  if (log.start === 0) return 0;
  const { bytes } = log.read(log.start, log.end, longestLine);
  const newline = bytes.indexOf(0x0a);
  if (newline >= 0) return log.start + newline + 1;
  // No line ends here. An escape is a beginning too; else at least no character is cut.
  const escape = bytes.indexOf(0x1b);
  const whole = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return log.start + Math.max(0, escape >= 0 ? escape : whole);
}
