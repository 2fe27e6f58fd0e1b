import { copyFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/engine/call/audit/audit.ts';
import type { Caller } from '../../../src/engine/call/call.ts';
import { FairleadError } from '../../../src/contract/errors.ts';
import { openGate } from '../../../src/engine/call/gate.ts';
import { statusOf } from '../../../src/engine/events/status.ts';
import { Office } from '../../support/agents/office.ts';

const minute = 60_000;

interface HeldData {
  readonly status: string;
  readonly conversation_id: string;
  readonly hold_id: string;
  readonly retry_after_s: number;
}
const dataOf = (error: FairleadError): HeldData => error.data as unknown as HeldData;

test('pausing everything holds changing calls in order and refuses reads; resuming runs each once (R-HUB-072, R-HUB-074)', async () => {
  await using office = new Office();
  const claude = office.agent('claude');
  await office.ask('desk.write', { text: 'before' }, claude);
  expect(await office.ask('agents.pause')).toMatchObject({ pause: { by: 'person', held: 0, running: 0 } });

  const first = await office.refused('desk.write', { text: 'one' }, claude);
  expect(first.code).toBe('held');
  expect(first.message).toMatch(/^\[held: conversation is paused\. .*\]$/);
  expect(dataOf(first)).toMatchObject({ status: 'held', code: 'held', retry_after_s: 30 });
  await office.refused('desk.write', { text: 'two' }, claude);
  const read = await office.refused('desk.read', {}, claude);
  expect(read).toMatchObject({
    code: 'held',
    message: expect.stringMatching(/^\[held: conversation is paused\. Reads/),
  });
  expect(dataOf(read)).not.toHaveProperty('hold_id');
  // New clients are paused, too; a person never is.
  await office.refused('desk.write', { text: 'late' }, office.agent('codex'));
  await office.ask('desk.write', { text: 'mine' });
  expect(office.written).toEqual(['claude: before', 'person: mine']);

  const { conversations, pause } = await office.ask('agents.list');
  expect(pause).toMatchObject({ held: 3 });
  expect(conversations[1]).toMatchObject({ state: 'paused', pause: { by: 'person', all: true }, counts: { held: 2 } });
  expect(
    conversations[1].held.map(({ preview, would }: { preview: string; would: object }) => [preview, would]),
  ).toEqual([
    ['one', { kind: 'runs', words: 'Runs.' }],
    ['two', { kind: 'runs', words: 'Runs.' }],
  ]);
  const resumed = await office.ask('agents.resume');
  expect(resumed).toMatchObject({ dropped: [], paused: [] });
  expect(resumed.running).toHaveLength(3);
  await office.settle();
  expect(office.written.filter((line) => line.startsWith('claude'))).toEqual([
    'claude: before',
    'claude: one',
    'claude: two',
  ]);
  expect(office.written).toHaveLength(5);
  expect((await office.ask('agents.list')).pause).toBeNull();
  const { calls } = await office.ask('calls.list', { conversation: conversations[1].id, kind: 'decisions' });
  expect(calls.map(({ phase, preview }: { phase: string; preview: string }) => `${phase} ${preview}`)).toEqual([
    'denied ',
    'replayed two',
    'replayed one',
  ]);
});

test('the same call again keeps its hold and is queued once; afterwards it gets the answer for ten minutes (R-HUB-076)', async () => {
  await using office = new Office();
  const told: string[] = [];
  const claude = office.agent('claude', { tell: (notice) => told.push(notice) });
  await office.ask('agents.pause');
  const first = await office.refused('desk.write', { text: 'one' }, claude, { value: 'tool-use-1', implied: true });
  const again = await office.refused('desk.write', { text: 'one' }, claude, { value: 'tool-use-2', implied: true });
  expect(dataOf(again).hold_id).toBe(dataOf(first).hold_id);
  const keyed = await office.refused('desk.write', { text: 'one' }, claude, { value: 'chosen' });
  expect(dataOf(keyed).hold_id).not.toBe(dataOf(first).hold_id);
  await office.ask('agents.resume');
  await office.settle();
  expect(office.written).toEqual(['claude: one', 'claude: one']);
  expect(await office.ask('desk.write', { text: 'one' }, claude)).toEqual({ run: 1 });
  expect(await office.ask('desk.write', { text: 'one' }, claude)).toEqual({ run: 1 });
  expect(await office.ask('desk.write', { text: 'one' }, claude, { value: 'chosen' })).toEqual({ run: 2 });
  expect(told[0]).toContain('It was not run again');
  office.clock.advance(10 * minute);
  expect(await office.ask('desk.write', { text: 'one' }, claude)).toEqual({ run: 3 });
  // Repetitions are no calls of their own.
  const { conversations } = await office.ask('agents.list');
  expect(conversations[0].counts).toMatchObject({ calls: 3, held: 2 });
});

test('an agent that goes on to something else may make the same call anew', async () => {
  await using office = new Office();
  const claude = office.agent('claude');
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: 'make test' }, claude);
  await office.refused('desk.write', { text: 'ls' }, claude);
  await office.ask('agents.resume');
  await office.settle();
  expect(await office.ask('desk.write', { text: 'make test' }, claude)).toEqual({ run: 1 });
  expect(await office.ask('desk.write', { text: 'edit' }, claude)).toEqual({ run: 3 });
  expect(await office.ask('desk.write', { text: 'make test' }, claude)).toEqual({ run: 4 });
  // An answer that was never fetched still waits.
  expect(await office.ask('desk.write', { text: 'ls' }, claude)).toEqual({ run: 2 });
});

test('fifty calls or 1 MiB wait for an agent, more are refused; after 30 minutes each is dropped (R-HUB-077)', async () => {
  await using office = new Office();
  const [claude, codex] = [office.agent('claude'), office.agent('codex')];
  await office.ask('agents.pause');
  for (let n = 0; n < 50; n++) await office.refused('desk.write', { text: `step ${n}` }, claude);
  const full = await office.refused('desk.write', { text: 'too much' }, claude);
  expect(full).toMatchObject({
    code: 'hold_queue_full',
    message: expect.stringMatching(/^\[error: hold_queue_full\]/),
  });
  // A repetition needs no room.
  expect((await office.refused('desk.write', { text: 'step 7' }, claude)).code).toBe('held');
  await office.refused('desk.write', { text: 'x'.repeat(600_000) }, codex);
  expect((await office.refused('desk.write', { text: 'y'.repeat(600_000) }, codex)).code).toBe('hold_queue_full');
  office.clock.advance(30 * minute - 1);
  expect((await office.ask('agents.list')).pause.held).toBe(51);
  office.clock.advance(1);
  expect((await office.ask('agents.list')).pause.held).toBe(0);
  const late = await office.refused('desk.write', { text: 'step 7' }, claude);
  expect(late).toMatchObject({ code: 'hold_dropped', message: expect.stringMatching(/^\[error: hold_expired\]/) });
  // Once it is told, the same call is a new one.
  expect((await office.refused('desk.write', { text: 'step 7' }, claude)).code).toBe('held');
  const { calls } = await office.ask('calls.list', { text: 'step 7', limit: 10 });
  expect(calls.map(({ phase, ended }: { phase: string; ended?: string }) => [phase, ended])).toEqual([
    ['held', undefined],
    ['dropped', 'after 30 min'],
  ]);
  expect(office.written).toEqual([]);
});

test('own pauses outlast the pause of everything; an agent resumed before runs until the next one (R-HUB-078)', async () => {
  await using office = new Office();
  const [claude, codex] = [office.agent('claude'), office.agent('codex')];
  await office.ask('desk.write', { text: '1' }, claude);
  await office.ask('desk.write', { text: '1' }, codex);
  const { conversations } = await office.ask('agents.list');
  const idOf = (name: string): string => conversations.find(({ agent }: { agent: string }) => agent === name).id;
  await office.ask('agents.pause', { conversations: [idOf('codex')] });
  await office.ask('desk.write', { text: '2' }, claude);
  await office.refused('desk.write', { text: '2' }, codex);
  expect((await office.ask('agents.list')).pause).toBeNull();
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: '3' }, claude);
  await office.ask('agents.resume', { conversations: [idOf('claude')], held: 'drop' });
  await office.ask('desk.write', { text: '4' }, claude);
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: '5' }, claude);
  expect(await office.ask('agents.resume')).toMatchObject({ paused: [idOf('codex')] });
  await office.settle();
  await office.refused('desk.write', { text: '6' }, codex);
  await office.ask('agents.resume', { conversations: [idOf('codex')] });
  await office.settle();
  expect(office.written).toEqual([
    'claude: 1',
    'codex: 1',
    'claude: 2',
    'claude: 4',
    'claude: 5',
    'codex: 2',
    'codex: 6',
  ]);
});

test('single calls and whole queues are dropped before resuming; what was not chosen does not run (R-HUB-077)', async () => {
  await using office = new Office();
  const claude = office.agent('claude');
  await office.ask('agents.pause');
  const ids: string[] = [];
  for (const text of ['a', 'b', 'c', 'd'])
    ids.push(dataOf(await office.refused('desk.write', { text }, claude)).hold_id);
  expect(await office.ask('agents.drop', { holds: [ids[0]] })).toEqual({ dropped: [ids[0]] });
  const dropped = await office.refused('desk.write', { text: 'a' }, claude);
  expect(dropped).toMatchObject({ code: 'hold_dropped', message: expect.stringMatching(/^\[error: hold_dropped\]/) });
  expect(await office.ask('agents.resume', { only: [ids[2]] })).toMatchObject({
    running: [ids[2]],
    dropped: [ids[1], ids[3]],
  });
  await office.settle();
  expect(office.written).toEqual(['claude: c']);
  const { calls } = await office.ask('calls.list', { text: 'b' });
  expect(calls[0]).toMatchObject({ phase: 'dropped', ended: 'by person', code: 'hold_dropped' });
  await expect(office.ask('agents.drop', { holds: [ids[0]] })).rejects.toMatchObject({ code: 'not_found' });
});

test('a replay asks the gate again, and each held call says what would become of it', async () => {
  let isBlocked = false;
  const error = new FairleadError('not_permitted', 'Command blocked by policy: rm *');
  await using office = new Office({
    gate: {
      ...openGate,
      policy: ({ commands }) =>
        isBlocked && commands.includes('rm x') ? { allowed: false, error } : { allowed: true },
    },
  });
  const claude = office.agent('claude');
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: 'rm x' }, claude);
  await office.refused('desk.write', { text: 'ls' }, claude);
  isBlocked = true;
  const { conversations } = await office.ask('agents.list');
  expect(conversations[0].held.map(({ would }: { would: object }) => would)).toEqual([
    { kind: 'refused', words: 'Command blocked by policy: rm *' },
    { kind: 'runs', words: 'Runs.' },
  ]);
  await office.ask('agents.resume');
  await office.settle();
  expect(office.written).toEqual(['claude: ls']);
  await expect(office.ask('desk.write', { text: 'rm x' }, claude)).rejects.toBe(error);
});

test('a call whose terminal has ended fails and types nothing elsewhere (R-HUB-077)', async () => {
  await using office = new Office();
  const claude = office.agent('claude', { client: undefined });
  const { engine } = office;
  const signal = new AbortController().signal;
  const named = await office.soon(engine.sessions.create({}, claude, signal));
  const usual = await office.soon(engine.sessions.default(signal, claude));
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: 'there', terminal: named.id }, claude);
  await office.refused('desk.write', { text: 'here' }, claude);
  await office.soon(engine.sessions.close(named.id, claude, signal));
  await office.soon(engine.sessions.close(usual.id, claude, signal));
  await office.soon(engine.sessions.default(signal, claude));
  const { conversations } = await office.ask('agents.list');
  expect(conversations[0].held).toMatchObject([
    { terminal: named.id, would: { kind: 'fails' } },
    { would: { kind: 'fails' } },
  ]);
  await office.ask('agents.resume');
  await office.settle();
  expect(office.written).toEqual([]);
  await expect(office.ask('desk.write', { text: 'there', terminal: named.id }, claude)).rejects.toMatchObject({
    code: 'terminal_exited',
    message: expect.stringContaining('nothing was typed'),
  });
  const { calls } = await office.ask('calls.list', { kind: 'failed' });
  expect(calls).toHaveLength(2);
});

test('replays of two agents into one terminal come one at a time, in the order of the calls (R-HUB-077)', async () => {
  await using office = new Office();
  const signal = new AbortController().signal;
  const { id } = await office.soon(office.engine.sessions.create({}, office.agent('x'), signal));
  const [claude, codex] = [office.agent('claude'), office.agent('codex')];
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: '1', terminal: id }, claude);
  await office.refused('desk.write', { text: '2', terminal: id }, codex);
  await office.refused('desk.write', { text: '3', terminal: id }, claude);
  let open = (): void => {};
  office.gate = new Promise((resolve) => {
    open = resolve;
  });
  await office.ask('agents.resume');
  await office.settle();
  expect(office.begun).toEqual(['claude: 1']);
  // What comes meanwhile goes behind what was held.
  const behind = await office.refused('desk.write', { text: '4', terminal: id }, claude);
  expect(behind).toMatchObject({ code: 'held', message: expect.stringContaining('being resumed') });
  // Paused again: what runs goes on, the rest waits.
  await office.ask('agents.pause');
  open();
  await office.settle();
  expect(office.begun).toEqual(['claude: 1']);
  await office.ask('agents.resume');
  await office.settle();
  expect(office.written).toEqual(['claude: 1', 'codex: 2', 'claude: 3', 'claude: 4']);
});

test('a revoked conversation loses its held calls and is refused until it is approved again (R-HUB-071)', async () => {
  await using office = new Office();
  const claude = office.agent('claude');
  await office.ask('agents.pause');
  const { conversation_id, hold_id } = dataOf(await office.refused('desk.write', { text: 'one' }, claude));
  expect(await office.ask('agents.revoke', { conversation: conversation_id })).toMatchObject({
    conversation: { state: 'revoked', revoked: { by: 'person' }, held: [] },
    dropped: [hold_id],
  });
  await office.ask('agents.resume');
  for (const [op, input] of [
    ['desk.write', { text: 'two' }],
    ['desk.read', {}],
  ] as const) {
    expect(await office.refused(op, input, claude)).toMatchObject({
      code: 'revoked',
      message: expect.stringMatching(/^\[error: conversation revoked\]/),
    });
  }
  await office.ask('agents.approve', { conversation: conversation_id });
  await office.ask('desk.write', { text: 'three' }, claude);
  expect(office.written).toEqual(['claude: three']);
});

test('a call of several steps stops before the next one, and goes on when it is resumed (R-HUB-078)', async () => {
  await using office = new Office();
  const claude = office.agent('claude');
  let open = (): void => {};
  office.gate = new Promise((resolve) => {
    open = resolve;
  });
  const running = office.ask('desk.steps', { lines: ['1', '2', '3'] }, claude);
  await office.settle();
  await office.ask('agents.pause');
  open();
  await office.settle();
  expect(office.written).toEqual(['1']);
  await office.ask('agents.resume');
  await running;
  expect(office.written).toEqual(['1', '2', '3']);
});

test('the end of the server drops what waits, and the trail says so (R-HUB-082)', async () => {
  const office = new Office();
  await using _home = office;
  const claude = office.agent('claude');
  await office.ask('agents.pause');
  await office.refused('desk.write', { text: 'one' }, claude);
  await office.engine[Symbol.asyncDispose]();
  await using next = new Office();
  const signal = new AbortController().signal;
  const found = [];
  for await (const { operation, phase, ended, caller } of office.trail.backwards(undefined, signal)) {
    found.push([operation, phase, ended, caller]);
  }
  expect(found).toEqual([
    ['desk.write', 'dropped', 'the server was ended', 'claude'],
    ['desk.write', 'held', undefined, 'claude'],
    ['agents.pause', 'executed', undefined, 'person'],
  ]);
  expect(next.written).toEqual([]);
});

test('the next server knows what was paused and revoked, and that calls were lost (R-HUB-072)', async () => {
  await using home = new Office();
  const file = join(home.home, 'paused', 'alpha.json');
  const trail: AuditEntry[] = [];
  const [claude, codex, gemini] = ['claude', 'codex', 'gemini'].map((name) => home.agent(name)) as [
    Caller,
    Caller,
    Caller,
  ];
  const idOf = async (office: Office, name: string): Promise<string> =>
    (await office.ask('agents.list')).conversations.find(({ agent }: { agent: string }) => agent === name).id;
  {
    const killed = new Office();
    killed.engine.agents.keepIn(file);
    for (const agent of [claude, codex, gemini]) await killed.ask('desk.write', { text: 'x' }, agent);
    expect(existsSync(file)).toBe(false);
    await killed.ask('agents.revoke', { conversation: await idOf(killed, 'gemini') });
    await killed.ask('agents.pause');
    await killed.refused('desk.write', { text: 'secret words stay here' }, claude);
    await killed.ask('agents.resume', { conversations: [await idOf(killed, 'codex')] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await using _cleanup = killed;
    copyFileSync(file, `${file}.kept`);
  }
  copyFileSync(`${file}.kept`, file);
  await using next = new Office();
  next.engine.audit.added.on((entry) => trail.push(entry));
  next.engine.agents.keepIn(file);
  expect(trail).toMatchObject([
    { operation: 'desk.write', phase: 'dropped', ended: 'the server was ended', caller: 'claude' },
  ]);
  expect((await next.refused('desk.write', { text: 'y' }, claude)).code).toBe('held');
  expect((await next.refused('desk.read', {}, gemini)).code).toBe('revoked');
  await next.ask('desk.write', { text: 'y' }, codex);
  expect((await next.refused('desk.read', {}, next.agent('new'))).code).toBe('held');
  await next.ask('agents.resume', { held: 'drop' });
  await next.ask('agents.approve', { conversation: await idOf(next, 'gemini') });
  // Nothing is left to know.
  expect(existsSync(file)).toBe(false);

  writeFileSync(file, '{"order":');
  const said: string[] = [];
  await using careful = new Office({ log: (line) => said.push(line) });
  careful.engine.agents.keepIn(file);
  expect((await careful.refused('desk.write', { text: 'z' }, claude)).code).toBe('held');
  expect(said.join()).toContain('Everything is paused: what was paused before cannot be read');
});

test('a client is connected while one of its connections is', async () => {
  await using office = new Office();
  const [one, two] = [new AbortController(), new AbortController()];
  for (const { signal: connection } of [one, two, one]) {
    await office.ask('desk.read', {}, office.agent('script', { client: undefined, origin: 'rpc', connection }));
  }
  const connected = async (): Promise<unknown> => (await office.ask('agents.list')).conversations[0].connected;
  expect(await connected()).toBe(true);
  one.abort();
  expect(await connected()).toBe(true);
  two.abort();
  expect(await connected()).toBe(false);
});

test('a terminal is shown as paused while the agent that typed last is', async () => {
  await using office = new Office();
  const claude = office.agent('claude');
  const terminal = await office.soon(office.engine.sessions.create({}, claude, new AbortController().signal));
  await office.ask('desk.write', { text: 'x', terminal: terminal.id }, claude);
  const shown = (): unknown => statusOf(terminal, office.engine).shown;
  expect(shown()).not.toBe('paused');
  await office.ask('agents.pause');
  expect(statusOf(terminal, office.engine)).toMatchObject({ shown: 'paused', paused: { by: 'person' } });
  await office.ask('agents.resume');
  expect(shown()).not.toBe('paused');
});

test('bad input is refused with what to do', async () => {
  await using office = new Office();
  const bad: [string, object, string][] = [
    ['agents.pause', { conversations: ['c-nobody'] }, 'not_found'],
    ['agents.pause', { conversations: [] }, 'invalid_input'],
    ['agents.resume', { held: 'later' }, 'invalid_input'],
    ['agents.resume', { only: ['h-none'] }, 'not_found'],
    ['agents.drop', {}, 'invalid_input'],
    ['agents.revoke', {}, 'invalid_input'],
    ['agents.approve', { conversation: 'c-nobody' }, 'not_found'],
    ['running.stop', { terminals: ['zzzzz'] }, 'terminal_not_found'],
    ['terminals.end', { word: 'yes' }, 'invalid_input'],
  ];
  for (const [op, input, code] of bad) await expect(office.ask(op, input), op).rejects.toMatchObject({ code });
  expect((await office.ask('agents.list')).pause).toBeNull();
});
