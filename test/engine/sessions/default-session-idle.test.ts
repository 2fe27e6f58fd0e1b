import { afterEach, beforeEach, expect, test } from 'vitest';
import { atPrompt } from '../../support/engine.ts';
import { StoppableClock } from '../../support/clocks/stoppable.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const never = new AbortController().signal;
const who = (key: string, leaves: boolean) => ({ principal: 'me', client: { key, self: key, leaves } });
const [first, second, silent] = [who('first', true), who('second', true), who('silent', false)];

let clock: StoppableClock;
let place: RpcPlace;
beforeEach(async () => {
  clock = new StoppableClock();
  place = await RpcPlace.open(() => [], { clock, sessions: { maxSessions: 9, idleTimeout: 0 } });
});
afterEach(async () => place[Symbol.asyncDispose]());

test('default terminals of clients that have left do not pile up, also where no session is closed for being idle', async () => {
  const { sessions } = place.engine;
  const instance = await sessions.forReading(undefined, first, never);
  const own = await sessions.forReading(undefined, second, never);
  const asked = await sessions.create({}, second, never);
  for (const terminal of [instance, own, asked]) await atPrompt(terminal);
  clock.stop();
  clock.advance(3_600_000);
  expect(sessions.all(second)).toEqual([instance, own, asked]);
  sessions.clientGone('first');
  sessions.clientGone('second');
  clock.advance(3_600_000);
  expect(sessions.all(second)).toEqual([instance, asked]);
});

test('a client that never says goodbye keeps its default terminal for an hour, and its place in the instance', async () => {
  const { sessions } = place.engine;
  const instance = await sessions.forReading(undefined, silent, never);
  const own = await sessions.forReading(undefined, who('other', false), never);
  expect(own).not.toBe(instance);
  for (const terminal of [instance, own]) await atPrompt(terminal);
  clock.stop();
  clock.advance(3_500_000);
  expect(sessions.all(silent)).toEqual([instance, own]);
  expect([sessions.isDefault(instance, silent), sessions.isDefault(instance, second)]).toEqual([true, false]);
  clock.advance(200_000);
  expect(sessions.all(silent)).toEqual([instance]);
  expect(sessions.isDefault(instance, second)).toBe(true);
});
