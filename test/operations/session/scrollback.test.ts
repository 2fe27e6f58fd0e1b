import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RpcPlace } from '../../support/rpc-place.ts';
import { find } from '../../../src/operations/core/read.ts';
import { call } from '../../../src/engine/call/call.ts';
import { personSettings } from '../../../src/engine/settings/settings.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';

const asked = async <T>(place: RpcPlace, method: string, params: object): Promise<T> =>
  (await place.client.call(method, params)) as T;

/** A session that printed 9,000 numbered lines, far more than its emulator keeps. */
async function long(place: RpcPlace): Promise<number> {
  const id = await place.create();
  const answer = await asked<{ exit_code: number }>(place, 'exec.run_wait', {
    id,
    command: 'for i in $(seq 9000); do echo "entry $i"; done',
    timeout_ms: 60_000,
  });
  expect(answer.exit_code).toBe(0);
  return id;
}

interface Scrolled {
  readonly lines: readonly string[];
  readonly offset: number;
  readonly first_available: number;
  readonly viewport_top: number;
  readonly epoch: number;
}

interface Searched {
  readonly matches: readonly { readonly row: number; readonly text: string }[];
  readonly total: number;
}

test('R-RPC-143: line 1 of 9,000 can be read, scrolled to and found, under one row number everywhere', async () => {
  await using place = await RpcPlace.open();
  const id = await long(place);
  const terminal = place.engine.terminals.find(({ identity }) => identity.number === id);
  await terminal?.sync(AbortSignal.timeout(20_000));
  expect(terminal?.screen.baseRow).toBeGreaterThan(7000);
  const { matches, total } = await asked<Searched>(place, 'screen.search', { id, pattern: 'entry 1', max_results: 1 });
  const [first] = matches;
  expect(first?.text).toBe('entry 1');
  // 1, 10–19, 100–199, 1000–1999.
  expect(total).toBe(1111);
  const row = first?.row ?? -1;
  const top = await asked<Scrolled>(place, 'screen.scroll', { id, offset: row, count: 9000 });
  expect(top).toMatchObject({ offset: row, first_available: 0 });
  expect(top.lines).toEqual(Array.from({ length: 9000 }, (_, at) => `entry ${at + 1}`));
  const { entries } = await asked<{ entries: { text: string }[] }>(place, 'session.history', { id, limit: 20_000 });
  expect(entries.filter(({ text }) => text.startsWith('entry')).map(({ text }) => text)).toEqual(top.lines);
  // A row that is old by now had the same number while it was on the screen.
  const now = await asked<{ cells: { row: number; text: string }[] }>(place, 'screen.read', { id });
  const seen = now.cells.find(({ text }) => text === 'entry 9000');
  await place.client.call('exec.run_wait', { id, command: 'seq 3000', timeout_ms: 60_000 });
  const old = await asked<Scrolled>(place, 'screen.scroll', { id, offset: seen?.row ?? -1, count: 1 });
  expect(old.lines).toEqual(['entry 9000']);
  const agent = { engine: place.engine, caller: localPerson, signal: new AbortController().signal };
  const found = await call(find, { terminal: terminal?.id, pattern: 'entry 4242\\b', regex: true }, agent);
  expect(found.matches[0]).toMatchObject({ row: row + 4241, line: 'entry 4242' });
});

test('R-RPC-143: scrollback.json says how many rows, a larger number for open sessions too', async () => {
  await using place = await RpcPlace.open();
  const file = join(place.home, '.fairlead', 'scrollback.json');
  writeFileSync(file, '{"lines": 2000}');
  const id = await long(place);
  const few = await asked<Scrolled>(place, 'screen.scroll', { id, offset: 0, count: 1 });
  expect(few.viewport_top - few.first_available).toBe(2000);
  writeFileSync(file, '{"lines": 5000}');
  await expect
    .poll(async () => {
      const more = await asked<Scrolled>(place, 'screen.scroll', { id, offset: 0, count: 1 });
      return more.viewport_top - more.first_available;
    })
    .toBe(5000);
  // A smaller one is for sessions that open after it.
  writeFileSync(file, '{"lines": 1500}');
  const limit = () => place.engine.service(personSettings).scrollback;
  await expect.poll(limit, { timeout: 2000 }).toBe(1500);
  const kept = await asked<Scrolled>(place, 'screen.scroll', { id, offset: 0, count: 1 });
  expect(kept.viewport_top - kept.first_available).toBe(2000);
});

test('R-RPC-053: errors that scrolled out of the emulator are found in the scrollback', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  const command = 'echo "fatal: first of all"; seq 3000';
  await place.client.call('exec.run_wait', { id, command, timeout_ms: 60_000 });
  const { errors } = await asked<{ errors: { row: number; text: string }[] }>(place, 'screen.detect_errors', {
    id,
    scope: 'scrollback',
  });
  expect(errors.filter(({ text }) => text === 'fatal: first of all')).toHaveLength(1);
});
