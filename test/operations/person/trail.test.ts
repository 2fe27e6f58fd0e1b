import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { personBook } from '../../../src/operations/person/index.ts';
import { export as exportDay, list, verify, watch } from '../../../src/operations/person/trail.ts';
import { limit } from '../../support/engine.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

// An operation has its name from its book.
expect(personBook.nouns['trail']).toMatchObject({ list, verify, export: exportDay });

const context = (place: RpcPlace) => ({ engine: place.engine, caller: localPerson, signal: limit() });

test('trail.list names who did what where with which outcome, and filters; render says the same (R-RPC-036)', async () => {
  await using place = await RpcPlace.open();
  const { id } = (await place.client.call('session.create', {})) as { id: number };
  await place.client.call('exec.run_wait', { id, command: 'echo hello' });
  await place.client.call('policy.set', { enabled: true, blocked_patterns: ['forbidden'] });
  await place.client.ask('exec.run', { id, command: 'forbidden' });
  await place.client.ask('session.destroy', { id: 99 });
  const all = await call(list, {}, context(place));
  expect(all.records.map(({ what, outcome, code }) => [what, outcome, code])).toEqual([
    ['session.destroy', 'failed', 'terminal_not_found'],
    ['exec.run', 'refused', 'not_permitted'],
    ['policy.set', 'done', undefined],
    ['exec.run_wait', 'done', undefined],
    ['session.create', 'done', undefined],
  ]);
  const [newest, refused] = all.records;
  expect(newest?.prev).toBe(refused?.hash);
  expect(all.kept_since).toBe(newest?.at.slice(0, 10));
  const text = list.render(all) as string;
  expect(text).toMatch(/#5 .* session\.destroy {2}99 {2}failed \(terminal_not_found\)/);
  expect(text).toContain(`Kept since ${all.kept_since}.`);
  const some = async (input: object) => (await call(list, input, context(place))).records.map(({ number }) => number);
  expect(await some({ what: 'EXEC.' })).toEqual([4, 2]);
  expect(await some({ target: String(id) })).toEqual([4, 2, 1]);
  expect(await some({ who: 'stranger' })).toEqual([]);
  expect(await some({ day: all.kept_since, limit: 2 })).toEqual([5, 4]);
  expect(await some({ day: '2020-01-01' })).toEqual([]);
  const { next } = await call(list, { limit: 2 }, context(place));
  expect(await some({ before: next })).toEqual([3, 2, 1]);
});

test.each([
  [{ limit: 0 }, /limit/],
  [{ before: 'x' }, /before/],
  [{ day: '18 Nov' }, /day/],
  [{ whom: 'x' }, /whom/],
])('trail.list refuses %j in words', async (input, why) => {
  await using place = await RpcPlace.open();
  await expect(call(list, input, context(place))).rejects.toThrow(why);
});

test('trail.verify says how far it is whole, and names a record that was changed with the one before it', async () => {
  await using place = await RpcPlace.open();
  for (let at = 0; at < 4; at++) await place.client.call('policy.set', { enabled: at % 2 === 0 });
  const whole = await call(verify, {}, context(place));
  expect(whole).toMatchObject({ whole: true, to: 4, records: 4, runs: 1, faults: [], faults_total: 0, gaps: [] });
  expect(verify.render(whole)).toMatch(/^Whole to #4, checked .*: 4 records of 1 runs\.$/);
  expect(verify.exitCode?.(whole)).toBe(0);
  const folder = join(place.home, '.fairlead', 'audit');
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/("n":3,.*?"hash":")./s, '$1x'));
  expect((await call(verify, { max_age_s: 60 }, context(place))).whole).toBe(true);
  const broken = await call(verify, {}, context(place));
  expect(broken).toMatchObject({
    whole: false,
    faults: [{ file, line: 3, record: { number: 3 }, before: { number: 2 } }, {}],
  });
  expect(verify.render(broken)).toContain(`${file}:3: it was changed after it was written`);
  expect(verify.exitCode?.(broken)).toBe(1);
  await expect(call(verify, { max_age_s: -1 }, context(place))).rejects.toThrow(/max_age_s/);
});

test('trail.export gives the bytes of a day, and is in the trail itself', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('policy.set', { enabled: true });
  const day = new Date().toISOString().slice(0, 10);
  const file = join(place.home, '.fairlead', 'audit', `${day}.jsonl`);
  const before = readFileSync(file, 'utf8');
  expect(await call(exportDay, { day }, context(place))).toEqual({
    name: `fairlead-audit-${day}.jsonl`,
    records: 1,
    text: before,
  });
  const { records } = await call(list, {}, context(place));
  expect(records[0]).toMatchObject({ what: 'trail.export', detail: day });
  await expect(call(exportDay, { day: '2020-01-01' }, context(place))).rejects.toThrow(/Nothing of 2020-01-01/);
  await expect(call(exportDay, { day: 'today' }, context(place))).rejects.toThrow(/day/);
});

test('trail.watch tells of records as they are written, and a reader that falls behind to list again', async () => {
  await using place = await RpcPlace.open();
  const stop = new AbortController();
  const items = callStream(watch, { what: 'policy.' }, { ...context(place), signal: stop.signal })[
    Symbol.asyncIterator
  ]();
  const first = items.next();
  await place.client.call('session.create', {});
  await place.client.call('policy.set', { enabled: true });
  const { value } = (await first) as { value: { kind: 'record'; record: { what: string; number: number } } };
  expect(value).toMatchObject({ kind: 'record', record: { what: 'policy.set', number: 2 } });
  expect(watch.render(value as never)).toMatch(/^#2 .*policy\.set.*\n$/);
  for (let at = 0; at < 300; at++) await place.client.call('policy.set', { enabled: at % 2 === 0 });
  expect((await items.next()).value).toEqual({ kind: 'behind' });
  stop.abort();
  expect((await items.next()).done).toBe(true);
});
