import { expect, test } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { OutputLog } from '../../terminal/output-log.ts';
import { Screen } from '../screen.ts';
import { OlderRows } from './older-rows.ts';

const signal = new AbortController().signal;

function shown({ readable = 10_000, scrollback = 1000, cols = 80, rows = 24, capacity = 4 << 20 } = {}) {
  const clock = new ManualClock();
  const log = new OutputLog({ capacity });
  const screen = new Screen({ size: { cols, rows }, scrollback, clock });
  const older = new OlderRows({ log, screen, clock, shownTo: () => log.end, readable: () => readable });
  const print = (text: string): void => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 1 << 16) {
      const part = bytes.subarray(at, at + (1 << 16));
      log.append(part);
      screen.feed(part);
    }
  };
  return { clock, log, screen, older, print };
}

/** Everything that can be read. */
async function all(older: OlderRows, marks = false, stop = signal) {
  const { rows, ...facts } = await older.read({ marks }, stop);
  return { rows: rows(), ...facts };
}

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\r\n`).join('');

test('R-RPC-143: rows that left the emulator are read from the log, with the same numbers', async () => {
  const { screen, older, print } = shown();
  print(numbered(1, 9000));
  expect(screen.baseRow).toBe(9000 - 1000 - 23);
  const { rows, first, viewportTop } = await all(older);
  expect(first).toBe(0);
  expect(viewportTop).toBe(screen.viewportTop);
  expect(rows.every(({ row }, at) => row === at)).toBe(true);
  expect(rows.slice(0, 9000).every(({ text }, at) => text === `line ${at + 1}`)).toBe(true);
  // The same row, once from the emulator and once from the log.
  const live = screen.rowTexts(screen.baseRow, 1)[0];
  print(numbered(9001, 9500));
  const later = await all(older);
  expect(later.rows[live?.row ?? -1]).toEqual(live);
});

test('a reader gets the rows it asks for, across the border of the emulator', async () => {
  const { screen, older, print } = shown();
  print(numbered(1, 5000));
  const { rows } = await older.read({}, signal);
  const from = screen.baseRow - 2;
  expect(rows(from, 4).map(({ row, text }) => [row, text])).toEqual(
    [0, 1, 2, 3].map((at) => [from + at, `line ${from + at + 1}`]),
  );
  expect(rows(0, 1)).toEqual([{ row: 0, text: 'line 1', wrapped: false }]);
  expect(rows(100_000)).toEqual([]);
});

test('R-RPC-143: no more rows can be read than the setting says', async () => {
  const { older, print } = shown({ readable: 3000 });
  print(numbered(1, 9000));
  const { rows, first, viewportTop } = await all(older);
  expect(viewportTop - first).toBe(3000);
  expect(rows[0]).toMatchObject({ row: first, text: `line ${first + 1}` });
});

test('a setting no larger than the emulator reads nothing from the log', async () => {
  const { screen, older, print } = shown({ readable: 1000 });
  print(numbered(1, 5000));
  expect((await all(older)).first).toBe(screen.baseRow);
});

/** Colours, wraps, wide characters, cursor moves and a full-screen program: what a big emulator keeps is the truth. */
const busy = (n: number): string =>
  n % 97 === 0
    ? `\x1b[?1049h\x1b[Hfull screen ${n}\x1b[?1049l`
    : n % 31 === 0
      ? `${'長い行'.repeat(30)} ${n}\r\n`
      : n % 13 === 0
        ? `progress 1\rprogress ${n}\x1b[K\r\n`
        : `\x1b[3${n % 8}mrow ${n}\x1b[0m ${'x'.repeat((n * 37) % 190)}\r\n`;

test('every row is what an emulator with room for all of them shows', async () => {
  const { older, print, clock } = shown({ scrollback: 200, readable: 50_000 });
  const oracle = new Screen({ size: { cols: 80, rows: 24 }, scrollback: 100_000, clock });
  for (let n = 0; n < 4000; n += 500) {
    const text = Array.from({ length: 500 }, (_, at) => busy(n + at)).join('');
    print(text);
    oracle.feed(Buffer.from(text));
    const { rows, first } = await all(older);
    expect(first).toBe(0);
    expect(rows).toEqual(oracle.rowTexts(0));
  }
});

test('a log that has dropped its beginning still gives the rows it has, with their numbers', async () => {
  const { log, screen, older, print } = shown({ capacity: 64 << 10 });
  print(numbered(1, 9000));
  expect(log.start).toBeGreaterThan(0);
  const { rows, first } = await all(older);
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(screen.baseRow);
  expect(rows.slice(0, 9000 - first).every(({ row, text }) => text === `line ${row + 1}`)).toBe(true);
});

test('R-RPC-021: rows from before a resize keep their order and their numbers', async () => {
  const { screen, older, print } = shown({ cols: 80 });
  print(numbered(1, 4000));
  screen.resize({ cols: 132, rows: 40 });
  print(numbered(4001, 6000));
  await all(older);
  screen.resize({ cols: 40, rows: 10 });
  print(numbered(6001, 9000));
  const { rows, first } = await all(older);
  expect(first).toBe(0);
  expect(rows.map(({ row }) => row)).toEqual(rows.map((_, at) => at));
  const texts = rows.map(({ text }) => text).filter((text) => text !== '');
  expect(texts).toEqual(Array.from({ length: 9000 }, (_, at) => `line ${at + 1}`));
});

test('a reflow that pushes rows out of the emulator loses none of them', async () => {
  const { screen, older, print } = shown({ cols: 80, scrollback: 100 });
  const wide = Array.from({ length: 600 }, (_, at) => `${String(at).padStart(4, '0')} ${'y'.repeat(60)}\r\n`).join('');
  print(wide);
  screen.resize({ cols: 30, rows: 24 });
  print(numbered(1, 300));
  const { rows } = await all(older);
  const joined = rows.map(({ text, wrapped }) => (wrapped ? '' : '\n') + text).join('');
  const heads = [...joined.matchAll(/^(\d{4}) /gm)].map(([, head]) => Number(head));
  expect(heads).toEqual(Array.from({ length: 600 }, (_, at) => at));
});

test.each([
  ['the program erases the scrollback', '\x1b[3J'],
  ['the program resets the terminal', '\x1bc'],
])('rows that are gone because %s do not come back', async (_why, bytes) => {
  const { older, print } = shown({ scrollback: 100 });
  print(numbered(1, 2000));
  print(bytes);
  print(numbered(3001, 4000));
  const { rows } = await all(older);
  const texts = rows.map(({ text }) => text);
  expect(texts).toContain('line 3001');
  expect(texts).not.toContain('line 1');
  expect(texts).not.toContain('line 1800');
});

test('R-TERM-053: nor do rows that a caller cleared', async () => {
  const { screen, older, print } = shown({ scrollback: 100 });
  print(numbered(1, 2000));
  await all(older);
  screen.clear();
  print(numbered(3001, 4000));
  const { rows, first } = await all(older);
  const texts = rows.map(({ text }) => text);
  expect(texts).toContain('line 3001');
  expect(texts).not.toContain('line 2000');
  expect(rows.map(({ row }) => row)).toEqual(rows.map((_, at) => first + at));
});

test('what a person cannot see is marked in older rows, too', async () => {
  const { older, print } = shown({ scrollback: 50 });
  print(`\x1b[8msecret words\x1b[0m\r\n${numbered(1, 500)}`);
  const { rows } = await all(older, true);
  expect(rows[0]).toMatchObject({ row: 0, hidden: 12 });
  expect(rows[0]?.text).toBe('⟦secret words⟧');
});

test('readers at one time get one answer each, and an abandoned one harms none', async () => {
  const { older, print } = shown({ scrollback: 100 });
  print(numbered(1, 5000));
  const gone = new AbortController();
  const left = all(older, false, gone.signal);
  const others = [all(older), all(older)];
  gone.abort(new Error('left'));
  await expect(left).rejects.toThrow('cancelled');
  for (const { rows, first } of await Promise.all(others)) {
    expect(first).toBe(0);
    expect(rows[4999]?.text).toBe('line 5000');
  }
});

test('the second emulator is let go after a while, and comes back when asked', async () => {
  const { clock, older, print } = shown({ scrollback: 100 });
  print(numbered(1, 3000));
  await all(older);
  expect(clock.timers).toBe(1);
  clock.advance(30_000);
  expect(clock.timers).toBe(0);
  print(numbered(3001, 3500));
  expect((await all(older)).rows[3499]?.text).toBe('line 3500');
  older[Symbol.dispose]();
  expect(clock.timers).toBe(0);
});
