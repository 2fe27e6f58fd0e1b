import { expect, test } from 'vitest';
import { type Peek, peekOf, watchPeeks } from '../../../src/engine/reading/peek.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { openWire } from '../../support/reading.ts';

const size = { rows: 3, cols: 10 };
const words = ({ rows }: Peek): string[] => rows.map((row) => row.map(([text]) => text).join(''));

async function shown(text: string): Promise<Peek> {
  await using wire = openWire();
  wire.channel.say(text);
  await wire.terminal.sync(AbortSignal.timeout(5000));
  return peekOf(wire.terminal, size);
}

test('the last rows up to the cursor, cut at the right', async () => {
  const peek = await shown('one\r\ntwo\r\nthree is longer\r\nfour\r\n$ ');
  expect(words(peek)).toEqual(['three is l', 'four', '$']);
  expect(peek).toMatchObject({ mode: 'tail', cursor: { x: 2, y: 2 } });
});

test('looks: sixteen colours, ground, bold, dim and inverse; others become the nearest', async () => {
  const peek = await shown('\x1b[31mr\x1b[1;32mg\x1b[0;44mb\x1b[0;2md\x1b[0;7mi\x1b[0;38;2;255;0;10mt\x1b[0m');
  expect(peek.rows).toEqual([
    [
      ['r', 2],
      ['g', 3 | 1024],
      ['b', 5 << 5],
      ['d', 2048],
      ['i', 4096],
      ['t', 2],
    ],
  ]);
});

test('a full-screen program is shown whole', async () => {
  const peek = await shown('before\x1b[?1049h\x1b[2J\x1b[1;1Htop\x1b[5;1Hfive');
  expect(peek.mode).toBe('grid');
  expect(words(peek).slice(0, 5)).toEqual(['top', '', '', '', 'five']);
});

test('nothing invisible and no direction tricks come through', async () => {
  const peek = await shown('a\u202eb\u200bc\u{e0041}d');
  expect(words(peek).join('')).not.toMatch(/[\u202e\u200b\u{e0041}]/u);
});

test('each terminal at once, then when it has changed, at most four times a second, the newest only', async () => {
  await using wire = openWire();
  const clock = new ManualClock();
  const stop = new AbortController();
  const items: Peek[] = [];
  const watching = (async () => {
    for await (const item of watchPeeks([wire.terminal], size, clock, stop.signal)) items.push(item);
  })();
  await expect.poll(() => items.length).toBe(1);
  for (const line of ['one\r\n', 'two\r\n', 'three\r\n']) {
    wire.channel.say(line);
    await wire.terminal.sync(AbortSignal.timeout(5000));
  }
  await expect.poll(() => clock.timers).toBe(1);
  expect(items).toHaveLength(1);
  clock.advance(250);
  await expect.poll(() => items.length).toBe(2);
  expect(words(items[1] as Peek)).toEqual(['two', 'three', '']);
  // Output that leaves the picture as it is tells nothing.
  wire.channel.say('\x1b[m');
  await wire.terminal.sync(AbortSignal.timeout(5000));
  clock.advance(250);
  await expect.poll(() => clock.timers).toBe(0);
  expect(items).toHaveLength(2);
  stop.abort();
  await watching;
  expect(wire.terminal.output.size).toBeLessThan(10);
});
