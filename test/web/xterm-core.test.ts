import { readFileSync } from 'node:fs';
import headless from '@xterm/headless';
import { expect, test } from 'vitest';
import {
  boundSequences,
  cursorRow,
  fitAlternate,
  joinRows,
  markRow,
  putAbove,
  roomAbove,
  screenTop,
} from '../../web/src/lib/terminal/xterm-core.ts';

/** The page reaches into xterm.js beyond its public interface; each reach is shown to work with the pinned version. */
type Xterm = InstanceType<typeof headless.Terminal>;
const open = (): Xterm => new headless.Terminal({ cols: 10, rows: 4, scrollback: 20, allowProposedApi: true });
const write = (xterm: Xterm, data: string): Promise<void> => new Promise((done) => xterm.write(data, done));
const rowsOf = (xterm: Xterm): string[] =>
  Array.from({ length: xterm.buffer.normal.length }, (_, row) => {
    return xterm.buffer.normal.getLine(row)?.translateToString(true) ?? '';
  });
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`).join('\r\n');

test('the page and the tests have the version whose inside is known', () => {
  const versionOf = (name: string): unknown =>
    (JSON.parse(readFileSync(`node_modules/@xterm/${name}/package.json`, 'utf8')) as { version: unknown }).version;
  expect([versionOf('xterm'), versionOf('headless')]).toEqual(['6.0.0', '6.0.0']);
});

test('a mark moves with its row, and goes with it', async () => {
  const xterm = open();
  await write(xterm, 'first\r\nsecond');
  expect([screenTop(xterm), cursorRow(xterm)]).toEqual([0, 1]);
  const mark = markRow(xterm, 1);
  await write(xterm, `\r\n${lines(1, 23)}`);
  expect(rowsOf(xterm)[mark.line]).toBe('second');
  expect([screenTop(xterm), mark.line]).toEqual([20, 0]);
  await write(xterm, '\r\nmore');
  expect(mark.isDisposed).toBe(true);
});

test('rows of another terminal come before the first; what is looked at, and marks, stay', async () => {
  const [xterm, older] = [open(), open()];
  await write(xterm, lines(3, 8));
  await write(older, lines(1, 2));
  const mark = markRow(xterm, 0);
  const room = roomAbove(xterm);
  putAbove(xterm, older, 2);
  expect(rowsOf(xterm).slice(0, 4)).toEqual(['line 1', 'line 2', 'line 3', 'line 4']);
  expect([mark.line, roomAbove(xterm), screenTop(xterm)]).toEqual([2, room - 2, 4]);
  expect(xterm.buffer.normal.viewportY).toBe(4);
  joinRows(xterm, [1]);
  expect(xterm.buffer.normal.getLine(1)?.isWrapped).toBe(true);
});

test('a full-screen program has rows of its own, with the height that the terminal has now', async () => {
  const xterm = open();
  await write(xterm, 'shell');
  xterm.resize(10, 3);
  fitAlternate(xterm);
  await write(xterm, `\x1b[?1049h${lines(1, 9)}`);
  expect(cursorRow(xterm)).toBeUndefined();
  expect(xterm.buffer.alternate.length).toBe(3);
  expect(rowsOf(xterm)[0]).toBe('shell');
});

test('a sequence does no more than the screen has room for', async () => {
  const xterm = open();
  boundSequences(xterm);
  const began = performance.now();
  for (const final of ['L', 'M', 'S', 'T', 'I', 'Z', 'b']) await write(xterm, `a\x1b[2147483647${final}`);
  // From the last cell of the last row.
  await write(xterm, '\x1b[4;10H\x1b[1J\x1b[?1Jstill here');
  expect(performance.now() - began).toBeLessThan(5000);
  expect(rowsOf(xterm).join('')).toContain('still here');
});
