import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { readCast } from '../../../src/engine/recording/cast/cast-reader.ts';
import { EventMask, type MaskedEvent } from '../../../src/engine/recording/cast/event-mask.ts';
import { applyEvent, blankScreen } from '../../../src/engine/recording/keyframes/keyframer.ts';
import { type Keyframe, readKeys } from '../../../src/engine/recording/keyframes/keyframe.ts';
import type { ReplayEntry } from '../../../src/engine/recording/replay/entries.ts';
import { Replays } from '../../../src/engine/recording/replay/replays.ts';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';
import { Screen } from '../../../src/engine/screen/screen.ts';
import { anyPiece } from '../../support/screen.ts';
import { tempDir } from '../../support/recording.ts';

type Line = readonly [gap: number, code: string, data: string];

const id = '00112233445566ff';
const name = `terminal-1700000000000-${id}`;
const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ456789';
const redactor = new Redactor({ key: Buffer.alloc(32, 1) });
const never = new AbortController().signal;

/** A cast of these events in a directory of its own, and what plays it. */
async function withCast(version: 2 | 3, events: readonly Line[], size = { cols: 40, rows: 6 }) {
  const dir = await tempDir();
  const path = join(dir.path, `${name}.cast`);
  const timestamp = 1_700_000_000;
  const term = version === 2 ? { width: size.cols, height: size.rows } : { term: size };
  let at = 0;
  const lines = events.map(([gap, code, data]) => {
    at += gap;
    return JSON.stringify([(version === 2 ? at : gap) / 1e6, code, data]);
  });
  await writeFile(path, [JSON.stringify({ version, ...term, timestamp }), ...lines, ''].join('\n'));
  const replays = new Replays({ dir: dir.path, redactor: () => redactor, closing: never });
  return {
    path,
    keys: `${path}.keys`,
    replays,
    entry: async () => (await replays.list()).find((one) => one.id === id) as ReplayEntry,
    endMicros: at,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
}

/** Every event of the cast as it may be shown, by one mask from the start. */
async function played(path: string): Promise<{ readonly events: MaskedEvent[]; readonly at: (t: number) => Screen }> {
  const { info, events } = await readCast(path);
  const mask = new EventMask(redactor, info.size);
  const all: MaskedEvent[] = [];
  for await (const event of events) all.push(...mask.push(event));
  all.push(...mask.end());
  const at = (t: number): Screen => {
    const screen = blankScreen({ size: info.size, screen: '' });
    for (const event of all) if (event.atMs <= Math.round(t * 1e6) / 1e3) applyEvent(screen, event);
    return screen;
  };
  return { events: all, at };
}

/** What a viewer sees: a blank cell is a blank cell, whether or not it was written to. */
function seen(screen: Screen): unknown {
  const { cursor, alternate } = screen.facts;
  const lines = screen.grid().lines.map(({ cells }) => cells.map((c) => (c.text === ' ' ? { ...c, text: '' } : c)));
  return { cursor, alternate, size: screen.size, lines };
}

const shown = (sought: { size: Keyframe['size']; screen: string }): unknown => seen(blankScreen(sought));

const text = (events: readonly MaskedEvent[]): string =>
  events.map(({ code, data }) => (code === 'o' ? data : `<${code}:${data}>`)).join('');

const line = fc.string({ unit: fc.constantFrom(...'abc xyz019._-/'.split('')), maxLength: 60 }).map((s) => `${s}\r\n`);
const piece = fc.oneof(
  anyPiece,
  line,
  line,
  fc.constantFrom(
    '$ ',
    '\x1b]133;C\x07',
    '\r\n',
    secret,
    secret.slice(0, 17),
    secret.slice(17),
    'TOKEN=',
    '\x1b]133;D;0\x07',
  ),
  fc.constantFrom('\x1b[2J\x1b[H', '\x1b[3;4H', '\x1b[?1049h', '\x1b[?1049l', '\x1b]133;C\x07done\r\n'),
);
const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4_000_000 }));
/**
 * Of height only: on an alternate screen the emulator keeps cells that a narrower window hides, and shows them again in a wider
 * one; a keyframe does not have them.
 */
const heights = fc.constantFrom('40x6', '40x9', '40x4');
const anyLine: fc.Arbitrary<Line> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.tuple(
      gap,
      fc.constant('o'),
      fc.array(piece, { maxLength: 6 }).map((all) => all.join('')),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(gap, fc.constant('r'), heights) },
  { weight: 1, arbitrary: fc.tuple(gap, fc.constantFrom('m', 'i'), fc.constantFrom('make', `echo ${secret}`)) },
);

test('R-RPC-074 a seek shows what playing from the start shows at that moment', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(2 as const, 3 as const),
      fc.array(anyLine, { minLength: 1, maxLength: 40 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 5 }),
      async (version, events, moments) => {
        await using cast = await withCast(version, events);
        const whole = await played(cast.path);
        const borders = whole.events.map(({ atMs }) => atMs / 1000);
        const inside = moments.map((share) => (share * cast.endMicros) / 1e6);
        for (const t of [0, ...inside, ...borders.slice(-3), cast.endMicros / 1e6 + 1]) {
          const sought = await cast.replays.seek(await cast.entry(), t, never);
          expect(shown(sought)).toEqual(seen(whole.at(t)));
        }
      },
    ),
    { numRuns: 120 },
  );
}, 120_000);

test('R-RPC-075 ranges join to the whole masked cast, wherever they are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(2 as const, 3 as const),
      fc.array(anyLine, { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 0, max: 60_000_000 }), { maxLength: 4 }),
      async (version, events, cuts) => {
        await using cast = await withCast(version, events);
        const whole = await played(cast.path);
        const joined: MaskedEvent[] = [];
        let from: number | undefined;
        for (const to of [...cuts.sort((a, b) => a - b).map((micros) => micros / 1e6), undefined]) {
          joined.push(...(await cast.replays.range(await cast.entry(), { from, to }, never)).events);
          from = to;
        }
        expect(text(joined)).toBe(text(whole.events));
        expect(text(joined)).not.toContain(secret);
        await cast.replays.keys(await cast.entry(), 0, 1e6, never);
        expect(await readFile(cast.keys, 'utf8')).not.toContain(secret);
      },
    ),
    { numRuns: 120 },
  );
}, 120_000);

/** Lines of plain text, some with a secret: more than the emulator could parse in the time a reader waits. */
function flood(bytes: number): Line[] {
  const lines: Line[] = [];
  for (let n = 0, size = 0; size < bytes; n++) {
    let data = '';
    for (let row = 0; row < 200; row++) data += `${n}.${row} some text that fills a line, and more of it\r\n`;
    if (n % 7 === 0) data += `export TOKEN=${secret}\r\n`;
    lines.push([1_000, 'o', data]);
    size += data.length;
  }
  return lines;
}

test('R-RPC-074 of a flood only what can be seen is parsed, with the same screens', async () => {
  const events: Line[] = [
    [0, 'o', '\x1b[33mhello\r\n'],
    ...flood(8 << 20),
    [1_000, 'o', 'partial'],
    [1_000, 'o', '\r\n$ '],
  ];
  await using cast = await withCast(2, events, { cols: 80, rows: 24 });
  const feeding = vi.spyOn(Screen.prototype, 'feed');
  const keys = await cast.replays.keys(await cast.entry(), 0, 1e6, never);
  const parsed = feeding.mock.calls.reduce((sum, [bytes]) => sum + bytes.length, 0);
  feeding.mockRestore();
  expect(parsed).toBeLessThan(3 << 20);
  // One for every half megabyte, so that no seek plays more.
  expect(keys.length).toBeGreaterThanOrEqual(15);
  const whole = await played(cast.path);
  for (const { t } of keys.filter((_, index) => index % 4 === 0)) {
    const sought = await cast.replays.seek(await cast.entry(), t, never);
    expect(shown(sought)).toEqual(seen(whole.at(t)));
  }
  expect(JSON.stringify(keys)).not.toContain(secret);
}, 60_000);

test('R-RPC-074 one keyframe where each command begins, and one for every five seconds with output', async () => {
  const second: Line = [1_000_000, 'o', 'tick\r\n'];
  const silence: Line = [60_000_000, 'm', 'nothing'];
  const events: Line[] = [
    [0, 'o', '$ make\r\n\x1b]133;C\x07one\r\n\x1b]133;D;0\x07$ '],
    ...Array.from({ length: 12 }, () => second),
    silence,
    [1_000_000, 'o', '$ ls\r\n\x1b]133;C\x07two\r\n'],
  ];
  await using cast = await withCast(2, events);
  const keys = await cast.replays.keys(await cast.entry(), 0, 1e6, never);
  expect(keys.map(({ t, block }) => [t, block])).toEqual([
    [0, 1],
    [5, undefined],
    [10, undefined],
    [73, 2],
  ]);
  const [first] = keys;
  expect(first).toMatchObject({ at: 1_700_000_000_000, size: { cols: 40, rows: 6 }, skip: 8 });
  // The screen as the command finds it: nothing of its output.
  expect(blankScreen(first as Keyframe).text({ scope: 'viewport', wrap: 'keep' })).toBe('$ make');
});

test('R-RPC-074 keyframes are made again when they are missing, torn or older than the cast; readable by their owner only', async () => {
  await using cast = await withCast(2, [[0, 'o', '$ x\r\n\x1b]133;C\x07out\r\n'], ...flood(1 << 20)]);
  const keys = await cast.replays.keys(await cast.entry(), 0, 1e6, never);
  expect((await stat(cast.keys)).mode & 0o777).toBe(0o600);
  const good = await readFile(cast.keys, 'utf8');
  const other = { ...(keys[0] as Keyframe), screen: 'other' };
  const again = async (): Promise<string> => {
    await cast.replays.keys(await cast.entry(), 0, 1e6, never);
    return await readFile(cast.keys, 'utf8');
  };

  // Whole and current: what the file says counts.
  await writeFile(cast.keys, `${JSON.stringify(other)}\n`);
  expect(await again()).toContain('"other"');
  await writeFile(cast.keys, `${JSON.stringify(other)}\n${good.slice(0, 40)}`);
  expect(await again()).toBe(good);
  await writeFile(cast.keys, `${JSON.stringify(other)}\n`);
  await utimes(cast.keys, 1, 1);
  expect(await again()).toBe(good);
  await writeFile(cast.keys, `${JSON.stringify({ ...other, pos: 1e12 })}\n`);
  expect(await again()).toBe(good);
  await writeFile(cast.keys, 'no keyframe\n');
  expect(await again()).toBe(good);
});

test('R-RPC-075 a range ends between two moments when it is large, and says where to go on', async () => {
  await using cast = await withCast(3, flood(3 << 20), { cols: 80, rows: 24 });
  let joined = '';
  let from: number | undefined;
  let parts = 0;
  for (let more = true; more; parts++) {
    const range = await cast.replays.range(await cast.entry(), { from, maxBytes: 500_000 }, never);
    joined += text(range.events);
    ({ to: from, more } = range);
  }
  expect(parts).toBeGreaterThan(4);
  expect(joined).toBe(text((await played(cast.path)).events));
  await expect(cast.replays.range(await cast.entry(), { from: 5, to: 4 }, never)).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

test('R-RPC-074 a torn keys file keeps its whole lines', async () => {
  await using cast = await withCast(2, [[0, 'o', '$ x\r\n\x1b]133;C\x07out\r\n'], ...flood(5 << 20)]);
  await cast.replays.keys(await cast.entry(), 0, 1e6, never);
  const good = await readFile(cast.keys, 'utf8');
  const lines = good.trimEnd().split('\n').length;
  await writeFile(cast.keys, good.slice(0, -10));
  expect(await readKeys(cast.keys)).toMatchObject({ torn: true });
  expect((await readKeys(cast.keys))?.keys).toHaveLength(lines - 1);
});
