import { describe, expect, test } from 'vitest';
import { asked, bytesOf, codeOf, StreamBench, textOf, told } from '../../test/support/streams/stream-bench.ts';
import { compileFilter } from './line-filter.ts';
import type { Peer } from './peer.ts';

const uri = 'shell://a/output';

/** Notes without `listed`: those of the URIs. */
const updates = async (peer: Peer) => (await told(peer)).flatMap((note) => (note.kind === 'updated' ? [note] : []));

describe('what a client is told (remote 3.4, 4.1)', () => {
  test('one note for each flush, however many lanes; it names those that have something', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const slot = bench.streams.subscribe(`${uri}?cursor=auto`, asked(peer));
    const ready = bench.lane(uri, peer);
    const filtered = bench.lane(uri, peer, { filter: compileFilter('never', 100) });
    const paused = bench.lane(uri, peer);
    paused.pause();
    await told(peer);
    resource.say('one\n');
    expect(peer.waiting).toBe(0);
    bench.clock.advance(200);
    expect(await told(peer)).toEqual([
      { kind: 'updated', uri: `${uri}?cursor=auto`, subIds: [slot.subId, ready.subId], lastSeq: 1, cursor: 4 },
    ]);
    expect([ready, filtered, paused].map(({ notificationsSent }) => notificationsSent)).toEqual([1, 0, 0]);
    bench.clock.advance(20_000);
    expect(peer.waiting).toBe(0);
  });

  test('a client whose lanes have nothing is told nothing, except that the connection lives', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer, { filter: compileFilter('never', 100) });
    await told(peer);
    resource.say('one\n');
    bench.clock.advance(200);
    expect(await told(peer)).toEqual([]);
    bench.clock.advance(30_000);
    expect(await updates(peer)).toEqual([{ kind: 'updated', uri, subIds: [], lastSeq: 1, cursor: 4 }]);
    expect(lane.notificationsSent).toBe(0);
  });

  test('a note says what is so when it is pulled: a lane read in the meantime is not in it', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer);
    await told(peer);
    resource.say('one\n');
    bench.clock.advance(200);
    expect(textOf(lane)).toBe('one\n');
    expect(await told(peer)).toEqual([]);
  });

  test('a paused lane goes on with a note; a replay and a cleared filter have one at once, too', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer, { filter: compileFilter('never', 100) });
    await told(peer);
    resource.say('one\ntwo');
    bench.clock.advance(200);
    lane.filter = undefined;
    expect((await updates(peer)).length).toBe(1);
    expect(textOf(lane)).toBe('two');
    lane.replay(0);
    expect((await updates(peer)).length).toBe(1);
    lane.pause();
    expect([textOf(lane), lane.lane.isEmpty]).toEqual(['', false]);
    lane.resume();
    expect((await updates(peer)).length).toBe(1);
    expect(textOf(lane)).toBe('one\ntwo');
  });

  test('two names of one thing have one log, one limit and one stored offset, and each note has its own name', async () => {
    const bench = new StreamBench({ maxSubsPerUri: 2 });
    const resource = bench.resource('a');
    bench.sources.terminal.add(resource);
    const peer = bench.peer();
    bench.streams.subscribe(uri, asked(peer));
    bench.streams.subscribe('terminal://a/output', asked(peer));
    expect(codeOf(() => bench.lane(uri, peer))).toBe('LANE_LIMIT_PER_URI');
    await told(peer);
    resource.say('one');
    bench.clock.advance(200);
    expect((await updates(peer)).map((note) => note.uri)).toEqual([uri, 'terminal://a/output']);
    expect(bench.streams.read(`${uri}?cursor=auto`, asked(peer)).text?.cursor).toBe(3);
    expect(bench.streams.read('terminal://a/output?cursor=auto', asked(peer)).text?.parts).toEqual([]);
  });

  test('what one read of a lane leaves over is announced at once, also after the end (remote 4.1)', async () => {
    const bench = new StreamBench({ readBytes: 8192 });
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer);
    resource.say('x'.repeat(20_000));
    resource.finish('exit');
    let read = 0;
    // A client that reads once for each note.
    for (let notes = await updates(peer); notes.length > 0; notes = await updates(peer)) {
      expect(notes).toMatchObject([{ uri, subIds: [lane.subId] }]);
      read += bytesOf(lane.read(false).parts).length;
    }
    expect([read, lane.isOver]).toEqual([20_000, true]);
  });

  test('one read has at most 256 events (remote 4.1)', () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('s', { scheme: 'session' }), bench.peer()];
    const lane = bench.lane('session://s/health', peer);
    for (let at = 0; at < 300; at += 1) resource.happen({ kind: 'healthy' });
    bench.clock.advance(200);
    const counts = (): number[] => [lane.read(false).events.length, lane.read(false).events.length];
    expect(counts()).toEqual([256, 44]);
    // A replay is one stretch.
    lane.replay(0);
    expect(counts()).toEqual([256, 44]);
  });

  test('what follows a gap is announced as well', async () => {
    const bench = new StreamBench({ laneBuffer: 2 });
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    const lane = bench.lane(uri, peer, { lagPolicy: 'drop_newest' });
    const say = (text: string): void => {
      resource.say(text);
      bench.clock.advance(200);
    };
    for (const text of ['a', 'b', 'lost']) say(text);
    await updates(peer);
    expect(bytesOf(lane.read(false).parts).toString()).toBe('ab');
    expect(await updates(peer)).toMatchObject([{ subIds: [lane.subId] }]);
    expect(lane.read(false)).toMatchObject({ laggedEvents: 1, truncated: 4 });
    expect(await updates(peer)).toEqual([]);
  });

  test('the list is told of at most once a second', async () => {
    const bench = new StreamBench();
    const peer = bench.peer();
    for (let at = 0; at < 5; at += 1) bench.resource(`r${at}`);
    expect(await told(peer)).toEqual([{ kind: 'listed' }]);
    bench.resource('late');
    expect(await told(peer)).toEqual([]);
    bench.clock.advance(1000);
    expect(await told(peer)).toEqual([{ kind: 'listed' }]);
  });

  test('a note at which its reader stops comes again, as it is by then; one that was taken does not', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    await told(peer);
    bench.streams.subscribe(uri, asked(peer));
    resource.say('one');
    bench.clock.advance(200);
    const cut = peer.notes(AbortSignal.timeout(20_000));
    expect((await cut.next()).value).toMatchObject({ kind: 'updated', cursor: 3 });
    await cut.return();
    resource.say('two');
    expect((await updates(peer)).map(({ cursor }) => cursor)).toEqual([6]);
    expect(await updates(peer)).toEqual([]);
  });

  test('a client that hears only of what it subscribed to hears of its lanes then, and at once', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer()];
    peer.hearsOfLanes = false;
    const lane = bench.lane(uri, peer);
    resource.say('one');
    bench.clock.advance(200);
    expect([await updates(peer), lane.notificationsSent]).toEqual([[], 0]);
    const slot = bench.streams.subscribe(uri, asked(peer));
    expect((await updates(peer)).map(({ subIds }) => subIds)).toEqual([[slot.subId, lane.subId]]);
  });

  test('what comes after the end of a connection is refused, not taken for its principal', () => {
    const bench = new StreamBench();
    bench.resource('a');
    const peer = bench.peer();
    peer[Symbol.dispose]();
    expect(codeOf(() => bench.streams.subscribe(uri, asked(peer)))).toBe('cancelled');
    expect(codeOf(() => bench.lane(uri, peer))).toBe('cancelled');
    expect(codeOf(() => bench.streams.subscribe(uri, { principal: 'me' }))).toBe('FEATURE_DISABLED');
    expect(bench.streams.counts).toMatchObject({ topics: 0, subscriptions: 0 });
  });

  test('who comes while a window is open is told at once', async () => {
    const bench = new StreamBench();
    const [resource, first, second] = [bench.resource('a'), bench.peer(), bench.peer('listener')];
    bench.streams.subscribe(uri, asked(first));
    resource.say('one');
    bench.streams.subscribe(uri, asked(second));
    expect((await updates(second)).length).toBe(1);
    bench.clock.advance(1000);
    expect((await updates(second)).length).toBe(0);
  });
});

describe('clients (remote 3.2, 3.4)', () => {
  test('no client moves the offset, the lane or the filter of another; unsubscribing keeps the offset', () => {
    const bench = new StreamBench();
    const [resource, one, other] = [bench.resource('a'), bench.peer(), bench.peer()];
    const lane = bench.lane(uri, one);
    bench.streams.subscribe(uri, asked(one));
    resource.say('one');
    bench.clock.advance(200);
    expect(bench.streams.read(`${uri}?cursor=auto`, asked(one)).text?.cursor).toBe(3);
    expect(lane.lane.isEmpty).toBe(true);
    expect(codeOf(() => bench.streams.lane(lane.subId, asked(other)))).toBe('SUB_NOT_FOUND');
    expect(codeOf(() => bench.streams.read(`${uri}?sub=${lane.subId}`, asked(other)))).toBe('SUB_NOT_FOUND');
    expect(bytesOf(bench.streams.read(`${uri}?cursor=auto`, asked(other)).text?.parts ?? []).toString()).toBe('one');
    bench.streams.unsubscribe(uri, asked(one));
    lane[Symbol.dispose]();
    expect(bench.streams.read(`${uri}?cursor=auto`, asked(one)).text?.parts).toEqual([]);
  });

  test('a client that leaves takes everything with it at once', () => {
    const bench = new StreamBench();
    const resource = bench.resource('a');
    const timers = bench.clock.timers;
    const peer = bench.peer('session');
    for (const lifetime of ['manual', 'auto_close', 'lease'] as const) bench.lane(uri, peer, { lifetime });
    bench.streams.subscribe(uri, asked(peer));
    resource.say('one');
    peer[Symbol.dispose]();
    expect(bench.streams.counts).toEqual({ peers: 0, topics: 0, subscriptions: 0 });
    expect(resource.changed.size).toBe(0);
    expect(bench.clock.timers).toBe(timers);
  });

  test('a client that is told nothing for long keeps no name of what it follows no more', () => {
    const bench = new StreamBench();
    const peer = bench.peer('session');
    peer.hearsOfList = false;
    for (let at = 0; at < 100; at += 1) {
      const resource = bench.resource(`r${at}`);
      const name = `shell://r${at}/output`;
      bench.streams.subscribe(name, asked(peer));
      const lane = bench.lane(name, peer);
      resource.say('x');
      bench.clock.advance(200);
      lane[Symbol.dispose]();
      expect(peer.waiting).toBe(1);
      bench.streams.unsubscribe(name, asked(peer));
      expect(peer.waiting).toBe(0);
    }
  });

  test('what is remembered of resources goes with them, however many come and go', () => {
    const bench = new StreamBench();
    const peer = bench.peer();
    const stays = bench.resource('stays');
    bench.streams.read('shell://stays/output', asked(peer));
    for (let at = 0; at < 1000; at += 1) {
      const resource = bench.resource(`r${at}`);
      bench.streams.read(`shell://r${at}/output?cursor=auto`, asked(peer));
      bench.sources.shell.remove(resource);
      expect(peer.offsets.size).toBeLessThan(100);
    }
    expect(peer.offsets.has(stays.key)).toBe(true);
  });

  test('what its door says of a client that has ended starts no clock', () => {
    const bench = new StreamBench();
    const timers = bench.clock.timers;
    const peer = bench.peer('session');
    if (!peer.presence) throw new Error('a session has a presence');
    peer.presence.streams = 1;
    peer[Symbol.dispose]();
    peer.presence.streams = 0;
    peer.presence.touch();
    expect(bench.clock.timers).toBe(timers);
  });

  test('a session is away 30 s after its last stream, or 300 s after its last request if it never had one', () => {
    const bench = new StreamBench();
    const [plain, streamed] = [bench.peer('session'), bench.peer('session')];
    if (!streamed.presence || !plain.presence) throw new Error('a session has a presence');
    streamed.presence.streams = 2;
    bench.clock.advance(299_999);
    plain.presence.touch();
    streamed.presence.streams = 1;
    bench.clock.advance(299_999);
    expect([plain.isAway, streamed.isAway]).toEqual([false, false]);
    streamed.presence.streams = 0;
    bench.clock.advance(1);
    expect([plain.isAway, streamed.isAway]).toEqual([true, false]);
    bench.clock.advance(29_998);
    streamed.presence.touch();
    bench.clock.advance(29_999);
    expect(streamed.isAway).toBe(false);
    bench.clock.advance(1);
    expect(streamed.isAway).toBe(true);
    streamed.presence.streams = 1;
    expect(streamed.isAway).toBe(false);
  });

  test('what is away stays, and hears of everything on its return', async () => {
    const bench = new StreamBench();
    const [resource, peer] = [bench.resource('a'), bench.peer('session')];
    const lane = bench.lane(uri, peer);
    bench.clock.advance(400_000);
    await told(peer);
    resource.say('one');
    bench.clock.advance(200);
    expect([peer.isAway, lane.isOver]).toEqual([true, false]);
    peer.presence?.touch();
    expect((await updates(peer)).map(({ subIds }) => subIds)).toEqual([[lane.subId]]);
  });

  test('a lane without a connection is told of on every listen stream of its principal that names it, and on no other', async () => {
    const bench = new StreamBench();
    const resource = bench.resource('a');
    bench.resource('b');
    const lane = bench.lane(uri, 'ann');
    const own = [bench.peer('listener'), bench.peer('listener')];
    const [elsewhere, stranger] = [bench.peer('listener'), bench.peer('listener', 'bob')];
    for (const peer of [...own, stranger]) bench.streams.subscribe(uri, asked(peer));
    bench.streams.subscribe('shell://b/output', asked(elsewhere));
    for (const peer of [...own, elsewhere, stranger]) await told(peer);
    resource.say('one');
    bench.clock.advance(200);
    const heard = [];
    for (const peer of [...own, elsewhere, stranger])
      heard.push((await updates(peer)).map(({ subIds }) => subIds.length));
    expect(heard).toEqual([[2], [2], [], [1]]);
    expect(codeOf(() => bench.streams.lane(lane.subId, { principal: 'bob' }))).toBe('SUB_NOT_FOUND');
    expect(bench.streams.lanes({ principal: 'ann' })).toEqual([lane]);
    // A plain read may be another client's: it acknowledges nothing.
    bench.streams.read(uri, { principal: 'ann' });
    expect(textOf(lane)).toBe('one');
  });

  test('a lane without a connection ends 30 s after the last stream on its URI, or 300 s after the last call that named it', () => {
    const bench = new StreamBench();
    bench.resource('a');
    const silent = bench.lane(uri, 'ann');
    bench.clock.advance(250_000);
    bench.streams.lane(silent.subId, { principal: 'ann' });
    bench.clock.advance(299_999);
    expect(silent.isOver).toBe(false);
    bench.clock.advance(1);
    expect(silent.isOver).toBe(true);
    const heard = bench.lane(uri, 'ann');
    const stream = bench.peer('listener');
    bench.streams.subscribe(uri, asked(stream));
    bench.clock.advance(1_000_000);
    expect(heard.isOver).toBe(false);
    stream[Symbol.dispose]();
    bench.clock.advance(30_000);
    expect(heard.isOver).toBe(true);
    expect(bench.streams.counts).toEqual({ peers: 0, topics: 0, subscriptions: 0 });
  });

  test('callers without a connection leave nothing behind', () => {
    const bench = new StreamBench();
    bench.resource('a').say('one');
    for (let at = 0; at < 100; at += 1) bench.streams.read(`${uri}?cursor=auto`, { principal: `p${at}` });
    const read = bench.streams.read(`${uri}?cursor=auto`, { principal: 'p0' });
    expect([read.text?.isStateless, bytesOf(read.text?.parts ?? []).toString()]).toEqual([true, 'one']);
    expect(bench.streams.counts.peers).toBe(0);
  });
});

describe('limits (remote 4.5, 6)', () => {
  test('16 for each URI and 1024 in all, lanes and subscriptions together; a failure leaves nothing behind', () => {
    const bench = new StreamBench();
    for (let at = 0; at < 66; at += 1) bench.resource(`r${at}`);
    const peers = Array.from({ length: 16 }, () => bench.peer());
    for (let at = 0; at < 64; at += 1) {
      for (const [turn, peer] of peers.entries()) {
        if (turn % 2 === 0) bench.lane(`shell://r${at}/output`, peer);
        else bench.streams.subscribe(`shell://r${at}/output`, asked(peer));
      }
    }
    const [late, before] = [bench.peer(), { ...bench.streams.counts }];
    const codes = [
      codeOf(() => bench.lane('shell://r0/output', late)),
      codeOf(() => bench.streams.subscribe('shell://r0/output', asked(late))),
      codeOf(() => bench.lane('shell://r65/output', late)),
      codeOf(() => bench.streams.subscribe('shell://r65/output', asked(late))),
      codeOf(() => bench.lane('shell://nothing/output', late)),
    ];
    expect(codes).toEqual([
      'LANE_LIMIT_PER_URI',
      'MAX_SUBS_PER_URI_EXCEEDED',
      'LANE_LIMIT_TOTAL',
      'MAX_SUBS_TOTAL_EXCEEDED',
      'RESOURCE_GONE',
    ]);
    expect(bench.streams.counts).toEqual({ ...before, peers: before.peers });
    expect(before).toMatchObject({ topics: 64, subscriptions: 1024 });
    // A repeat refreshes and takes no slot; a place that is free can be taken.
    bench.streams.subscribe('shell://r0/output?cursor=auto', asked(peers[1] as Peer));
    bench.streams.unsubscribe('shell://r0/output', asked(peers[1] as Peer));
    bench.lane('shell://r65/output', late);
    expect(bench.streams.counts.subscriptions).toBe(1024);
  });
});
