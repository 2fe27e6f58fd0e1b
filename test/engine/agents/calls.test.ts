import { expect, test } from 'vitest';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { FairleadError } from '../../../src/contract/errors.ts';
import { openGate } from '../../../src/engine/call/gate.ts';
import { watch } from '../../../src/operations/person/calls.ts';
import { watch as watchPerson } from '../../../src/operations/person/index.ts';
import { Office } from '../../support/agents/office.ts';

const refuse = new FairleadError('not_permitted', 'Blocked.');

test('each client is a conversation with its name, door and counts; a person is none (R-HUB-082)', async () => {
  await using office = new Office({
    gate: {
      ...openGate,
      policy: ({ commands }) => (commands.includes('rm') ? { allowed: false, error: refuse } : { allowed: true }),
    },
  });
  const claude = office.agent(`claude\u202e-${'x'.repeat(60)}`);
  await office.ask('desk.write', { text: 'ls' }, claude);
  await office.ask('desk.read', { pattern: 'a' }, claude);
  await office.refused('desk.write', { text: 'fail' }, claude);
  await office.refused('desk.write', { text: 'rm' }, claude);
  await office.ask('desk.write', { text: 'ls' }, office.agent('codex', { client: undefined, origin: 'rpc' }));
  await office.ask('desk.write', { text: 'mine' });
  const { conversations, pause } = await office.ask('agents.list');
  expect(pause).toBeNull();
  expect(conversations).toHaveLength(2);
  const [codex, first] = conversations;
  expect(codex).toMatchObject({ agent: 'codex', origin: 'rpc', state: 'approved', counts: { calls: 1 } });
  expect(first.agent).toMatch(/^claude\\u202e-x+…$/);
  expect(first.agent).toHaveLength(32);
  expect(first).toMatchObject({
    address: '127.0.0.1:5',
    counts: { calls: 4, denied: 1, failed: 1, held: 0 },
    last: { op: 'desk.write' },
    held: [],
  });
  expect(first.bytesRead).toBeGreaterThan(100);
  expect(first).not.toHaveProperty('connected');
});

test('a row has its phase, preview, size and exit code, and is told again when it changes (R-HUB-080, R-HUB-081)', async () => {
  await using office = new Office({ redact: (text) => text.replace('hunter2', '[masked]') });
  const agent = office.agent('claude');
  let open = (): void => {};
  office.gate = new Promise((resolve) => {
    open = resolve;
  });
  const stop = new AbortController();
  const news = callStream(watch, {}, { engine: office.engine, caller: localPerson, signal: stop.signal });
  expect((await news.next()).value).toEqual({ kind: 'head', calls: [] });
  const writing = office.ask('desk.write', { text: 'echo hunter2\x1b[31m\n' }, agent);
  const received = (await news.next()).value as { call: { id: string; phase: string; preview: string } };
  expect(received.call).toMatchObject({ phase: 'received', who: { kind: 'agent', name: 'claude' }, isCommand: true });
  open();
  await writing;
  const executed = (await news.next()).value as { call: { id: string; preview: string } };
  expect(executed.call).toMatchObject({ id: received.call.id, phase: 'executed' });
  expect(executed.call.preview).toBe('echo [masked]\\u001b[31m\\n');
  await office.ask('desk.write', { text: 'exit 3' }, agent);
  await office.refused('desk.write', { text: 'fail' }, agent);
  await office.ask('desk.write', { text: 'y'.repeat(500) });
  stop.abort();
  const rows = async (filter: object): Promise<string[]> => {
    const { calls } = await office.ask('calls.list', filter);
    return calls.map(({ preview }: { preview: string }) => preview.slice(0, 6));
  };
  expect(await rows({})).toEqual(['yyyyyy', 'fail', 'exit 3', 'echo [']);
  expect(await rows({ kind: 'failed' })).toEqual(['fail', 'exit 3']);
  expect(await rows({ kind: 'decisions' })).toEqual(['yyyyyy']);
  expect(await rows({ text: 'MASKED' })).toEqual(['echo [']);
  const { calls } = await office.ask('calls.list');
  expect(calls[0]).toMatchObject({ who: { kind: 'person', name: 'person' } });
  expect(calls[0]).not.toHaveProperty('conversation');
  expect(calls[0].preview.length).toBeLessThanOrEqual(200);
});

test('older rows are folded from the audit trail, page by page, in the order of their beginning (R-HUB-080)', async () => {
  await using office = new Office();
  const agent = office.agent('claude');
  for (let n = 0; n < 25; n++) {
    await office.ask('desk.write', { text: `step ${n}` }, agent);
    await office.ask('desk.read', {}, agent);
    office.clock.advance(3_600_000);
  }
  // Another process knows only what is on disk.
  await using other = new Office({
    parts: [[(await import('../../../src/engine/call/audit/trail.ts')).auditTrail, () => office.trail]],
  });
  const seen: string[] = [];
  let before: string | undefined;
  for (let more = true; more; ) {
    const page = await other.ask('calls.list', { limit: 10, ...(before === undefined ? {} : { before }) });
    seen.push(...page.calls.map(({ preview }: { preview: string }) => preview));
    before = page.calls.at(-1)?.id;
    more = page.more;
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => `step ${24 - n}`));
  // In the process itself each call is there once, reads too.
  const { calls } = await office.ask('calls.list', { limit: 1000 });
  expect(calls).toHaveLength(50);
});

test('a watcher hears of a conversation as its new state, many calls together', async () => {
  await using office = new Office();
  const stop = new AbortController();
  const news = callStream(watchPerson, {}, { engine: office.engine, caller: localPerson, signal: stop.signal });
  expect((await news.next()).value).toMatchObject({ kind: 'all', conversations: [], pause: null });
  const agent = office.agent('claude');
  for (let n = 0; n < 50; n++) await office.ask('desk.read', {}, agent);
  office.clock.advance(200);
  expect((await news.next()).value).toMatchObject({
    kind: 'conversation',
    conversation: { agent: 'claude', counts: { calls: 50 } },
  });
  stop.abort();
});

test('bad input is refused with what to do', async () => {
  await using office = new Office();
  await expect(office.ask('calls.list', { limit: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(office.ask('calls.list', { kind: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(office.ask('agents.list', { all: true })).rejects.toMatchObject({ code: 'invalid_input' });
});
