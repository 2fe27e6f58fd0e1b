import { EventEmitter } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { type FailedLogin, FailedLogins } from './failed-logins.ts';
import { Strangers } from './strangers.ts';
import { isStrong } from '../../lib/token-strength.ts';

class Connection extends EventEmitter {
  dropped = false;
  destroy(): void {
    this.dropped = true;
    this.emit('close');
  }
}

test('of too many strangers the one that has waited longest goes, never one that showed the token', () => {
  const strangers = new Strangers(2);
  const [owner, first, second, third] = Array.from({ length: 4 }, () => new Connection()) as [
    Connection,
    Connection,
    Connection,
    Connection,
  ];
  for (const one of [owner, first]) strangers.add(one);
  strangers.recognise(owner);
  for (const one of [second, third]) strangers.add(one);
  expect([owner, first, second, third].map(({ dropped }) => dropped)).toEqual([false, true, false, false]);
  second.destroy();
  expect(strangers.size).toBe(1);
});

test('failed logins of all connections slow the next ones down; of a storm only a sum is told', () => {
  const clock = new ManualClock();
  const told: FailedLogin[] = [];
  using failed = new FailedLogins(clock, (one) => told.push(one));
  const peer = '127.0.0.1:1';
  for (let n = 0; n < 5; n += 1) {
    expect(failed.delayMs).toBe(0);
    failed.add({ peer, face: 'rpc' });
  }
  expect(failed.delayMs).toBe(1000);
  for (let n = 0; n < 995; n += 1) failed.add({ peer, face: 'http' });
  expect(told).toHaveLength(20);
  clock.advance(60_000);
  expect(told.at(-1)).toEqual({ peer, face: 'http', count: 980 });
  expect(failed.delayMs).toBe(0);
});

test.each([
  'aaaaaaaaaaaaaaaaaaaaaaaa',
  '0123456789abcdef0123456789abcdef',
  'passwordpasswordpassword',
  'abcdabcdabcdabcdabcdabcd',
  'changemechangeme1',
  'letmeinletmein12',
])('%s can be guessed', (token) => expect(isStrong(token)).toBe(false));

test('random tokens are strong', () => {
  for (let n = 0; n < 500; n += 1) {
    expect(isStrong(randomUUID())).toBe(true);
    expect(isStrong(randomBytes(16).toString('hex'))).toBe(true);
    expect(isStrong(randomBytes(18).toString('base64url'))).toBe(true);
  }
});

test.each(['l-Uz0LM9Jth3EiiO', '9S4o-aTU42Ki85vD', 'mYDEBqXbTOglJ2q4', 'dde4bf0ee8bebbe985987f91'])(
  '%s, 96 random bits, is not refused',
  (token) => expect(isStrong(token)).toBe(true),
);
