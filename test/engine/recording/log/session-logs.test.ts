import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { SessionLogs } from '../../../../src/engine/recording/log/session-logs.ts';
import { openPart } from '../../../../src/engine/recording/part-file.ts';
import { ManualClock } from '../../../support/clocks/manual.ts';
import { openWire, type Wire } from '../../../support/reading.ts';
import { logEvents, LogRoot, outputOf } from '../../../support/session-logs.ts';

const epoch = 1_700_000_000_000;
const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  await vi.waitUntil(isTrue, { timeout: 20_000, interval: 5 });
};
const text = (path: string | null): string => readFileSync(path ?? '', 'utf8');
const entries = async (logs: SessionLogs) => await logs.library.index.all();
const read = async (logs: SessionLogs, id: string, chain = false): Promise<string> =>
  await logs.library.documents.read(logs.library.find(id), { chain }, AbortSignal.timeout(20_000));

test('the log is flushed after a second without another event, after 64 KiB and after 100 events (R-RPC-061)', async () => {
  const clock = new ManualClock(epoch);
  using root = new LogRoot(clock);
  await using logs = root.open();
  await using wire = openWire({ clock });
  const { log_path } = await logs.start(wire.terminal);
  const size = (): number => statSync(log_path ?? '').size;
  await wire.say('quiet tail');
  clock.advance(999);
  expect(size()).toBe(0);
  clock.advance(1);
  await until(() => outputOf(text(log_path)) === 'quiet tail');
  await wire.say('x'.repeat(70_000));
  await until(() => outputOf(text(log_path)).length > 70_000);
  for (let count = 0; count < 100; count++) await wire.say('y');
  await until(() => outputOf(text(log_path)).includes('y'));
});

test('a recording rotates by size, by blocks and by idle time, and loses nothing between two (R-RPC-065)', async () => {
  const clock = new ManualClock(epoch);
  using root = new LogRoot(clock);
  await using logs = root.open({ limits: { rawBytes: 4000, blocks: 20 } });
  await using wire = openWire({ clock });
  const { unterm_session_id: first } = await logs.start(wire.terminal);
  const rotated = async (count: number): Promise<void> =>
    await until(async () => (await entries(logs)).filter(({ ended_at }) => ended_at !== null).length === count);
  for (let n = 0; n < 15; n++) await wire.ran(`echo ${n}`, `${n}-${'x'.repeat(300)}\r\n`);
  await rotated(1);
  for (let n = 15; n < 40; n++) await wire.ran(`echo ${n}`, `${n}\r\n`);
  await rotated(2);
  await wire.ran('echo last', 'last\r\n');
  clock.advance(5 * 60_000);
  await rotated(3);
  // Idle time alone makes no further recordings.
  clock.advance(60 * 60_000);
  expect(await entries(logs)).toHaveLength(4);
  await wire.ran('echo again', 'again\r\n');
  const { unterm_session_id: last } = await logs.stop(wire.terminal);
  const all = await entries(logs);
  expect(all.map(({ exit_reason }) => exit_reason)).toEqual([
    'rotated_size',
    'rotated_blocks',
    'rotated_idle',
    'recording_stopped',
  ]);
  expect(all.map(({ parent_session_id }) => parent_session_id)).toEqual([
    null,
    ...all.slice(0, 3).map(({ unterm_session_id }) => unterm_session_id),
  ]);
  expect(all.reduce((sum, { block_count }) => sum + block_count, 0)).toBe(42);
  const raw = all.map(({ log_path }) => outputOf(text(log_path))).join('');
  expect(raw).toBe(Buffer.from(wire.terminal.log.read(0).bytes).toString());
  for (const id of [first, last]) {
    const joined = await read(logs, id, true);
    expect([...joined.matchAll(/^## Block \d+ — `echo (\w+)`$/gm)].map(([, word]) => word)).toEqual([
      ...Array.from({ length: 40 }, (_, n) => String(n)),
      'last',
      'again',
    ]);
    expect(joined.match(/^---$/gm)).toHaveLength(2);
  }
});

test('no recording rotates where the idle limit is 0 (R-RPC-064)', async () => {
  const clock = new ManualClock(epoch);
  using root = new LogRoot(clock);
  await using logs = root.open();
  root.configure(logs, { idle_rotate_minutes: 0 });
  await using wire = openWire({ clock });
  await logs.start(wire.terminal);
  await wire.say('once');
  clock.advance(24 * 3_600_000);
  const { exit_reason } = await logs.stop(wire.terminal);
  expect(exit_reason).toBe('recording_stopped');
  expect(await entries(logs)).toHaveLength(1);
});

test('a command that runs across a rotation goes on in the next recording, with its name', async () => {
  using root = new LogRoot();
  await using logs = root.open({ limits: { rawBytes: 1000 } });
  await using wire = openWire();
  await logs.start(wire.terminal);
  const n = ';n=1;fl=n0nc3\x07';
  await wire.say(`\x1b]133;A${n}$ \x1b]133;B${n}make\r\n\x1b]133;C${n}`);
  await wire.say('a'.repeat(1000));
  await until(async () => (await entries(logs)).length === 2);
  await wire.say(`rest\r\n\x1b]133;D;7${n}`);
  const { md_path } = await logs.stop(wire.terminal);
  expect(text(md_path)).toMatch(/## Block 1 — `make`\n\n> exit: 7 · .+\n\n```text\nrest\n```/);
});

test('marks that are missing or cut anywhere lose no output (OSC 133 of section 6)', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire({ trusted: false });
  await logs.start(wire.terminal);
  const script = [
    'banner\r\n',
    '\x1b]133;A\x07$ \x1b]133;B\x07one\r\n\x1b]133;C\x07out-1\r\n', // no D
    '\x1b]133;A;cl=m\x07$ two\r\n\x1b]633;E;two\x07\x1b]133;C\x07out-2\r\n\x1b]133;D;2;aid=1\x1b\\', // no B
    'between\r\n',
    '\x1b]133;D;9\x07', // no C
    '\x1b]133;A\x07$ \x1b]133;B\x07three\r\nno-c-here\r\n\x1b]133;A\x07$ \x1b]133;B\x07', // neither C nor D
    'typed only',
  ].join('');
  for (const char of script) await wire.say(char);
  const { md_path, log_path } = await logs.stop(wire.terminal);
  expect(outputOf(text(log_path))).toBe(script);
  const markdown = text(md_path);
  for (const word of ['banner', 'out-1', 'out-2', 'between', 'no-c-here']) expect(markdown).toContain(word);
  expect(markdown).toContain('## Block 2 — `two`\n\n> exit: 2');
  expect(markdown).toMatch(/## Block 1 — `one`\n\n> exit: \? · /);
  expect(markdown).not.toContain('typed only');
});

test('what the disk cannot take is counted, told, and does not stop the recording', async () => {
  using root = new LogRoot();
  let release = (): void => {};
  const slow = new Promise<void>((resolve) => (release = resolve));
  const open = async (path: string) => {
    const handle = await openPart(path);
    const write: typeof handle.write = async (...args) => {
      await slow;
      return await handle.write(...args);
    };
    return {
      write,
      truncate: handle.truncate.bind(handle),
      sync: handle.sync.bind(handle),
      close: handle.close.bind(handle),
    };
  };
  await using logs = root.open({ open, limits: { waitingBytes: 100_000, rawBytes: 1e9 } });
  await using wire = openWire();
  await logs.start(wire.terminal);
  await wire.say('a'.repeat(60_000));
  await wire.say('b'.repeat(60_000));
  release();
  await logs.flush(wire.terminal.id);
  await wire.say('\r\nafter');
  const entry = await logs.stop(wire.terminal);
  const gaps = logEvents(text(entry.log_path)).filter(({ name }) => name === 'gap');
  expect(gaps.map(({ data }) => data.toString())).toEqual(['60000']);
  expect(entry.to_offset).toBe(120_007);
  expect(text(entry.md_path)).toContain('[60000 bytes of output were not recorded]\n\nafter');
});

test('a full disk ends the recording, with markdown of what was written, and the status says why', async () => {
  const clock = new ManualClock(epoch);
  using root = new LogRoot(clock);
  let free = 1e12;
  await using logs = root.open({ freeBytes: async () => free });
  await using wire = openWire({ clock });
  await logs.start(wire.terminal);
  await wire.say('kept');
  free = 1e6;
  clock.advance(1000);
  await until(() => logs.problems(wire.terminal.id).length > 0);
  expect(logs.problems(wire.terminal.id)).toEqual(['The recording was ended: the disk is almost full.']);
  await until(async () => (await entries(logs))[0]?.ended_at !== null);
  await logs.settled(wire.terminal.id);
  expect(text((await entries(logs))[0]?.md_path ?? null)).toContain('kept');
  await expect(logs.start(wire.terminal)).rejects.toThrow(/too little room/);
});

test('several instances write one index at once: it is never empty, and complete in the end (R-RPC-063)', async () => {
  using root = new LogRoot();
  const instances = Array.from({ length: 4 }, () => root.open());
  const wires: Wire[] = [];
  const work = instances.map(async (logs) => {
    for (let n = 0; n < 5; n++) {
      const wire = openWire();
      wires.push(wire);
      await logs.start(wire.terminal);
      await wire.say(`${n}\r\n`);
      await logs.stop(wire.terminal);
    }
  });
  const { path } = instances[0]!.library.index;
  let isOver = false;
  let fewest = Number.POSITIVE_INFINITY;
  const watching = (async () => {
    await until(() => existsSync(path));
    while (!isOver) {
      fewest = Math.min(fewest, (JSON.parse(text(path)) as unknown[]).length);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await Promise.all(work);
  isOver = true;
  await watching;
  expect(fewest).toBeGreaterThan(0);
  const index = JSON.parse(text(path)) as { ended_at: string | null }[];
  expect(index).toHaveLength(20);
  expect(index.every(({ ended_at }) => ended_at !== null)).toBe(true);
  // A reader from elsewhere spoilt it: the next change makes it anew.
  writeFileSync(path, '');
  await instances[0]?.library.index.refresh();
  expect(JSON.parse(text(path))).toHaveLength(20);
  for (const logs of instances) await logs[Symbol.asyncDispose]();
  for (const wire of wires) await wire[Symbol.asyncDispose]();
});

test('recordings are removed after retain_days; an exported file is the caller’s own (R-RPC-064)', async () => {
  const clock = new ManualClock(epoch);
  using root = new LogRoot(clock);
  await using logs = root.open();
  await using wire = openWire({ clock });
  await logs.start(wire.terminal);
  await wire.say('old');
  const old = await logs.stop(wire.terminal);
  using elsewhere = new LogRoot();
  const path = join(elsewhere.path, 'mine.md');
  const exported = await logs.export(wire.terminal, { path }, AbortSignal.timeout(20_000));
  clock.advance(3 * 86_400_000);
  await logs.start(wire.terminal);
  const young = await logs.stop(wire.terminal);
  await logs.library.recover();
  expect(await entries(logs)).toHaveLength(3);
  root.configure(logs, { retain_days: 2 });
  clock.advance(3_600_000);
  await until(async () => (await entries(logs)).length === 1);
  expect((await entries(logs))[0]?.unterm_session_id).toBe(young.unterm_session_id);
  expect([old.log_path, old.md_path].map((file) => existsSync(file ?? ''))).toEqual([false, false]);
  expect(existsSync(exported.entry.md_path)).toBe(true);
});

test('an end of the server closes recordings as server_shutdown (R-RPC-066)', async () => {
  using root = new LogRoot();
  const logs = root.open();
  await using wire = openWire();
  const { md_path } = await logs.start(wire.terminal);
  await wire.ran('echo x', 'x\r\n');
  await logs[Symbol.asyncDispose]();
  expect(text(md_path)).toContain('exit_reason: "server_shutdown"');
  expect(logs.continues(wire.terminal.id)).toBeDefined();
  await expect(logs.start(wire.terminal)).rejects.toThrow('The server is shutting down.');
});

test('a shorter limit of idle time counts for recordings that run (R-RPC-064)', async () => {
  const clock = new ManualClock(epoch);
  using root = new LogRoot(clock);
  await using logs = root.open();
  root.configure(logs, { idle_rotate_minutes: 600 });
  await using wire = openWire({ clock });
  await logs.start(wire.terminal);
  await wire.say('output');
  root.configure(logs, { idle_rotate_minutes: 2 });
  clock.advance(60_000);
  clock.advance(60_000);
  await until(async () => (await entries(logs)).some(({ exit_reason }) => exit_reason === 'rotated_idle'));
});

test('a chain that is too long for one document is refused, with what to do instead', async () => {
  using root = new LogRoot();
  await using logs = root.open({ limits: { blocks: 2 } });
  await using wire = openWire();
  const { unterm_session_id: id } = await logs.start(wire.terminal);
  for (let n = 0; n < 4; n++) await wire.ran(`echo ${n}`, `${n}\r\n`);
  await until(async () => (await entries(logs)).length > 1);
  await logs.stop(wire.terminal);
  const whole = await read(logs, id, true);
  const limited = (mostChars: number): Promise<string> =>
    logs.library.documents.read(logs.library.find(id), { chain: true, mostChars }, AbortSignal.timeout(20_000));
  await expect(limited(whole.length - 10)).rejects.toMatchObject({
    code: 'too_large',
    hint: expect.stringContaining('one by one') as string,
  });
  expect(await limited(whole.length)).toBe(whole);
});
