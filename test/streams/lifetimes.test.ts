import { describe, expect, test } from 'vitest';
import { asked, bytesOf, codeOf, StreamBench, textOf, told } from '../support/streams/stream-bench.ts';
import type { StreamLane } from '../../src/streams/stream-lane.ts';

const uri = 'shell://a/output';

describe('lifetimes of a lane (remote 4.2)', () => {
  test('manual: until it is closed, its client leaves, or a closed resource is drained', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const [drained, closed] = [bench.lane(uri, peer), bench.lane(uri, peer)];
    bench.clock.advance(86_400_000);
    closed[Symbol.dispose]();
    expect(codeOf(() => bench.streams.lane(closed.subId, asked(peer)))).toBe('SUB_NOT_FOUND');
    resource.say('last');
    resource.finish('exit');
    const { parts, tellsEnd } = drained.read(false);
    expect([bytesOf(parts).toString(), tellsEnd, drained.isOver]).toEqual(['last', true, true]);
    expect(bench.streams.counts).toEqual({ peers: 1, topics: 0, subscriptions: 0 });
  });

  test('a lane of a closed resource that is not drained ends after 60 s, paused or not, and so do subscriptions', () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lanes = [bench.lane(uri, peer), bench.lane(uri, peer)];
    bench.streams.subscribe(uri, asked(peer));
    lanes[1]?.pause();
    resource.say('last');
    resource.finish('exit');
    bench.clock.advance(59_999);
    expect(lanes.map(({ isOver }) => isOver)).toEqual([false, false]);
    bench.clock.advance(1);
    expect(lanes.map(({ isOver }) => isOver)).toEqual([true, true]);
    expect(bench.streams.counts).toEqual({ peers: 1, topics: 0, subscriptions: 0 });
  });

  test('auto_close: only while something announced is unread', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const open = () => bench.lane(uri, peer, { lifetime: 'auto_close', graceMs: 2000 });
    const [silent, read, unread, named] = [open(), open(), open(), open()];
    bench.clock.advance(3_600_000);
    await told(peer);
    resource.say('one');
    bench.clock.advance(200);
    // Not announced before the connection took the note.
    bench.clock.advance(10_000);
    expect([silent, read, unread].every(({ isOver }) => !isOver)).toBe(true);
    await told(peer);
    bench.clock.advance(1500);
    expect(textOf(read)).toBe('one');
    bench.streams.lane(named.subId, asked(peer));
    bench.clock.advance(500);
    expect([silent, read, unread, named].map(({ isOver }) => isOver)).toEqual([true, false, true, false]);
    bench.clock.advance(1500);
    expect([read, named].map(({ isOver }) => isOver)).toEqual([false, true]);
    bench.clock.advance(3_600_000);
    expect(read.isOver).toBe(false);
  });

  test('auto_close: a plain read of the client is activity, a character without its end is nothing unread', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer, { lifetime: 'auto_close', graceMs: 2000 });
    resource.say(Buffer.from([0x61, 0xe6]));
    bench.clock.advance(200);
    await told(peer);
    expect(textOf(lane)).toBe('a');
    bench.clock.advance(10_000);
    expect(lane.isOver).toBe(false);
    resource.say(Buffer.from([0xbc, 0xa2]));
    bench.clock.advance(200);
    await told(peer);
    bench.clock.advance(1999);
    bench.streams.read(uri, asked(peer));
    bench.clock.advance(10_000);
    expect([lane.isOver, lane.lane.isEmpty]).toEqual([false, true]);
  });

  test('auto_close: the clock stands still while it is paused', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer, { lifetime: 'auto_close', graceMs: 2000 });
    resource.say('one');
    bench.clock.advance(200);
    await told(peer);
    lane.pause();
    bench.clock.advance(60_000);
    expect(lane.isOver).toBe(false);
    lane.resume();
    await told(peer);
    bench.clock.advance(2000);
    expect(lane.isOver).toBe(true);
  });

  test('lease: ends on time whatever happens, and only resume renews it', () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer, { lifetime: 'lease', ttlMs: 60_000 });
    expect(lane.expiresAt).toBe(bench.clock.now() + 60_000);
    bench.clock.advance(40_000);
    resource.say('one');
    textOf(lane);
    lane.resume();
    expect(lane.expiresAt).toBe(bench.clock.now() + 60_000);
    bench.clock.advance(59_999);
    textOf(lane);
    expect(lane.isOver).toBe(false);
    bench.clock.advance(1);
    expect(lane.isOver).toBe(true);
  });
});

describe('what becomes of a resource (remote 4.7)', () => {
  const stateOf = (lane: StreamLane) => lane.topic.state;

  test('owned → observed → releasing → closed; a return cancels, and what is closed leaves a tombstone', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a', { graceMs: 5000, owner: 'ann' }), bench.peer()];
    bench.clock.advance(3_600_000);
    expect(resource.closes).toBe(0);
    const first = bench.lane(uri, peer);
    expect(stateOf(first)).toBe('observed');
    first[Symbol.dispose]();
    expect(stateOf(first)).toBe('releasing');
    bench.clock.advance(4999);
    const second = bench.lane(uri, peer);
    expect(stateOf(second)).toBe('observed');
    bench.clock.advance(60_000);
    expect(resource.closes).toBe(0);
    second[Symbol.dispose]();
    bench.clock.advance(5000);
    expect([resource.closes, stateOf(second)]).toEqual([1, 'closed']);
    await Promise.all(bench.background);
    expect(codeOf(() => bench.lane(uri, peer))).toBe('GRACE_TIMER_EXPIRED');
    bench.sources.shell.remove(resource);
    expect(codeOf(() => bench.lane(uri, peer))).toBe('GRACE_TIMER_EXPIRED');
    expect(codeOf(() => bench.lane(uri, bench.peer('connection', 'bob')))).toBe('RESOURCE_GONE');
    bench.clock.advance(300_000);
    expect(codeOf(() => bench.lane(uri, peer))).toBe('RESOURCE_GONE');
    expect(bench.streams.counts).toMatchObject({ topics: 0, subscriptions: 0 });
  });

  test('its creator decides, under whichever of its names it was followed first (3.1)', () => {
    const bench = new StreamBench();
    const peer = bench.peer();
    const shell = bench.resource('a', { graceMs: 1000 });
    bench.resource('a', { scheme: 'terminal', key: shell.key });
    const named = bench.lane('terminal://a/output', peer);
    expect(named.resource.scheme).toBe('terminal');
    const other = bench.lane(uri, peer);
    expect(other.resource.scheme).toBe('shell');
    named[Symbol.dispose]();
    other[Symbol.dispose]();
    expect(other.topic.state).toBe('releasing');
    bench.clock.advance(1000);
    expect(shell.closes).toBe(1);
  });

  test('without the flag it is as before, and a resource that closed otherwise is gone', () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    bench.lane(uri, peer)[Symbol.dispose]();
    bench.clock.advance(3_600_000);
    expect([resource.closes, bench.streams.counts.topics]).toEqual([0, 0]);
    resource.finish('exit');
    expect(codeOf(() => bench.lane(uri, peer))).toBe('RESOURCE_GONE');
    expect(codeOf(() => bench.streams.subscribe(uri, asked(peer)))).toBe('RESOURCE_GONE');
  });

  test('a person, a recording or a call that waits holds it; the grace begins when they leave', () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a', { graceMs: 5000 }), bench.peer()];
    const lane = bench.lane(uri, peer);
    resource.hold(1);
    lane[Symbol.dispose]();
    bench.clock.advance(60_000);
    resource.hold(-1);
    expect(stateOf(lane)).toBe('releasing');
    bench.clock.advance(4999);
    expect(resource.closes).toBe(0);
    resource.hold(1);
    bench.clock.advance(60_000);
    resource.hold(-1);
    bench.clock.advance(5000);
    expect(resource.closes).toBe(1);
  });

  test('what is away holds nothing open', () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a', { graceMs: 5000 }), bench.peer('session')];
    const lane = bench.lane(uri, peer);
    bench.clock.advance(300_000);
    expect(stateOf(lane)).toBe('releasing');
    peer.presence?.touch();
    expect(stateOf(lane)).toBe('observed');
    bench.clock.advance(305_000);
    expect(resource.closes).toBe(1);
  });

  test('leaks: a warning from the second second on, unless a client ever followed it; the operator may end them', () => {
    const bench = new StreamBench({ leakKillMs: 10_000 });
    const peer = bench.peer();
    const leaking = bench.resource('leaking', { leaks: true });
    const followed = bench.resource('followed', { leaks: true });
    const released = bench.resource('released', { leaks: true, graceMs: 1000 });
    bench.resource('terminal');
    bench.lane('shell://followed/output', peer)[Symbol.dispose]();
    bench.clock.advance(1999);
    expect(bench.streams.warnings(asked(peer))).toEqual([]);
    bench.clock.advance(1);
    expect(bench.streams.warnings(asked(peer))).toMatchObject([
      { code: 'SUB_LEAK_RISK', resource: 'shell://leaking/output', kind: 'shell', age_ms: 2000, severity: 'warn' },
    ]);
    bench.clock.advance(8000);
    expect([leaking, followed, released].map(({ closes }) => closes)).toEqual([1, 0, 0]);
    bench.clock.advance(100_000);
    expect([leaking, followed, released].map(({ closes }) => closes)).toEqual([1, 0, 0]);
  });

  test('leaks: each is ended once, however long its end takes, and those that come later in their time', () => {
    const bench = new StreamBench({ leakKillMs: 10_000 });
    let asked = 0;
    const slow = bench.resource('slow', { leaks: true });
    const hanging = { close: () => (asked++, new Promise<void>(() => {})) };
    Object.assign(slow, { leak: hanging });
    bench.clock.advance(5000);
    const later = bench.resource('later', { leaks: true });
    bench.clock.advance(5000);
    expect([asked, later.closes]).toEqual([1, 0]);
    bench.clock.advance(4999);
    bench.resource('new', { leaks: true });
    expect([asked, later.closes]).toEqual([1, 0]);
    bench.clock.advance(1);
    expect([asked, later.closes]).toEqual([1, 1]);
    const severities = bench.streams.warnings({ principal: 'ann' }).map(({ kind, severity }) => [kind, severity]);
    expect(severities).toEqual([['shell', 'kill']]);
  });
});
