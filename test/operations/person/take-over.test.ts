import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { call, type Caller } from '../../../src/engine/call/call.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { statusOf } from '../../../src/engine/events/status.ts';
import { coreBook } from '../../../src/operations/core/index.ts';
import {
  answer,
  blocks,
  give,
  rename,
  resize,
  take,
  text,
  type,
  waiting,
} from '../../../src/operations/person/index.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { engineWith, limit } from '../../support/engine.ts';

const { run, open } = coreBook.nouns['terminal'] as Record<string, AnyOperation>;
const home = mkdtempSync(join(tmpdir(), 'fairlead-take-'));
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

const agent: Caller = { name: 'claude', principal: 'owner', origin: 'mcp', may: () => true, tell: () => {} };

function engineHere(): Engine {
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', SHELL: '/bin/bash', PS1: '$ ' };
  const options = { root: join(home, 'state'), shell: undefined, cwd: home, env, extraEnv: {}, integration: true };
  return engineWith(home, { local: localTransport(options) });
}
const asks =
  (engine: Engine) =>
  (op: AnyOperation | undefined, input: object, caller: Caller = localPerson): Promise<Record<string, unknown>> =>
    call(op as AnyOperation, input, { engine, caller, signal: limit() });

test('taking over when the command ends happens before the agent can type the next (R-HUB-087)', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, {}, agent);
  const running = ask(run, { terminal: id, command: 'read x', timeoutMs: 15_000 }, agent);
  await expect.poll(() => statusOf(engine.terminals[0]!, engine).block?.command, { timeout: 10_000 }).toBe('read x');
  const { lease } = engine.terminals[0]!.input;
  const taken = ask(take, { session: id, when: 'command_ends' });
  expect(lease.holder?.isTaken).toBe(false);
  await ask(type, { session: id, text: '\r' });
  const { epoch } = await taken;
  expect(lease.holds(Number(epoch))).toBe(true);
  // The call of the agent whose command has ended is settled; its next is refused.
  expect(await running).toMatchObject({ exitCode: 0 });
  await expect(ask(run, { terminal: id, command: 'echo next' }, agent)).rejects.toMatchObject({ code: 'conflict' });
  // With nothing running it is taken at once.
  await ask(give, { session: id, epoch });
  expect(await ask(take, { session: id, when: 'command_ends' })).toMatchObject({ epoch: Number(epoch) + 1 });
});

test('a wait for the end of a command can be given up, and takes nothing then', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, {}, agent);
  await ask(run, { terminal: id, command: 'sleep 30', timeoutMs: 300 }, agent);
  const stop = new AbortController();
  const waiting = call(
    take,
    { session: id as string, when: 'command_ends' },
    { engine, caller: localPerson, signal: stop.signal },
  );
  stop.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow(/given up|cancelled|interrupted|stopped/i);
  await ask(type, { session: id, text: '\x03' });
  await expect.poll(() => engine.terminals[0]?.state.current, { timeout: 10_000 }).toBe('idle');
  expect(engine.terminals[0]?.input.lease.holder?.isTaken).not.toBe(true);
});

test('the preview is what the agent is told; an epoch that is over renews nothing', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, {}, agent);
  const { epoch } = await ask(take, { session: id });
  const before = await ask(give, { session: id, epoch, note: 'mended', preview: true });
  expect(before).toMatchObject({ given: false, told: expect.stringContaining('They say: "mended"') });
  expect(engine.terminals[0]?.input.lease.holds(Number(epoch))).toBe(true);
  const notices: string[] = [];
  const { told } = await ask(give, { session: id, epoch, note: 'mended' });
  await ask(run, { terminal: id, command: 'true' }, { ...agent, tell: (notice) => notices.push(notice) });
  expect(notices).toContain(told);
  await expect(ask(take, { session: id, epoch })).rejects.toMatchObject({ code: 'conflict' });
  await expect(ask(give, { session: id, epoch, preview: true })).rejects.toMatchObject({ code: 'conflict' });
  expect(engine.terminals[0]?.input.lease.holder?.isTaken).not.toBe(true);
});

test('the size of a person who took over goes with the keyboard (R-HUB-087)', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, { cols: 90, rows: 30 }, agent);
  const status = () => statusOf(engine.terminals[0]!, engine);
  const { epoch } = await ask(take, { session: id });
  await ask(resize, { session: id, cols: 100, rows: 40, epoch });
  await ask(resize, { session: id, cols: 101, rows: 41, epoch });
  expect(status()).toMatchObject({ cols: 101, rows: 41, sizedBy: 'person' });
  await ask(give, { session: id, epoch });
  await expect.poll(status, { timeout: 5000 }).toMatchObject({ cols: 90, rows: 30 });
  expect(status()).not.toHaveProperty('sizedBy');
  await expect(ask(resize, { session: id, cols: 50, rows: 20, epoch })).rejects.toMatchObject({ code: 'conflict' });
  await ask(resize, { session: id, cols: 70, rows: 20 });
  expect(status()).toMatchObject({ cols: 70, rows: 20, sizedBy: 'person' });
});

test('a terminal can be renamed, but not to a number', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, { name: 'old' }, agent);
  const news: string[] = [];
  using _news = engine.events.on(({ kind }) => news.push(kind));
  expect(await ask(rename, { session: id, name: '  db-1 maintenance ' })).toMatchObject({ name: 'db-1 maintenance' });
  expect(news).toContain('title');
  expect(await ask(text, { session: 'db-1 maintenance' })).toMatchObject({ session: expect.any(Number) });
  await expect(ask(rename, { session: id, name: '7' })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(ask(rename, { session: id, name: ' ' })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('as text: the commands with their output, one of them, and how long an ended one is kept', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, {}, agent);
  await ask(run, { terminal: id, command: "printf 'one\\u202e\\n'" }, agent);
  await ask(run, { terminal: id, command: 'echo two; false' }, agent);
  const all = (await ask(text, { session: id })) as { parts: { block: number; text: string }[] };
  expect(all).toMatchObject({
    marked: true,
    earlier: false,
    parts: [{ running: false }, { exitCode: 1, text: 'two' }],
  });
  expect(all.parts[0]?.text).not.toContain('\u202e');
  const second = all.parts[1]?.block;
  expect(await ask(text, { session: id, block: second })).toMatchObject({ parts: [{ block: second, text: 'two' }] });
  expect(await ask(text, { session: id, last: 1 })).toMatchObject({ earlier: true, parts: [{ block: second }] });
  await expect(ask(text, { session: id, block: 99 })).rejects.toMatchObject({ code: 'not_found' });
  await ask(type, { session: id, text: 'exit 3\r' });
  await engine.terminals[0]!.whenEnded;
  const { endedAt = 0, keptUntil = 0 } = statusOf(engine.terminals[0]!, engine);
  expect(keptUntil - endedAt).toBe(600_000);
});

test('commands tell who typed them and who gave the secret; without marks it is told who typed when (R-HUB-083)', async () => {
  await using engine = engineHere();
  const ask = asks(engine);
  const { terminal: id } = await ask(open, {}, agent);
  await ask(run, { terminal: id, command: 'read -rsp "[sudo] password for deploy: " x; echo', timeoutMs: 1500 }, agent);
  const prompt = (await ask(waiting, {})) as { waiting: { terminal: string; prompt: string }[] };
  await ask(answer, { item: id, prompt: prompt.waiting[0]?.prompt, text: 'hunter22hunter', secret: true });
  await expect.poll(() => engine.terminals[0]?.state.current).toBe('idle');
  await ask(type, { session: id, text: 'true\r' });
  await expect
    .poll(async () => (await ask(blocks, { session: id }))['blocks'])
    .toMatchObject([
      { id: 1, typed: { by: 'claude', kind: 'agent' }, secret: { kind: 'person' } },
      { id: 2, typed: { by: 'person', kind: 'person' }, isOver: true },
    ]);
  expect((await ask(blocks, { session: id, from: 2 }))['blocks']).toHaveLength(1);
  // Who ends a command has not typed it.
  await ask(run, { terminal: id, command: 'sleep 60', timeoutMs: 1000 }, agent);
  await ask(type, { session: id, text: '\x03' });
  await expect.poll(() => engine.terminals[0]?.state.current).toBe('idle');
  expect((await ask(blocks, { session: id, from: 3 }))['blocks']).toMatchObject([{ typed: { by: 'claude' } }]);
  const { terminal: plain } = await ask(open, { argv: ['/bin/cat'] }, agent);
  await ask(type, { session: plain, text: 'abc\r' });
  expect(await ask(blocks, { session: plain })).toMatchObject({
    marked: false,
    blocks: [],
    typed: [{ by: 'person', kind: 'person', bytes: 4, secret: false }],
  });
});
