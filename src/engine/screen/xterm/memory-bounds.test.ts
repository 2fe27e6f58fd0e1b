import { expect, test } from 'vitest';
import { encode, makeScreen } from '../../../../test/support/screen.ts';
import { Emulator, type ScreenEvent } from './emulator.ts';
import { mostMarks } from './memory-bounds.ts';
import { darkTheme } from '../theme.ts';

const open = (): Emulator => new Emulator({ cols: 20, rows: 4 }, 10, darkTheme);
const feed = (emulator: Emulator, text: string): void => emulator.feed(Buffer.from(text));
const kept = (emulator: Emulator): number => {
  const parser = emulator.core._inputHandler._parser as unknown as Record<
    '_oscParser' | '_dcsParser',
    { _handlers: Record<number, { _data: string }[]> }
  >;
  const handlers = [parser._oscParser, parser._dcsParser].flatMap(({ _handlers }) => Object.values(_handlers).flat());
  return Math.max(...handlers.map(({ _data }) => _data.length));
};

test.each([
  ['title', '\x1b]2;', 64 << 10],
  ['link', '\x1b]8;;', 64 << 10],
  ['colour', '\x1b]4;', 64 << 10],
  ['clipboard', '\x1b]52;c;', (1 << 20) + 64],
  ['setting asked for', '\x1bP$q', 64 << 10],
])('of a %s without end no more is kept than fits, and text behind it is read as ever', (_, start, most) => {
  using emulator = Object.assign(open(), {
    [Symbol.dispose](this: Emulator) {
      this.dispose();
    },
  });
  feed(emulator, start);
  for (let n = 0; n < 200; n += 1) {
    feed(emulator, 'A'.repeat(10_000));
    expect(kept(emulator)).toBeLessThanOrEqual(most);
  }
  feed(emulator, '\x1b\\after');
  expect(emulator.core.buffers.normal.x).toBe(5);
  expect(emulator.take().events).toEqual([]);
  expect(kept(emulator)).toBe(0);
});

test('a megabyte for the clipboard passes, also begun a byte at a time, and a title of ordinary length', () => {
  const emulator = open();
  const text = 'x'.repeat(700_000);
  const body = Buffer.from(text).toString('base64');
  feed(emulator, '\x1b]52;c;');
  for (const char of body.slice(0, 20_000)) feed(emulator, char);
  feed(emulator, `${body.slice(20_000)}\x07\x1b]2;hello\x07`);
  const events = emulator.take().events as (ScreenEvent & { text?: string })[];
  expect(events.map(({ type }) => type)).toEqual(['clipboard', 'title']);
  expect(events[0]?.text).toBe(text);
});

test('a cell holds a letter and so many marks, in every plane; the rest is dropped', () => {
  const emulator = open();
  feed(emulator, `a${'\u0301'.repeat(5000)}b${'\u{10a01}'.repeat(5000)}c\u0301`);
  const line = emulator.core.buffers.normal.lines.get(0);
  expect(line?._combined[0]?.length).toBeLessThanOrEqual(2 * (mostMarks + 1));
  expect([...(line?._combined[1] ?? '')].length).toBeLessThanOrEqual(mostMarks + 2);
  expect(line?._combined[2]).toBe('c\u0301');
  expect(emulator.core.buffers.normal.x).toBe(3);
});

test('a mark behind a wide character that found no room: the screen is the same, wherever output is cut', () => {
  const bytes = encode(`${'x'.repeat(18)}yz\x1b[?7l\u6f22\u0301a\u6f22\u200dbc`);
  const text = (step: number): string => {
    const { screen } = makeScreen({ cols: 20, rows: 2 });
    for (let at = 0; at < bytes.length; at += step) screen.feed(bytes.subarray(at, at + step));
    return screen.text({ scope: 'all', wrap: 'keep' });
  };
  const whole = text(bytes.length);
  expect(whole).toBe(`${'x'.repeat(18)}y\u0301\u200dc`);
  for (let step = 1; step < bytes.length; step++) expect([step, text(step)]).toEqual([step, whole]);
});
