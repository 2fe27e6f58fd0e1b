import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { readCast } from '../../../src/engine/recording/cast/cast-reader.ts';
import { readKeys } from '../../../src/engine/recording/keyframes/keyframe.ts';
import { readPlace } from '../../../src/engine/recording/place-file.ts';
import type { StartOptions } from '../../../src/engine/recording/recordings.ts';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';
import { FakeTerminal, readLines, readMeta, Studio, tempDir, type TempDir } from '../../support/recording.ts';

const at = new Studio();
const redactor = new Redactor({ key: Buffer.alloc(32, 1) });
const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ456789';
const longGone = { pid: 0x3ffffff, host: 'x', started: '1', boot: 'before' };

/** What a killed process leaves: its files as they are on the disk at this moment. */
async function killed(dir: string): Promise<TempDir & { readonly part: string }> {
  const left = await tempDir();
  for (const name of await readdir(dir)) await copyFile(join(dir, name), join(left.path, name));
  const names = await readdir(left.path);
  const writer = join(left.path, names.find((name) => name.endsWith('.writer.json')) ?? '');
  const facts = JSON.parse(await readFile(writer, 'utf8')) as { writer: object };
  await writeFile(
    writer,
    JSON.stringify({
      ...facts,
      writer: { ...facts.writer, ...longGone, host: (facts.writer as { host: string }).host },
    }),
  );
  const part = join(left.path, names.find((name) => name.endsWith('.cast.part')) ?? '');
  return Object.assign(left, { part });
}

/** The same terminal in the next process: its log has everything. */
function nextTerminal(before: FakeTerminal): FakeTerminal {
  const next = new FakeTerminal(at.clock, before.id);
  next.log.append(before.log.read(0).bytes);
  next.screen.size = before.screen.size;
  return next;
}

/** Resolves when the files say that the cast has all output so far. */
async function flushed(dir: string, terminal: FakeTerminal): Promise<void> {
  await vi.waitFor(async () => {
    const name = (await readdir(dir)).find((one) => one.endsWith('.place')) ?? '';
    expect((await readPlace(join(dir, name), Number.POSITIVE_INFINITY))?.off).toBe(terminal.log.end);
  });
}

async function output(path: string): Promise<string> {
  let text = '';
  for await (const { code, data } of (await readCast(path)).events) if (code === 'o') text += data;
  return text;
}

async function recordAcross(
  before: readonly Uint8Array[],
  after: readonly Uint8Array[],
  options: StartOptions,
  flushes: readonly number[],
) {
  await using first = await tempDir();
  const one = at.open({ dir: first.path, redactor: () => redactor, idleTimeLimit: 0 });
  const terminal = new FakeTerminal(at.clock);
  const { recordingId } = await one.start(terminal, options);
  await flushed(first.path, terminal);
  for (const [index, bytes] of before.entries()) {
    terminal.print(bytes);
    at.clock.advance(flushes.includes(index) ? 1_000 : 30);
    // Wherever the disk is by then: every state of the files must do.
    if (flushes.includes(index)) await readdir(first.path);
  }
  await using left = await killed(first.path);
  const two = at.open({ dir: left.path, redactor: () => redactor, idleTimeLimit: 0 });
  const next = nextTerminal(terminal);
  await two.resume(next, [left.part]);
  expect(two.activeOf(terminal.id)).toBe(recordingId);
  for (const bytes of after) {
    next.print(bytes);
    at.clock.advance(10);
  }
  const { path, saved } = await two.stop(recordingId);
  expect(saved).toBe(true);
  await readLines(path);
  await one.stop(recordingId);
  return { text: await output(path), lines: await readLines(path), meta: await readMeta(path) };
}

const piece = fc.oneof(
  fc.constantFrom(
    'a line\r\n',
    'half a line',
    'é漢🙂',
    '\x1b[31mred\x1b[0m',
    '\x1b]2;title\x07',
    '\r\n',
    '\x1b[2J',
    'x'.repeat(300),
  ),
  fc.constantFrom(secret, `TOKEN=${secret}\r\n`, 'password: '),
);
/** As one stream at the width of the terminal masks it. */
const masked = (whole: string): string => {
  const stream = redactor.stream({ cols: 80 });
  return [...stream.push(whole, undefined), ...stream.end()].map(({ text }) => text).join('');
};
const cut = (text: string, sizes: readonly number[]): Uint8Array[] => {
  const bytes = Buffer.from(text);
  const chunks: Uint8Array[] = [];
  for (let from = 0, n = 0; from < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 7;
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
};

test.each(['plain', 'masked'])(
  'R-TERM-075 %s: a recording goes on in the next process without a lost or repeated byte',
  async (kind) => {
    const redact = kind === 'masked';
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 25 }).map((all) => all.join('')),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        fc.nat(200),
        fc.array(fc.nat(20), { maxLength: 4 }),
        async (whole, sizes, broken, flushes) => {
          const chunks = cut(whole, sizes);
          const [before, after] = [
            chunks.slice(0, broken % (chunks.length + 1)),
            chunks.slice(broken % (chunks.length + 1)),
          ];
          const { text } = await recordAcross(before, after, { snapshot: false, redact }, flushes);
          expect(text).toBe(redact ? masked(whole) : whole);
        },
      ),
      { numRuns: 40 },
    );
  },
  120_000,
);

test('R-TERM-075 time goes on, the size is told again, commands and masks of both processes are counted', async () => {
  await using first = await tempDir();
  const one = at.open({ dir: first.path, redactor: () => redactor });
  const terminal = new FakeTerminal(at.clock);
  const { recordingId } = await one.start(terminal, { redact: true, markers: true, title: 'both' });
  terminal.print(`\x1b]133;A\x07$ \x1b]133;C\x07TOKEN=${secret}\r\n\x1b]133;D;1\x07\r\n`);
  at.clock.advance(1_000);
  await flushed(first.path, terminal);
  await using left = await killed(first.path);
  at.clock.advance(600_000);
  const next = nextTerminal(terminal);
  next.resizeTo({ cols: 100, rows: 30 });
  const two = at.open({ dir: left.path, redactor: () => redactor });
  await two.resume(next, [left.part]);
  next.print(`\x1b]133;A\x07$ \x1b]133;C\x07${secret}\r\n\x1b]133;D;0\x07`);
  const { path, durationMs } = await two.stop(recordingId);
  const [header, ...events] = await readLines(path);
  expect(header).toMatchObject({ version: 2, width: 80, height: 24, title: 'both' });
  expect(events.filter(([, code]) => code === 'r')).toMatchObject([[expect.any(Number), 'r', '100x30']]);
  const times = events.map(([t]) => t);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  // The idle limit of two seconds cuts the time without a server, too.
  expect(times.at(-1)).toBeLessThan(5);
  expect(durationMs).toBe(601_000);
  expect(await readMeta(path)).toMatchObject({
    recordingId,
    redactions: 2,
    failed: true,
    commands: [{ exitCode: 1 }, { exitCode: 0 }],
  });
});

test('R-TERM-075 where the log has lost the bytes in between, the recording goes on with the screen as it is', async () => {
  await using first = await tempDir();
  const one = at.open({ dir: first.path });
  const terminal = new FakeTerminal(at.clock);
  const { recordingId } = await one.start(terminal);
  terminal.print('early\r\n');
  at.clock.advance(1_000);
  await flushed(first.path, terminal);
  await using left = await killed(first.path);
  const next = new FakeTerminal(at.clock, terminal.id);
  next.log.append(Buffer.alloc(9 << 20, 'x'));
  next.shows = 'the screen now';
  const two = at.open({ dir: left.path });
  await two.resume(next, [left.part]);
  next.print(' and on');
  const { path } = await two.stop(recordingId);
  expect(await output(path)).toBe('early\r\n\x1bcthe screen now and on');
  await one.stop(recordingId);
});

test('R-TERM-075 one whose terminal is gone is closed at the next start; one whose writer lives, or of another instance, is left alone', async () => {
  await using first = await tempDir();
  const one = at.open({ dir: first.path, instance: 'alpha' });
  const durable = Object.assign(new FakeTerminal(at.clock), { durable: { farSide: {} as never } });
  const { recordingId } = await one.start(durable);
  durable.print('kept\r\n');
  at.clock.advance(1_000);
  await flushed(first.path, durable);
  await one.closeLeft();
  expect(one.active).toHaveLength(1);
  await using left = await killed(first.path);
  const other = at.open({ dir: left.path, instance: 'bravo' });
  await other.closeLeft();
  expect(await readdir(left.path)).toContain(basename(left.part));
  const same = at.open({ dir: left.path, instance: 'alpha' });
  await same.closeLeft();
  const names = await readdir(left.path);
  expect(names.filter((name) => name.startsWith('.'))).toEqual([]);
  const cast = join(left.path, names.find((name) => name.endsWith('.cast')) ?? '');
  expect(await output(cast)).toBe('kept\r\n');
  expect(await readMeta(cast)).toMatchObject({ recordingId, stopReason: 'recovered' });
  // Nothing is left to go on with.
  await same.resume(durable, [left.part]);
  expect(same.active).toEqual([]);
  await one.stop(recordingId);
});

test('R-RPC-074 keyframes are written while recording, with wall clock and log offset, and go on in the next process', async () => {
  await using first = await tempDir();
  const one = at.open({ dir: first.path, redactor: () => redactor });
  const terminal = new FakeTerminal(at.clock);
  const begin = at.clock.now();
  const { recordingId } = await one.start(terminal);
  const ticks = (to: FakeTerminal, count: number): void => {
    for (let n = 0; n < count; n++) {
      to.print(`tick ${n} TOKEN=${secret}\r\n`);
      at.clock.advance(1_000);
    }
  };
  ticks(terminal, 7);
  at.clock.advance(60_000);
  ticks(terminal, 8);
  await flushed(first.path, terminal);
  const early = await vi.waitFor(async () => {
    // Making keyframes rests in between, by the clock.
    at.clock.advance(1_000);
    const [name = ''] = (await readdir(first.path)).filter((one) => one.endsWith('.keys'));
    const read = await readKeys(join(first.path, name));
    expect(read?.keys.length).toBeGreaterThanOrEqual(2);
    return read;
  });
  await using left = await killed(first.path);
  const two = at.open({ dir: left.path, redactor: () => redactor });
  const next = nextTerminal(terminal);
  await two.resume(next, [left.part]);
  ticks(next, 7);
  const { path } = await two.stop(recordingId);
  const read = await readKeys(`${path}.keys`);
  expect(read?.torn).toBe(false);
  const keys = read?.keys ?? [];
  expect(keys.slice(0, early?.keys.length)).toEqual(early?.keys);
  expect(keys.length).toBeGreaterThan(early?.keys.length ?? 0);
  expect(JSON.stringify(keys)).not.toContain(secret);
  expect(keys[0]).toMatchObject({ t: 5, at: begin + 5_000 });
  // A minute of silence was cut to two seconds; the wall clock of a keyframe knows it.
  const late = keys.at(-1);
  expect((late?.at ?? 0) - begin - (late?.t ?? 0) * 1000).toBeGreaterThan(57_000);
  for (const { off, screen } of keys) {
    expect(off).toBeGreaterThan(0);
    expect(off).toBeLessThanOrEqual(next.log.end);
    expect(screen).toContain('<redacted:');
  }
  await one.stop(recordingId);
});
