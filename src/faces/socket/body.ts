import { wipeable } from '../../system/wipeable.ts';

const newline = 10;
/** Never a part of UTF-8 text. */
const stand = 0xff;

/** Bytes as one line of the socket: newlines are written as a byte that text never holds. Overwrites the text. */
export function socketLine(text: Buffer): Buffer {
  const line = wipeable(text.length + 1);
  for (const [at, byte] of text.entries()) line[at] = byte === newline ? stand : byte;
  line[text.length] = newline;
  text.fill(0);
  return line;
}

/** What `lineOf` was given, in the memory of the line itself. */
export function bodyOf(line: Buffer): Buffer {
  for (const [at, byte] of line.entries()) if (byte === stand) line[at] = newline;
  return line;
}
