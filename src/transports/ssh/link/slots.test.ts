import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { FakeLink, settled } from '../../../../test/support/ssh/fake-ssh.ts';
import { ManualClock } from '../../../../test/support/clocks/manual.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { SshLink, SshProcess } from './link.ts';
import { type SlotKind, Slots } from './slots.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

function setUp(max: number, more: { readonly again?: boolean; readonly maxExtras?: number } = {}) {
  const clock = new ManualClock();
  const link = new FakeLink(max);
  const extras: FakeLink[] = [];
  const again = async (): Promise<SshLink> => {
    const extra = new FakeLink(max);
    extras.push(extra);
    return extra;
  };
  const slots = new Slots({ link, clock, ...(more.again === true && { again }), maxExtras: more.maxExtras });
  const opened: string[] = [];
  const open = (name: string, kind: SlotKind = 'command', signal = never): Promise<SshProcess> =>
    slots
      .open(kind, (on, stop) => on.exec(name, {}, stop), signal)
      .then((process) => {
        opened.push(name);
        return process;
      });
  return { clock, link, extras, slots, opened, open };
}

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => `c${from + at}`);

test('the limit is learned from one refusal, and the rest wait in order without a timer (spec 7)', async () => {
  const { clock, link, slots, opened, open } = setUp(10);
  const all = names(30).map((name) => open(name));
  await settled();
  expect(opened).toEqual(names(10));
  expect(link.seen.filter((name) => name.startsWith('!'))).toEqual(['!c10']);
  // Ten-second limits of the twenty that wait, and nothing that polls.
  expect(clock.timers).toBe(20);
  while (opened.length < 30) {
    link.running[0]?.finish();
    await settled();
  }
  expect(opened).toEqual(names(30));
  await Promise.all(all);
  expect(link.seen).toHaveLength(31);
  expect(slots.waiting).toBe(0);
});

test('a server that gives more than ten is asked for more, faster and faster', async () => {
  const { link, opened, open } = setUp(64);
  const all = names(100).map((name) => open(name));
  await settled();
  expect(opened).toHaveLength(64);
  expect(link.seen.filter((name) => name.startsWith('!')).length).toBeLessThanOrEqual(32);
  link.finishAll();
  await Promise.all(all);
});

test('a shell does not wait behind commands', async () => {
  const { link, opened, open } = setUp(2);
  const all = [...names(6).map((name) => open(name)), open('sh1', 'shell'), open('sh2', 'shell')];
  await settled();
  for (let round = 0; round < 8; round += 1) {
    link.running[0]?.finish();
    await settled();
  }
  expect(opened).toEqual(['c0', 'c1', 'sh1', 'sh2', 'c2', 'c3', 'c4', 'c5']);
  await Promise.all(all);
});

test('after ten seconds of waiting: CHANNEL_FAILED', async () => {
  const { clock, open, slots } = setUp(1);
  await open('long');
  const late = open('late');
  const failed = expect(late).rejects.toMatchObject({
    message: 'No channel of the session was free in time: all 1 are in use.',
    data: { wire: 'CHANNEL_FAILED', context: 'limit=10s' },
  });
  await settled();
  clock.advance(9_999);
  await settled();
  expect(slots.waiting).toBe(1);
  clock.advance(1);
  await failed;
  expect(slots.waiting).toBe(0);
  expect(clock.timers).toBe(0);
});

test('a server that gives nothing while we hold nothing is asked again after 100 ms, doubling to 1 s (spec 7)', async () => {
  const { clock, link, open } = setUp(0);
  const first = open('x');
  const failed = expect(first).rejects.toMatchObject({ data: { wire: 'CHANNEL_FAILED' } });
  const at: number[] = [];
  let seen = 0;
  for (let ms = 0; ms < 10_000; ms += 50) {
    await settled();
    if (link.seen.length > seen) at.push(ms);
    seen = link.seen.length;
    clock.advance(50);
  }
  await failed;
  expect(at).toEqual([0, 100, 300, 700, 1500, 2500, 3500, 4500, 5500, 6500, 7500, 8500, 9500]);
});

test('a server that gives again what it refused is used to the full', async () => {
  const { clock, link, opened, open } = setUp(0);
  const all = names(20).map((name) => open(name));
  await settled();
  link.max = 10;
  clock.advance(100);
  await settled();
  expect(opened).toEqual(names(10));
  link.quick = true;
  link.finishAll();
  await Promise.all(all);
  expect(opened).toEqual(names(20));
});

test('what the server refuses for another reason is not tried again', async () => {
  const { link, open, clock } = setUp(10);
  link.refuse = 'request';
  await expect(open('x')).rejects.toMatchObject({ data: { wire: 'CHANNEL_FAILED', refused: 'request' } });
  expect(link.seen).toEqual(['!x']);
  expect(clock.timers).toBe(0);
});

test('a caller that hangs up leaves the queue, and its place goes to the next', async () => {
  const { link, opened, open, slots, clock } = setUp(1);
  await open('long');
  const stop = new AbortController();
  const gone = expect(open('gone', 'command', stop.signal)).rejects.toThrow('bye');
  const next = open('next');
  await settled();
  stop.abort(new Error('bye'));
  await gone;
  expect(slots.waiting).toBe(1);
  link.running[0]?.finish();
  await next;
  expect(opened).toEqual(['long', 'next']);
  expect(clock.timers).toBe(0);
});

test('a server that never answers an open: CHANNEL_FAILED after ten seconds', async () => {
  const { clock, link, open } = setUp(1);
  link.silent = true;
  const failed = expect(open('x')).rejects.toMatchObject({
    message: 'No channel of the session was free in time: the server did not answer.',
  });
  clock.advance(10_000);
  await failed;
});

test('a queue that stands still gets more links where a login needs nobody', async () => {
  const { clock, extras, slots, opened, open } = setUp(10, { again: true });
  const all = names(100).map((name) => open(name));
  await settled();
  expect(extras).toHaveLength(0);
  for (let round = 0; round < 12; round += 1) {
    clock.advance(100);
    await settled();
  }
  expect(opened).toHaveLength(100);
  expect(slots.links).toBe(10);
  await Promise.all(all);
});

test('a queue that moves gets no further link', async () => {
  const { clock, link, extras, opened, open } = setUp(10, { again: true });
  const all = names(100).map((name) => open(name));
  while (opened.length < 100) {
    await settled();
    clock.advance(10);
    link.running[0]?.finish();
  }
  await Promise.all(all);
  expect(extras).toHaveLength(0);
});

test('extra links are bounded, and close ten seconds after their last channel', async () => {
  const { clock, extras, slots, opened, open } = setUp(2, { again: true, maxExtras: 2 });
  const all = names(8).map((name) => open(name));
  for (let round = 0; round < 4; round += 1) {
    await settled();
    clock.advance(100);
  }
  await settled();
  expect(opened).toHaveLength(6);
  expect(slots.links).toBe(3);
  for (const extra of extras) extra.finishAll();
  await settled();
  expect(opened).toHaveLength(8);
  for (const extra of extras) extra.finishAll();
  await Promise.all(all);
  await settled();
  clock.advance(9_999);
  expect(slots.links).toBe(3);
  clock.advance(1);
  await settled();
  expect(slots.links).toBe(1);
  expect(extras.map(({ end }) => end)).toEqual([{ by: 'us' }, { by: 'us' }]);
});

test('an extra link that breaks ends only what ran on it', async () => {
  const { clock, link, extras, slots, open } = setUp(1, { again: true, maxExtras: 1 });
  const [first, second] = [open('first'), open('second')];
  await settled();
  clock.advance(100);
  await settled();
  const lost = (await second).ended;
  extras[0]?.lose();
  expect(await lost).toMatchObject({ by: 'lost' });
  await settled();
  expect(slots.links).toBe(1);
  expect(link.end).toBeUndefined();
  link.running[0]?.finish();
  expect(await (await first).ended).toEqual({ by: 'exit', code: 0 });
  await open('third');
});

test('a login that fails leaves the queue as it was, and is not repeated at once', async () => {
  const clock = new ManualClock();
  const link = new FakeLink(1);
  let logins = 0;
  const again = async (): Promise<SshLink> => {
    logins += 1;
    throw new Error('no');
  };
  const slots = new Slots({ link, clock, again });
  const open = (name: string) => slots.open('command', (on, stop) => on.exec(name, {}, stop), never);
  await open('a');
  const waiting = open('b');
  await settled();
  clock.advance(100);
  await settled();
  clock.advance(5_000);
  await settled();
  expect(logins).toBe(1);
  link.running[0]?.finish();
  await waiting;
});

test('the end refuses who waits and closes the extra links', async () => {
  const { clock, link, extras, slots, open } = setUp(1, { again: true, maxExtras: 1 });
  await open('a');
  const second = open('b');
  await settled();
  clock.advance(100);
  await second;
  const waiting = expect(open('c')).rejects.toMatchObject({ data: { wire: 'SESSION_NOT_FOUND' } });
  slots.refuse(remoteError('SESSION_NOT_FOUND', 'over'));
  await waiting;
  await slots[Symbol.asyncDispose]();
  expect(extras.map(({ end }) => end)).toEqual([{ by: 'us' }]);
  expect(link.end).toBeUndefined();
  await expect(open('d')).rejects.toMatchObject({ data: { wire: 'SESSION_NOT_FOUND' } });
  expect(clock.timers).toBe(0);
});

test('a process nobody was there for any more is closed', async () => {
  const { clock, link, open, slots } = setUp(1);
  const stop = new AbortController();
  const gone = expect(open('x', 'command', stop.signal)).rejects.toThrow('bye');
  // The fake answers in the next turn of promises, after the caller has gone.
  stop.abort(new Error('bye'));
  await gone;
  await settled();
  expect(link.running).toHaveLength(0);
  expect(slots.inUse).toBe(0);
  expect(clock.timers).toBe(0);
});
