import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../../../src/engine/recording/log/entry.ts';
import { readLog } from '../../../../src/engine/recording/log/log-reader.ts';
import { openWire, type Wire } from '../../../support/reading.ts';
import { logEvents, LogRoot, outputOf } from '../../../support/session-logs.ts';

const text = (path: string | null): string => readFileSync(path ?? '', 'utf8');
const whole = ({ terminal }: Wire): string => Buffer.from(terminal.log.read(0).bytes).toString();

/** The state root as a process left it that died right now. */
function crashed(root: LogRoot): LogRoot {
  const copy = new LogRoot();
  cpSync(root.path, copy.path, { recursive: true });
  const folder = join(copy.path, 'sessions', '.entries');
  const { pid } = spawnSync('true');
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const entry = JSON.parse(text(path).replaceAll(root.path, copy.path)) as LogEntry;
    const { host: _host, ...machine } = entry.writer;
    writeFileSync(path, JSON.stringify({ ...entry, writer: { ...machine, pid, host: hostname() } }));
  }
  return copy;
}

test('what a dead process left open is closed as recovered, cut behind its last whole line (R-RPC-066)', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire();
  const { unterm_session_id: id } = await logs.start(wire.terminal);
  await wire.ran('echo one', 'one\r\n');
  await logs.flush(wire.terminal.id);
  using after = crashed(root);
  await using next = after.open();
  const { log_path } = next.library.find(id);
  const size = statSync(log_path ?? '').size;
  appendFileSync(log_path ?? '', '1700000000000000\tout\taGVsb');
  expect(await next.library.recover()).toBe(1);
  expect(statSync(log_path ?? '').size).toBe(size);
  const entry = next.library.find(id);
  const last = logEvents(text(log_path)).at(-1);
  expect(entry).toMatchObject({ exit_reason: 'recovered', block_count: 1, to_offset: wire.terminal.log.end });
  expect(Date.parse(entry.ended_at ?? '')).toBe(Math.floor((last?.micros ?? 0) / 1000));
  expect(text(entry.md_path)).toMatch(/exit_reason: "recovered"[\s\S]*## Block 1 — `echo one`[\s\S]*\none\n/);
  expect(JSON.parse(text(next.library.index.path))).toMatchObject([{ exit_reason: 'recovered' }]);
  // Once is enough, and what lives is left alone.
  expect(await next.library.recover()).toBe(0);
  expect(await logs.library.recover()).toBe(0);
});

test.each(['before', 'after'] as const)(
  'a resumed terminal continues its recording where the log ends, %s another instance closed it',
  async (when) => {
    using root = new LogRoot();
    await using logs = root.open();
    await using wire = openWire();
    const { unterm_session_id: id } = await logs.start(wire.terminal, { input: true });
    await logs.attachTrace(wire.terminal, 'trace');
    await wire.ran('echo one', 'one\r\n');
    await logs.flush(wire.terminal.id);
    using after = crashed(root);
    await wire.ran('echo two', 'two\r\n');
    await using next = after.open();
    if (when === 'after') await next.library.recover();
    // The keeper may not have heard of the recording; then the entry itself tells.
    await next.resumed(wire.terminal, when === 'after' ? id : undefined);
    await next.library.recover();
    await wire.ran('echo three', 'three\r\n');
    const last = await next.stop(wire.terminal);
    expect(last).toMatchObject({ parent_session_id: id, input: true, trace_ids: ['trace'], block_count: 2 });
    const raw = [next.library.find(id).log_path, last.log_path].map((path) => outputOf(text(path))).join('');
    expect(raw).toBe(whole(wire));
    expect([...text(last.md_path).matchAll(/## Block \d — `echo (\w+)`/g)].map(([, word]) => word)).toEqual([
      'two',
      'three',
    ]);
  },
);

test('a recording that was stopped, and a terminal that never had one, are not continued', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire();
  const { unterm_session_id: id } = await logs.start(wire.terminal);
  await logs.stop(wire.terminal);
  using after = crashed(root);
  await using next = after.open();
  for (const known of [id, undefined, 'nonsense']) await next.resumed(wire.terminal, known);
  expect(next.activeOf(wire.terminal.id)).toBeUndefined();
});

test('a log that is gone leaves an entry without one, and is no failure', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire();
  const { unterm_session_id: id } = await logs.start(wire.terminal);
  using after = crashed(root);
  await using next = after.open();
  rmSync(next.library.find(id).log_path ?? '');
  expect(await next.library.recover()).toBe(1);
  const entry = next.library.find(id);
  expect(entry).toMatchObject({ exit_reason: 'recovered', log_path: null });
  expect(existsSync(entry.md_path)).toBe(false);
  expect(after.said).toEqual([]);
});

test('a process that died after it removed the raw log, before it closed the entry: the markdown stays, and is found', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire();
  const { unterm_session_id: id } = await logs.start(wire.terminal);
  await wire.ran('echo one', 'one\r\n');
  const { md_path } = await logs.stop(wire.terminal);
  const markdown = text(md_path);
  using after = crashed(root);
  const closed = join(after.path, 'sessions', '.entries', `${id}.json`);
  renameSync(closed, closed.replace('.json', '.open.json'));
  await using next = after.open();
  rmSync(next.library.find(id).log_path ?? '');
  expect(await next.library.recover()).toBe(1);
  expect(await next.library.recover()).toBe(0);
  expect(next.library.find(id)).toMatchObject({ exit_reason: 'recording_stopped', log_path: null });
  expect(await next.library.documents.read(next.library.find(id), {}, AbortSignal.timeout(20_000))).toBe(markdown);
  expect(after.said).toEqual([]);
});

test('a recording whose folder was removed can be stopped', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire();
  const { log_path } = await logs.start(wire.terminal);
  await wire.ran('echo one', 'one\r\n');
  rmSync(dirname(log_path ?? ''), { recursive: true });
  expect(await logs.stop(wire.terminal)).toMatchObject({ exit_reason: 'recording_stopped', log_path: null });
  expect(await logs.library.index.open()).toEqual([]);
});

test('more output between two servers than a line of a log may have is in the log', async () => {
  using root = new LogRoot();
  await using logs = root.open();
  await using wire = openWire({ capacity: 16 << 20 });
  await logs.start(wire.terminal);
  await logs.flush(wire.terminal.id);
  using after = crashed(root);
  await wire.say(`${'x'.repeat(78)}\r\n`.repeat(100_000));
  await wire.say('the end\r\n');
  await using next = after.open({ limits: { rawBytes: 1 << 30 } });
  await next.resumed(wire.terminal, undefined);
  const { log_path } = await next.stop(wire.terminal);
  let bytes = 0;
  for await (const { name, data } of readLog(log_path ?? '')) bytes += name === 'out' ? data.length : 0;
  expect(bytes).toBe(wire.terminal.log.end);
});
