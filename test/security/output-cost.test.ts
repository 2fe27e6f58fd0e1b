import { describe, expect, test } from 'vitest';
import { findInTerminal } from '../../src/engine/reading/find.ts';
import { readTerminal, type View } from '../../src/engine/reading/read.ts';
import { openWire } from '../support/reading.ts';
import { Mcp } from '../support/mcp-client.ts';
import { type Family, families, output } from '../support/output-families.ts';

/** What output may cost: no more than a constant for each of its bytes, whatever they are, to take in and to read in every way. */
const { signal } = new AbortController();
const views: readonly View[] = ['screen', 'new', 'diff', 'output'];

/** Milliseconds of processor time, ours and the collector's. */
async function cost(family: Family, bytes: number, size?: { cols: number; rows: number }): Promise<number> {
  const all = output(family, bytes);
  await using wire = openWire(size);
  const before = process.cpuUsage();
  await wire.say(all);
  await wire.terminal.sync(signal);
  for (const view of views) await readTerminal(wire.terminal, { view, maxBytes: 4096, immediate: true }, signal);
  await findInTerminal(wire.terminal, { pattern: 'needle', regex: true, context: 1 }, signal);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const named = (name: string): Family => families.find((family) => family.name === name) as Family;

describe('the cost of output', () => {
  test('there are 200 families of sequences and every Unicode category', () => {
    expect(families.length).toBeGreaterThan(1000);
    expect(families.filter(({ name }) => name.startsWith('category ')).length).toBe(58);
  });

  test('every family: at most 0.2 ms for each byte, taken in and read in every way', async () => {
    const bytes = 4 << 10;
    const dear: string[] = [];
    await cost(named('plain'), bytes);
    for (const family of families) {
      // Another try tells what the machine did meanwhile from what the output costs.
      if ((await cost(family, bytes)) < 0.2 * bytes || (await cost(family, bytes)) < 0.2 * bytes) continue;
      dear.push(family.name);
    }
    expect(dear).toEqual([]);
  }, 240_000);

  test.each([
    'plain',
    'one line',
    'joiners',
    'marks on one letter',
    'forty marks on every letter',
    'emoji of several',
    'forged marks',
    'OSC 2 without end',
    'OSC 52 without end',
    'string ESC P$q without end',
    'unfinished sequences',
    'urls',
    'secrets',
  ])('%s: four times the bytes cost about four times as much', async (name) => {
    const family = named(name);
    await cost(family, 32 << 10);
    const tries: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const [some, more] = [await cost(family, 64 << 10), await cost(family, 256 << 10)];
      tries.push(more / Math.max(some, 10));
      if (more / Math.max(some, 10) < 8) return;
    }
    expect(Math.min(...tries)).toBeLessThan(8);
  });

  test('the largest screen: little is taken in at a time, so that others have their turn', async () => {
    await using wire = openWire({ cols: 1000, rows: 1000 });
    const all = output(named('ESC c'), 1 << 10);
    await wire.say('ready');
    await wire.terminal.sync(signal);
    let longest = 0;
    let last = process.cpuUsage();
    const tick = setInterval(() => {
      const now = process.cpuUsage();
      longest = Math.max(longest, now.user + now.system - last.user - last.system);
      last = now;
    }, 1);
    await wire.say(all);
    await wire.terminal.sync(signal);
    clearInterval(tick);
    expect(longest / 1000).toBeLessThan(1500);
  });
});

test('ten terminals with sequences that never end, and marks without number, in a heap of 512 MB', async () => {
  await using mcp = await Mcp.start({
    args: ['--max-sessions', '12'],
    env: { NODE_OPTIONS: '--max-old-space-size=512' },
  });
  const run = (terminal: string | undefined, command: string) =>
    mcp.call('terminal_run', { command, timeoutMs: 200_000, ...(terminal === undefined ? {} : { terminal }) });
  const opened = await Promise.all(Array.from({ length: 10 }, () => mcp.call('terminal_open', {})));
  const ids = opened.map(({ structuredContent }) => String(structuredContent?.['terminal']));
  const letters = (count: number): string => `head -c ${count} /dev/zero | tr '\\0' A`;
  const starts = ['\\033]2;', '\\033]52;c;', '\\033P$q', '\\033]8;;', '\\033_G'];
  const hostile = ids.map(
    (_, n) => `printf '${starts[n % starts.length]}'; ${letters(10 << 20)}; printf '\\033\\\\end\\n'`,
  );
  const ran = await Promise.all(ids.map((id, n) => run(id, hostile[n] as string)));
  expect(ran.map(({ structuredContent }) => structuredContent?.['exitCode'])).toEqual(ids.map(() => 0));
  const marks = `printf a; head -c 8388608 /dev/zero | tr '\\0' '\\314' | sed 's/\\o314/\\o314\\o201/g' | head -c 8388608; echo end`;
  const marked = await Promise.all(ids.slice(0, 2).map((id) => run(id, marks)));
  expect(marked.map(({ structuredContent }) => structuredContent?.['exitCode'])).toEqual([0, 0]);
  for (const id of ids) {
    const screen = await mcp.call('terminal_read', { terminal: id, view: 'screen' });
    expect(screen.isError ?? false).toBe(false);
    expect(JSON.stringify(screen)).toContain('end');
  }
  const found = await mcp.call('terminal_find', { terminal: ids[0], pattern: 'end' });
  expect(found.isError ?? false).toBe(false);
}, 240_000);
