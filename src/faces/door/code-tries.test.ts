import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { CodeTries } from './code-tries.ts';

const minute = 60_000;

test('five wrong codes from an address in 15 minutes; the sixth is too many, from other addresses none is', () => {
  const clock = new ManualClock(1e12);
  const tries = new CodeTries(clock);
  const wrong = (peer: string): boolean => tries.add(peer);
  for (let n = 0; n < 5; n++) expect(wrong(`10.0.0.1:${n}`)).toBe(false);
  expect(wrong('10.0.0.1:9')).toBe(true);
  expect(wrong('::ffff:10.0.0.1:9')).toBe(true);
  expect(wrong('10.0.0.2:9')).toBe(false);
  clock.advance(15 * minute);
  expect(wrong('10.0.0.1:9')).toBe(false);
});

test('a good code forgets the wrong ones before it', () => {
  const tries = new CodeTries(new ManualClock(1e12));
  for (let n = 0; n < 5; n++) tries.add('10.0.0.1:1');
  tries.forget('10.0.0.1:2');
  expect(tries.add('10.0.0.1:1')).toBe(false);
});

test('IPv6 addresses of one network count together, loopback by itself', () => {
  const tries = new CodeTries(new ManualClock(1e12));
  for (let n = 0; n < 5; n++) tries.add(`2001:db8:1:2:3:4:5:${n}:443`);
  expect(tries.add('2001:db8:1:2:9:9:9:9:443')).toBe(true);
  expect(tries.add('2001:db8:1:3:9:9:9:9:443')).toBe(false);
  expect(tries.add('::1:443')).toBe(false);
});

test('of more than 1,024 addresses the one that tried longest ago is forgotten', () => {
  const tries = new CodeTries(new ManualClock(1e12));
  for (let n = 0; n < 5; n++) tries.add('10.0.0.1:1');
  for (let n = 0; n < 1023; n++) tries.add(`10.1.${n >> 8}.${n & 255}:1`);
  expect(tries.add('10.0.0.1:1')).toBe(true);
  for (let n = 0; n < 1024; n++) tries.add(`10.2.${n >> 8}.${n & 255}:1`);
  expect(tries.add('10.0.0.1:1')).toBe(false);
});
