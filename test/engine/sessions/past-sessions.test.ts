import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FairleadError } from '../../../src/contract/errors.ts';
import { renderCoreError as coreWords } from '../../../src/operations/core/errors.ts';
import { atPrompt } from '../../support/engine.ts';
import { StoppableClock } from '../../support/clocks/stoppable.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const me = { principal: 'me' };
const never = new AbortController().signal;

let clock: StoppableClock;
let place: RpcPlace;

beforeEach(async () => {
  clock = new StoppableClock();
  place = await RpcPlace.open(() => [], { clock, sessions: { maxSessions: 9, idleTimeout: 600 } });
});
afterEach(async () => place[Symbol.asyncDispose]());

const failure = async (id: unknown): Promise<unknown> => (await place.client.ask('session.get', { id })).error;
const refusal = async (ref: string | number): Promise<FairleadError> =>
  await place.engine.sessions.forReading(ref, me, never).then(
    () => expect.unreachable(),
    (error: unknown) => error as FairleadError,
  );

test('a program that was started directly is not idle while it works (R-TERM-033)', async () => {
  const { sessions } = place.engine;
  const idle = await sessions.create({}, me, never);
  await atPrompt(idle);
  const sleeping = await sessions.create({ argv: ['sleep', '600'] }, me, never);
  const script = await sessions.create({ command: 'read line; true' }, me, never);
  await vi.waitUntil(() => script.process?.foreground()?.name === 'bash', { timeout: 20_000, interval: 2 });
  const waiting = await sessions.create({ shell: 'cat' }, me, never);
  clock.stop();
  clock.advance(3_600_000);
  expect(sessions.all(me)).toEqual([sleeping, script, waiting]);
});

test('how a session ended is told by its id, its number and its name (R-TERM-033)', async () => {
  const { sessions } = place.engine;
  const session = await sessions.create({ name: 'build' }, me, never);
  await atPrompt(session);
  const { id } = session;
  const { number } = session.identity;
  clock.stop();
  clock.advance(601_000);
  for (const called of [id, number, String(number), 'build']) {
    expect((await refusal(called)).message).toBe(`Session '${called}' was closed after 600 s idle`);
  }
});

test('the session RPC tells it, too; of one that was destroyed it says what its reference says (R-RPC-020)', async () => {
  const forgotten = await place.create();
  const terminal = place.engine.terminals.find(({ identity: { number } }) => number === forgotten);
  if (terminal) await atPrompt(terminal);
  const destroyed = await place.create();
  await place.client.call('session.destroy', { id: destroyed });
  clock.stop();
  clock.advance(601_000);
  expect(await failure(forgotten)).toMatchObject({
    message: `Session ${forgotten} not found`,
    data: { code: 'SESSION_NOT_FOUND', hint: `Session '${forgotten}' was closed after 600 s idle` },
  });
  expect(await failure(destroyed)).toMatchObject({
    message: `Session ${destroyed} not found`,
    data: { code: 'SESSION_NOT_FOUND' },
  });
});

test('a session that was closed is disposed in the words of the terminal book, and of the core book (R-TERM-034)', async () => {
  const { sessions } = place.engine;
  const {
    id,
    identity: { number },
  } = await sessions.create({ name: 'gone' }, me, never);
  await sessions.destroy(id, me, never);
  for (const called of [id, number, 'gone']) {
    const error = await refusal(called);
    expect(error.message).toBe('Terminal session has been disposed');
    expect(coreWords(error)).toContain('Terminal session has been disposed. List them with terminal_list.');
  }
  // The name means whoever has it now.
  const next = await sessions.create({ name: 'gone' }, me, never);
  expect((await sessions.forReading('gone', me, never)).id).toBe(next.id);
});

test('number 0 is the default session, also when it was started again (R-TERM-034, R-RPC-020)', async () => {
  const { sessions } = place.engine;
  const first = await sessions.default(never);
  expect(first.identity.number).toBe(0);
  await atPrompt(first);
  await first.input.send(Buffer.from('exit 7\r'), 'test', never);
  await first.whenEnded;
  const { terminal: second, restarted } = await sessions.forInput(undefined, me, never);
  expect(restarted).toBe(true);
  expect(second.identity.number).toBeGreaterThan(0);
  expect(await place.client.call('session.get', { id: 0 })).toMatchObject({
    id: second.identity.number,
    terminal: second.id,
  });
  expect(await sessions.forReading('0', me, never)).toBe(second);
  expect((await refusal(first.id)).message).toBe(
    `Session '${first.id}' has exited with code 7, and another one has taken its place.`,
  );
  await place.client.call('session.destroy', { id: 0 });
  expect(await failure(0)).toMatchObject({ data: { code: 'SESSION_NOT_FOUND' } });
});
