import type { Size } from '../channel.ts';
import type { OutputLog } from '../output-log.ts';
import { Emulator } from '../screen/emulator.ts';
import { joinRows, type RowText, rowTexts } from '../screen/rows.ts';
import { darkTheme } from '../screen/theme.ts';

/** More is not rendered: the last part of it, from the beginning of a line. */
const mostBytes = 1 << 20;
/** No slice can scroll more rows than are kept. */
const sliceBytes = 4096;
const keptRows = sliceBytes + 100;
/** Rendered in one go before others get their turn. */
const turnBytes = 64 << 10;

/** What a stretch of output leaves on a terminal of this size, however many rows it has. */
export async function outputText(
  log: OutputLog,
  from: number,
  to: number,
  size: Size,
): Promise<{ readonly text: string; readonly missed: number }> {
  const { bytes, start } = lastPart(log, from, to);
  const missed = start - from;
  return { text: plain(bytes, size.cols) ?? (await rendered(bytes, size)), missed };
}

function lastPart(log: OutputLog, from: number, to: number): { bytes: Uint8Array; start: number } {
  const read = log.read(Math.max(from, to - mostBytes), to);
  if (read.from === from) return { bytes: read.bytes, start: from };
  const line = read.bytes.indexOf(0x0a) + 1;
  return { bytes: read.bytes.subarray(line), start: read.from + line };
}

const colors = /\x1b(?:\[[\d;:]*m|\(B|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;
/** Anything that moves, erases, combines or could not be decoded. */
const needsTerminal =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\p{M}\p{Default_Ignorable_Code_Point}]|(?<!\r)\n|\r(?!\r*\n)/u;

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
  for (const [at, part] of line.replace(/\t+$/, '').split('\t').entries()) {
    if (at > 0) wide += ' '.repeat(8 - (wide.length % 8));
    wide += part;
  }
  return wide;
}

async function rendered(bytes: Uint8Array, size: Size): Promise<string> {
  const scratch = new Emulator(size, keptRows, darkTheme);
  try {
    const rows: RowText[] = [];
    let taken = 0;
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      scratch.feed(bytes.subarray(at, at + sliceBytes));
      const { active, normal } = scratch.core.buffers;
      const top = scratch.trimmed + normal.ybase;
      // Rows that have left the screen never change again.
      if (active === normal && top > taken) {
        rows.push(...rowTexts(scratch, taken, top - taken));
        taken = top;
      }
      if ((at + sliceBytes) % turnBytes === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return joinRows([...rows, ...rowTexts(scratch, taken, Number.MAX_SAFE_INTEGER)], 'join');
  } finally {
    scratch.dispose();
  }
}
