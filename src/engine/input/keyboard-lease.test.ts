import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { KeyboardLease } from './keyboard-lease.ts';

const open = () => {
  const clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'));
  return { clock, lease: new KeyboardLease(clock) };
};
const never = new AbortController().signal;

test('who types has the keyboard until five seconds after the last key (R-HUB-087)', () => {
  const { clock, lease } = open();
  lease.typed('claude', 'agent');
  clock.advance(4999);
  lease.typed('claude', 'agent');
  clock.advance(4999);
  expect(lease.holder).toMatchObject({ by: 'claude', kind: 'agent', isTaken: false });
  clock.advance(1);
  expect(lease.holder).toBeUndefined();
  lease.typed('ada', 'person');
  lease.typed('claude', 'agent');
  expect(lease.holder).toMatchObject({ by: 'ada', kind: 'person' });
  clock.advance(5000);
  expect(lease.holder).toBeUndefined();
});

test('an agent has it as long as its command runs', () => {
  let isRunning = true;
  const clock = new ManualClock();
  const lease = new KeyboardLease(clock, () => ({ isRunning, count: 1, lastExit: 0 }));
  lease.typed('claude', 'agent');
  clock.advance(60_000);
  expect(lease.holder?.by).toBe('claude');
  isRunning = false;
  expect(lease.holder).toBeUndefined();
});

test('agents wait for a person who types, five seconds at most', async () => {
  const { clock, lease } = open();
  lease.typed('ada', 'person');
  let isOver = false;
  const waiting = lease.whenPersonPauses(never).then(() => (isOver = true));
  clock.advance(3000);
  lease.typed('ada', 'person');
  clock.advance(1999);
  await Promise.resolve();
  expect(isOver).toBe(false);
  clock.advance(1);
  await waiting;
  expect(lease.holder).toMatchObject({ by: 'ada' });
});

test('taken over: everything without its number is refused, what is typed meanwhile changes no holder', () => {
  const { lease } = open();
  const epoch = lease.take('ada');
  expect(() => lease.admit()).toThrow(/The keyboard is taken: ada has it since 2026-01-01T00:00:00.000Z/);
  expect(() => lease.admit(epoch + 1)).toThrow(/ada/);
  lease.admit(epoch);
  lease.typed('claude', 'agent');
  expect(lease.holder).toMatchObject({ by: 'ada', isTaken: true });
});

test('another person may take it; the number of before is worth nothing then', () => {
  const { lease } = open();
  const first = lease.take('ada');
  const second = lease.take('bob');
  expect(lease.holder?.by).toBe('bob');
  expect(() => lease.admit(first)).toThrow(/bob/);
  expect(lease.give(first)).toBe(false);
  expect(lease.give(second)).toBe(true);
  lease.admit();
});

test('it is handed back by itself when it is not renewed for a minute', () => {
  const { clock, lease } = open();
  const epoch = lease.take('ada');
  clock.advance(59_000);
  expect(lease.take('ada', epoch)).toBe(epoch);
  clock.advance(59_999);
  expect(lease.holder?.isTaken).toBe(true);
  clock.advance(1);
  expect(lease.holder).toBeUndefined();
  expect(lease.handBack).toEqual({ by: 'ada', ms: 118_999 + 1, note: undefined, commands: 0, exitCode: undefined });
  expect(lease.take('ada', epoch)).toBe(epoch + 1);
});

test('a note waits for the first agent', () => {
  const { clock, lease } = open();
  const epoch = lease.take('ada');
  clock.advance(2000);
  lease.give(epoch, 'the database is up');
  const { handBack } = lease;
  expect(handBack).toMatchObject({ by: 'ada', ms: 2000, note: 'the database is up' });
  if (handBack) lease.told(handBack);
  expect(lease.handBack).toBeUndefined();
});

test('every change is told', () => {
  const { clock, lease } = open();
  const seen: (string | undefined)[] = [];
  lease.changed.on((holder) => seen.push(holder?.by));
  lease.typed('claude', 'agent');
  lease.typed('claude', 'agent');
  const epoch = lease.take('ada');
  lease.take('ada', epoch);
  const second = lease.take('eve');
  lease.give(second);
  lease.typed('bob', 'person');
  clock.advance(5000);
  expect(seen).toEqual(['claude', 'ada', 'eve', undefined, 'bob', undefined]);
});

test('a holder who types nothing for ten minutes loses it, although the page renews it (R-HUB-087)', () => {
  const { clock, lease } = open();
  const epoch = lease.take('ada');
  const renewFor = (ms: number): void => {
    for (let spent = 0; spent < ms; spent += 20_000) {
      clock.advance(20_000);
      if (lease.holds(epoch)) lease.take('ada', epoch);
    }
  };
  renewFor(580_000);
  lease.typed('ada', 'person');
  renewFor(580_000);
  expect(lease.holds(epoch)).toBe(true);
  clock.advance(19_999);
  expect(lease.holds(epoch)).toBe(true);
  clock.advance(1);
  expect(lease.holds(epoch)).toBe(false);
});

test('a hand-back tells of the commands since it was taken, and can be seen before', () => {
  const clock = new ManualClock();
  let count = 4;
  const lease = new KeyboardLease(clock, () => ({ isRunning: false, count, lastExit: 1 }));
  const epoch = lease.take('ada');
  count = 6;
  clock.advance(1000);
  const before = lease.preview(epoch, 'mended');
  expect(before).toEqual({ by: 'ada', ms: 1000, note: 'mended', commands: 2, exitCode: 1 });
  expect(lease.preview(epoch + 1)).toBeUndefined();
  lease.give(epoch, 'mended');
  expect(lease.handBack).toEqual(before);
});

test('what waits for the end of a taking over happens once, however it ends', () => {
  const { clock, lease } = open();
  const over: string[] = [];
  lease.whenOver(() => over.push('too early'));
  lease.give(lease.take('ada'));
  lease.take('ada');
  lease.whenOver(() => over.push('left'));
  clock.advance(60_000);
  lease.take('ada');
  lease.whenOver(() => over.push('pushed aside'));
  lease.take('bob');
  expect(over).toEqual(['left', 'pushed aside']);
});
