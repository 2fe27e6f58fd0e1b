import type { Size } from '../terminal/channel.ts';
import type { OutputLog } from '../terminal/output-log.ts';
import { transcribe } from '../screen/transcript.ts';

/** More is not rendered: the last part of it, from the beginning of a line. */
const mostBytes = 1 << 20;
/** A longer line is cut. */
const longestLine = 64 << 10;

/** What a stretch of output leaves on a terminal of this size, however many rows it has. */
export async function outputText(
  log: OutputLog,
  from: number,
  to: number,
  size: Size,
): Promise<{ readonly text: string; readonly missed: number }> {
  const { bytes, start } = lastPart(log, from, to);
  const { text, dropped } = await textOf(bytes, size);
  return { text, missed: start - from + dropped };
}

/** The same for bytes that are at hand, with how much of the beginning there was no room for. */
export async function textOf(
  bytes: Uint8Array,
  size: Size,
): Promise<{ readonly text: string; readonly dropped: number }> {
  const text = plain(bytes, size.cols);
  if (text !== undefined) return { text, dropped: 0 };
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const transcript = await transcribe(bytes, { size, pause });
  return { text: transcript.text, dropped: transcript.droppedBytes };
}

function lastPart(log: OutputLog, from: number, to: number): { bytes: Uint8Array; start: number } {
  const read = log.read(Math.max(from, to - mostBytes), to);
  if (read.from === from) return { bytes: read.bytes, start: from };
  const line = read.bytes.subarray(0, longestLine).indexOf(0x0a) + 1;
  return { bytes: read.bytes.subarray(line), start: read.from + line };
}

/** Titles, marks, and colours in which all text can be seen; hidden text is found by an emulator. */
const visible = '(?:0?[0-7]|9|2[1-9]|3[1-79]|49|9[0-7])?';
const colors = new RegExp(`\\x1b(?:\\[${visible}(?:;${visible})*m|\\(B|\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\))`, 'g');
/** Anything that moves, erases, combines or could not be decoded. */
const needsTerminal =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\p{M}\p{Default_Ignorable_Code_Point}]|(?<!\r)\n|\r(?![\r\n])/u;

/** Lines of text and nothing else, which most output is, need no terminal to be read. */
function plain(bytes: Uint8Array, cols: number): string | undefined {
  if (bytes.length === 0) return '';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').replace(colors, '');
  if (needsTerminal.test(text)) return undefined;
  const lines = text.split(/\r+\n/);
  for (const [at, line] of lines.entries()) {
    if (!line.includes('\t')) continue;
    const wide = withoutTabs(line);
    if (wide === undefined || wide.length > cols) return undefined;
    lines[at] = wide;
  }
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines.join('\n');
}

function withoutTabs(line: string): string | undefined {
  if (/[^\t -~]/.test(line)) return undefined;
  let wide = '';
  for (const [at, part] of line
    .replace(/(?<!\t)\t+$/, '')
    .split('\t')
    .entries()) {
    if (at > 0) wide += ' '.repeat(8 - (wide.length % 8));
    wide += part;
  }
  return wide;
}
