import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputLog } from '../terminal/output-log.ts';
import { renderText } from '../screen/render-text.ts';
import { outputText } from './output-text.ts';

const size = { cols: 20, rows: 5 };

async function read(text: string): Promise<string> {
  const log = new OutputLog();
  log.append(Buffer.from(text));
  return (await outputText(log, 0, log.end, size)).text;
}

test('keeps inner blank lines, indentation, long lines; drops colours (R-RPC-043)', async () => {
  expect(await read('\r\n  a\r\n\r\n\tb\r\n\r\n')).toBe('\n  a\n\n        b');
  expect(await read(`${'x'.repeat(50)}\r\n\x1b[31;1mred\x1b[0m`)).toBe(`${'x'.repeat(50)}\nred`);
  expect(await read('\x1b]0;title\x07ab\r\n')).toBe('ab');
  expect(await read('see \x1b[8mnot\x1b[0m this\r\n')).toBe('see ⟦not⟧ this');
  expect(await read('\x1b[31;41mnot\x1b[m\r\n')).toBe('⟦not⟧');
});

test('what moves the cursor is rendered', async () => {
  expect(await read('10%\r50%\r100%\r\nok')).toBe('100%\nok');
  expect(await read('junk\x1b[2J\x1b[Hclean\r\n')).toBe('clean');
  expect(await read('ab\bc\r\n')).toBe('ac');
});

test('more rows than any screen keeps', async () => {
  const lines = Array.from({ length: 30_000 }, (_, at) => `line ${at}`);
  expect(await read(lines.join('\r\n'))).toBe(lines.join('\n'));
  const moving = lines.map((line) => `xx\r${line}`);
  expect(await read(moving.join('\r\n'))).toBe(lines.join('\n'));
});

test('of more than a mebibyte the last lines, and how many bytes are missing before them', async () => {
  const log = new OutputLog();
  const line = `${'y'.repeat(98)}\r\n`;
  log.append(Buffer.from(line.repeat(30_000)));
  const { text, missed } = await outputText(log, 0, log.end, size);
  expect(missed).toBe(3_000_000 - text.split('\n').length * 100);
  expect(text.split('\n').every((found) => found === 'y'.repeat(98))).toBe(true);
  expect(missed).toBeGreaterThan(1_900_000);
});

// Blanks at the end of a line may be left out by one and kept by the other.
const trimmed = (text: string): string => text.replace(/ +$/gm, '');

test('text read without a terminal is what a terminal shows', async () => {
  const piece = fc.constantFrom(
    'a',
    'é',
    '漢',
    '🙂',
    ' ',
    '\t',
    '\r\n',
    '\r\r\n',
    '\x1b[1m',
    'word ',
    '0123456789abcdefg',
    '\r',
    '\b',
    '\u0301',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      const text = pieces.join('');
      expect(trimmed(await read(text))).toBe(trimmed(renderText(Buffer.from(text), size)));
    }),
    { numRuns: 500 },
  );
});
