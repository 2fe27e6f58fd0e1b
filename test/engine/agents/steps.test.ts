import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { sessionBook } from '../../../src/operations/session/index.ts';
import { limit } from '../../support/engine.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

test('a queued command is not typed while its agent is paused; what runs goes on, and a person types (R-HUB-078)', async () => {
  await using place = await RpcPlace.open();
  const { engine, home, client } = place;
  const id = await place.create();
  using other = await place.another();
  const first = client.call('exec.run_wait', { id, command: 'until [ -e go ]; do sleep 0.05; done; echo first' });
  const rows = (phase: string): number => engine.agents.calls.rows().filter((row) => row.phase === phase).length;
  await expect.poll(() => place.terminal(id).state.current, { timeout: 20_000 }).toBe('running');
  const second = other.call('exec.run_wait', { id, command: 'echo second >> out', queue: true });
  await expect.poll(() => rows('received'), { timeout: 20_000 }).toBe(2);

  engine.agents.pauses.pauseAll({ by: 'person', at: 0 }, []);
  writeFileSync(join(home, 'go'), '');
  expect(await first).toMatchObject({ output: 'first', exit_code: 0 });
  const run = sessionBook.nouns['exec']?.['run_wait'] as AnyOperation;
  await call(run, { id, command: 'echo person >> out' }, { engine, caller: localPerson, signal: limit() });
  expect(readFileSync(join(home, 'out'), 'utf8')).toBe('person\n');
  expect(rows('received')).toBe(1);

  engine.agents.pauses.resumeAll();
  expect(await second).toMatchObject({ exit_code: 0 });
  expect(readFileSync(join(home, 'out'), 'utf8')).toBe('person\nsecond\n');
});

test('a workspace is restored up to the step that runs, and no further (R-HUB-078)', async () => {
  await using place = await RpcPlace.open();
  const { engine, client } = place;
  await place.create({ name: 'one' });
  await place.create({ name: 'two' });
  await client.call('workspace.save', { name: 'desk' });
  using other = await place.another();
  const before = engine.terminals.length;
  using _opened = engine.events.on((event) => {
    if (event.kind === 'opened') engine.agents.pauses.pauseAll({ by: 'person', at: 0 }, []);
  });
  const restoring = other.call('workspace.restore', { name: 'desk' });
  await expect.poll(() => engine.agents.pauses.all, { timeout: 20_000 }).toBeDefined();
  // The first one is there whole, and the second waits.
  await expect.poll(() => engine.audit.entries().some(isStep), { timeout: 20_000 }).toBe(true);
  expect(engine.terminals.length).toBe(before + 1);
  _opened[Symbol.dispose]();
  const [conversation] = engine.agents.list({ principal: 'owner' });
  engine.agents.revoke(engine.agents.withId(conversation?.id ?? '', { principal: 'owner' }), 'person');
  await expect(restoring).rejects.toThrow('[error: conversation revoked]');
  expect(engine.terminals.length).toBe(before + 1);
});

const isStep = ({ operation }: { readonly operation: string }): boolean => operation === 'workspace.restore';
