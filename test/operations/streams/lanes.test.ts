import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import type { Caller } from '../../../src/engine/call/call.ts';
import { list, stats, statsAll } from '../../../src/operations/streams/lane-stats.ts';
import { close, filter, open, pauseLane as pause, replay, resume } from '../../../src/operations/streams/lanes.ts';
import { read } from '../../../src/operations/streams/resources.ts';
import type { Peer } from '../../../src/streams/peer.ts';
import { type FollowedTerminal, Following } from '../../support/following.ts';
import { plain } from '../../support/ssh/remote.ts';

let at: Following;
let client: Peer;
let one: FollowedTerminal;
beforeEach(async () => {
  at = new Following({ laneBuffer: 4, maxSubsPerUri: 3, maxSubsTotal: 5, filterMax: 32, replayBytes: 20 });
  client = at.streams.connect('connection', 'me');
  client.hearsOfList = false;
  one = await at.terminal('me');
});
afterEach(() => at[Symbol.asyncDispose]());

const offers = (): boolean => true;
const run = (async (op: AnyOperation, input: object, who: Partial<Caller> = {}) =>
  (await at.run(op, input, { connected: client, offers, ...who })) as Record<string, unknown>) as (
  op: AnyOperation,
  input: object,
  who?: Partial<Caller>,
) => Promise<Record<string, unknown>>;

const opened = async (input: object = {}): Promise<string> =>
  (await run(open, { uri: one.uri, ...input }))['sub_id'] as string;

/** Each text is announced by itself. */
const announced = async (...texts: string[]): Promise<void> => {
  for (const text of texts) {
    await one.say(text);
    at.clock.advance(200);
  }
};

const drained = async (sub_id: string, query = ''): Promise<readonly [unknown, Record<string, unknown>]> => {
  const { text, meta } = await run(read, { uri: `${one.uri}?sub=${sub_id}${query}` });
  return [text, meta as Record<string, unknown>];
};
const words = (op: AnyOperation, output: object): string => plain(op.render(output) as string);
const wire = (code: string, reason: string | RegExp = '') =>
  expect.objectContaining({
    data: expect.objectContaining({ wire: code }),
    message: typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason),
  });
const nobody = '01900000-0000-7000-8000-000000000000';

describe('sub_open (row 25)', () => {
  test('both halves of its answer', async () => {
    const output = await run(open, { uri: `${one.uri}?cursor=7` });
    const { sub_id } = output as { sub_id: string };
    expect(output).toEqual({
      tool: 'sub_open',
      status: 'ok',
      sub_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      uri: one.uri,
      lifetime: 'manual',
      lag_policy: 'snapshot',
      grace_ms: 0,
      hint: 'REQUIRED: track this SUB_ID; sub_close when done.',
      next: `sub_close sub_id=${sub_id} | sub_stats sub_id=${sub_id}`,
    });
    expect(words(open, output)).toBe(`SUB_OPEN: OK
SUB_ID: <id1>
URI: ${one.uri}
LIFETIME: manual
LAG_POLICY: snapshot
HINT: REQUIRED: track this SUB_ID; sub_close when done.
NEXT: sub_close sub_id=<id1> | sub_stats sub_id=<id1>`);
  });

  test('a lease tells when it ends; arguments of other lifetimes are ignored, numbers are clamped', async () => {
    const lease = await run(open, { uri: one.uri, lifetime: 'lease', ttl_secs: 90_000, grace_ms: 5 });
    expect(lease).toMatchObject({ ttl_secs: 86_400, grace_ms: 0, expires_at: '2027-01-16T08:00:00+00:00' });
    expect(words(open, lease)).toContain('\nTTL_SECS: 86400\nEXPIRES_AT: <time>+00:00\n');
    const auto = await run(open, { uri: one.uri, lifetime: 'auto_close', grace_ms: 5, ttl_secs: 5 });
    expect(auto).toMatchObject({ grace_ms: 100 });
    expect(auto).not.toHaveProperty('ttl_secs');
    expect(words(open, auto)).toContain('\nGRACE_MS: 100\n');
  });

  test.each([
    [{ uri: 'terminal://x' }, 'INVALID_ARGUMENT', 'BadSubPath'],
    [{ uri: 7 }, undefined, 'uri: must be a string'],
    [{}, undefined, 'uri: is required'],
    [{ uri: 'U', lifetime: 'forever' }, 'INVALID_LIFETIME', 'lifetime: '],
    [{ uri: 'U', lifetime: 'Manual' }, 'INVALID_LIFETIME', 'lifetime: '],
    [{ uri: 'U', lag_policy: 'drop' }, 'INVALID_LAG_POLICY', 'lag_policy: '],
    [{ uri: 'U', filter: '(?=x)' }, 'FILTER_INVALID', ''],
    [{ uri: 'U', filter: '(x)\\1' }, 'FILTER_INVALID', ''],
    [{ uri: 'U', filter: 'x'.repeat(33) }, 'FILTER_INVALID', 'The filter has 33 characters'],
    [{ uri: 'U', grace_ms: -1 }, undefined, 'grace_ms: '],
    [{ uri: `terminal://${nobody}/output` }, 'RESOURCE_GONE', 'closed or never was'],
    [{ uri: 'shell://x/output' }, 'FEATURE_DISABLED', 'no shell://'],
  ])('%j: %s', async (input, code, reason) => {
    const given = 'uri' in input && input.uri === 'U' ? { ...input, uri: one.uri } : input;
    const expected =
      code === undefined ? { code: 'invalid_input', message: expect.stringContaining(reason) } : wire(code, reason);
    await expect(run(open, given)).rejects.toEqual(code === undefined ? expect.objectContaining(expected) : expected);
    expect(at.streams.counts.subscriptions).toBe(0);
  });

  test('the checks in their order: URI, filter, resource, limits', async () => {
    for (let i = 0; i < 3; i += 1) await opened();
    const gone = `terminal://${nobody}/output`;
    await expect(run(open, { uri: 'x', filter: '(' })).rejects.toEqual(wire('INVALID_ARGUMENT'));
    await expect(run(open, { uri: gone, filter: '(' })).rejects.toEqual(wire('FILTER_INVALID'));
    await expect(run(open, { uri: gone })).rejects.toEqual(wire('RESOURCE_GONE'));
    await expect(run(open, { uri: one.uri })).rejects.toEqual(wire('LANE_LIMIT_PER_URI', '3 subscriptions'));
    const two = await at.terminal('me');
    for (let i = 0; i < 2; i += 1) await run(open, { uri: two.uri });
    await expect(run(open, { uri: two.uri })).rejects.toEqual(wire('LANE_LIMIT_TOTAL', '5 subscriptions'));
    expect(at.streams.counts).toMatchObject({ subscriptions: 5, topics: 2 });
  });

  test('read-only keeps it, without block_slow', async () => {
    const looks = { may: (access: string) => access === 'observe' } as Partial<Caller>;
    await expect(run(open, { uri: one.uri, lag_policy: 'block_slow' }, looks)).rejects.toEqual(
      wire('POLICY_BLOCKED', 'block_slow'),
    );
    expect(await run(open, { uri: one.uri }, looks)).toMatchObject({ status: 'ok' });
  });

  test('a closed resource is gone', async () => {
    await one.end();
    await expect(run(open, { uri: one.uri })).rejects.toEqual(wire('RESOURCE_GONE'));
  });
});

describe('whose lanes they are (4.5)', () => {
  test('another client, and another principal, know nothing of them', async () => {
    const sub_id = await opened();
    for (const who of [
      { connected: at.streams.connect('connection', 'me') },
      { connected: at.streams.connect('connection', 'you'), principal: 'you' },
    ]) {
      for (const op of [pause, resume, replay, stats] as AnyOperation[])
        await expect(run(op, { sub_id }, who)).rejects.toEqual(wire('SUB_NOT_FOUND'));
      await expect(run(filter, { sub_id, regex: '' }, who)).rejects.toEqual(wire('SUB_NOT_FOUND'));
      expect(await run(close, { sub_id }, who)).toMatchObject({ status: 'not_found' });
      expect(await run(list, {}, who)).toMatchObject({ subs_total: 0, subs: [] });
      expect(await run(statsAll, {}, who)).toMatchObject({ lanes_total: 0, queue_depth_max: 0 });
      await expect(run(read, { uri: `${one.uri}?sub=${sub_id}` }, who)).rejects.toEqual(wire('SUB_NOT_FOUND'));
    }
    expect(await run(stats, { sub_id })).toMatchObject({ status: 'ok' });
  });

  test('without a connection they are the principal’s', async () => {
    const none = { connected: undefined };
    const sub_id = String((await run(open, { uri: one.uri }, none))['sub_id']);
    expect(await run(list, {}, none)).toMatchObject({ subs_total: 1 });
    await announced('a\n');
    expect(await run(read, { uri: `${one.uri}?sub=${sub_id}` }, none)).toMatchObject({ text: 'a\n' });
    // Nothing that names it for five minutes: it is over.
    at.clock.advance(300_000);
    expect(at.streams.counts.subscriptions).toBe(0);
  });

  test.each([close, pause, resume, filter, replay, stats] as AnyOperation[])('a malformed id', async (op) => {
    await expect(run(op, { sub_id: 'a b', regex: '' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'sub_id: must be letters, digits, - or _',
    });
    await expect(run(op, { regex: '' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('an unknown id brings those that look like it', async () => {
    const sub_id = await opened();
    await expect(run(stats, { sub_id: `${sub_id}x` })).rejects.toMatchObject({ data: { closest: [sub_id] } });
  });
});

describe('sub_close (row 26)', () => {
  test('both halves, and the state of the resource', async () => {
    const [first, second] = [await opened(), await opened()];
    const output = await run(close, { sub_id: first });
    expect(output).toEqual({
      tool: 'sub_close',
      status: 'ok',
      sub_id: first,
      uri: one.uri,
      lifecycle_state: 'observed',
    });
    expect(words(close, output)).toBe(`SUB_CLOSE: OK\nSUB_ID: <id1>\nURI: ${one.uri}\nLIFECYCLE_STATE: observed`);
    expect(await run(close, { sub_id: second })).toMatchObject({ lifecycle_state: 'owned' });
    const again = await run(close, { sub_id: second });
    expect(again).toEqual({ tool: 'sub_close', status: 'not_found', sub_id: second });
    expect(words(close, again)).toBe('SUB_CLOSE: NOT_FOUND\nSUB_ID: <id1>');
    expect(at.streams.counts).toMatchObject({ topics: 0, subscriptions: 0 });
  });
});

describe('pause, resume and lifetimes (rows 27, 28; 4.2, 4.5)', () => {
  test('a paused lane announces and delivers nothing, and keeps it all', async () => {
    const sub_id = await opened();
    const paused = await run(pause, { sub_id });
    expect(paused).toEqual({
      tool: 'sub_pause',
      status: 'ok',
      sub_id,
      paused: true,
      next: `sub_resume sub_id=${sub_id}`,
    });
    expect(words(pause, paused)).toBe('SUB_PAUSE: OK\nSUB_ID: <id1>\nPAUSED: true\nNEXT: sub_resume sub_id=<id1>');
    expect(await run(pause, { sub_id })).toEqual({ tool: 'sub_pause', status: 'noop', sub_id, paused: true });
    await announced('one\n');
    expect(await drained(sub_id)).toEqual(['', expect.objectContaining({ cursor: 0, sub_id })]);
    expect(await run(stats, { sub_id })).toMatchObject({ queue_depth: 1, notifications_sent: 0, paused: true });
    const notes = client.notes(AbortSignal.timeout(20_000));
    const resumed = await run(resume, { sub_id });
    expect(resumed).toEqual({ tool: 'sub_resume', status: 'ok', sub_id, paused: false });
    expect(words(resume, resumed)).toBe('SUB_RESUME: OK\nSUB_ID: <id1>\nPAUSED: false');
    // What waited is announced at once.
    expect((await notes.next()).value).toMatchObject({ kind: 'updated', uri: one.uri, subIds: [sub_id] });
    expect(await run(resume, { sub_id })).toMatchObject({ status: 'noop' });
    expect((await drained(sub_id))[0]).toBe('one\n');
  });

  test('a lease ends at its time whatever happens, unless sub_resume renews it (10.10)', async () => {
    const sub_id = await opened({ lifetime: 'lease', ttl_secs: 10 });
    at.clock.advance(9_000);
    await announced('busy\n');
    await drained(sub_id);
    expect(await run(resume, { sub_id })).toMatchObject({
      status: 'ok',
      expires_at: expect.stringMatching(/\+00:00$/),
    });
    at.clock.advance(9_999);
    expect(await run(stats, { sub_id })).toMatchObject({ status: 'ok' });
    at.clock.advance(1);
    await expect(run(stats, { sub_id })).rejects.toEqual(wire('SUB_NOT_FOUND'));
    expect(await run(close, { sub_id })).toMatchObject({ status: 'not_found' });
  });

  test('auto_close counts only while something announced is unread', async () => {
    const sub_id = await opened({ lifetime: 'auto_close', grace_ms: 1000 });
    const notes = client.notes(AbortSignal.timeout(20_000));
    at.clock.advance(60_000);
    await announced('x');
    await notes.next();
    at.clock.advance(900);
    await drained(sub_id);
    at.clock.advance(60_000);
    expect(await run(stats, { sub_id })).toMatchObject({ status: 'ok' });
    await announced('y');
    await notes.next();
    at.clock.advance(1000);
    await expect(run(stats, { sub_id })).rejects.toEqual(wire('SUB_NOT_FOUND'));
  });
});

describe('filters (row 29; 4.4)', () => {
  test('only lines that match, whole, and judged when they are complete', async () => {
    const sub_id = await opened({ filter: '^ERR' });
    await announced('ok\nER', 'R 1\n', 'ok\n', 'ERR 2\r\nok');
    expect(await drained(sub_id)).toEqual(['ERR 1\nERR 2\n', expect.objectContaining({ lagged_events: 0 })]);
    const { filtered, events_sent, bytes_sent } = await run(stats, { sub_id });
    expect([filtered, events_sent, bytes_sent]).toEqual([2, 2, 13]);
    await expect(drained(sub_id, '&raw=true')).rejects.toEqual(wire('INVALID_ARGUMENT', 'raw=true'));
  });

  test('a new filter judges the line that is not complete, and clearing it loses nothing', async () => {
    const sub_id = await opened({ filter: 'no' });
    await announced('ab');
    const changed = await run(filter, { sub_id, regex: 'abc' });
    expect(changed).toEqual({ tool: 'sub_filter', status: 'ok', sub_id, filter: 'regex:abc' });
    expect(words(filter, changed)).toBe('SUB_FILTER: OK\nSUB_ID: <id1>\nFILTER: regex:abc');
    await announced('c\nde');
    expect((await drained(sub_id))[0]).toBe('abc\n');
    expect(await run(filter, { sub_id, regex: '' })).toMatchObject({ filter: 'none' });
    await announced('f\n');
    expect((await drained(sub_id))[0]).toBe('def\n');
    await expect(run(filter, { sub_id, regex: '[' })).rejects.toEqual(wire('FILTER_INVALID'));
    await expect(run(filter, { sub_id })).rejects.toMatchObject({ message: 'regex: is required (string)' });
  });
});

describe('replay (row 30; 4.5)', () => {
  test('0 is the start of the window, a number is there; older and newer ones are refused', async () => {
    const sub_id = await opened();
    await announced('0123456789', 'abcdefghij', 'ABCDEFGHIJ');
    await drained(sub_id);
    const notes = client.notes(AbortSignal.timeout(20_000));
    const output = await run(replay, { sub_id });
    expect(output).toEqual({ tool: 'sub_replay', status: 'ok', sub_id, from_cursor: 10, bytes: 20 });
    expect(words(replay, output)).toBe('SUB_REPLAY: OK\nSUB_ID: <id1>\nFROM_CURSOR: 10\nBYTES: 20');
    expect((await notes.next()).value).toMatchObject({ subIds: [sub_id] });
    expect((await drained(sub_id))[0]).toBe('abcdefghijABCDEFGHIJ');
    expect(await run(replay, { sub_id, from_cursor: 28 })).toMatchObject({ from_cursor: 28, bytes: 2 });
    expect((await drained(sub_id))[0]).toBe('IJ');
    await expect(run(replay, { sub_id, from_cursor: 9 })).rejects.toMatchObject({
      data: { wire: 'RING_BUFFER_OVERFLOW', context: 'window_start=10' },
    });
    await expect(run(replay, { sub_id, from_cursor: 31 })).rejects.toMatchObject({
      data: { wire: 'INVALID_ARGUMENT', context: 'end=30' },
    });
    await expect(run(replay, { sub_id, from_cursor: -1 })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('through the filter, and a line without an end waits for it', async () => {
    const sub_id = await opened({ filter: 'x' });
    await announced('ax\nb\ncx\nd');
    await drained(sub_id);
    expect(await run(replay, { sub_id })).toMatchObject({ bytes: 9 });
    expect((await drained(sub_id))[0]).toBe('ax\ncx\n');
    await announced('x\n');
    expect((await drained(sub_id))[0]).toBe('dx\n');
  });
});

describe('a full queue (4.3)', () => {
  const five = ['a\n', 'b\n', 'c\n', 'd\n', 'e\n', 'f\n'];

  test('snapshot: everything at once, and said so', async () => {
    const sub_id = await opened();
    await announced(...five);
    expect(await drained(sub_id)).toEqual([
      'a\nb\nc\nd\ne\nf\n',
      expect.objectContaining({ recovered: true, lagged_events: 0, cursor: 12 }),
    ]);
    expect(await run(stats, { sub_id })).toMatchObject({ lagged_recoveries: 1, lag_drops: 0, queue_depth: 0 });
  });

  test('drop_oldest: the newest stay, and the gap is told', async () => {
    const sub_id = await opened({ lag_policy: 'drop_oldest' });
    await announced(...five);
    expect(await drained(sub_id)).toEqual([
      'c\nd\ne\nf\n',
      expect.objectContaining({ recovered: false, lagged_events: 2, truncated_bytes: 4 }),
    ]);
    expect(await run(stats, { sub_id })).toMatchObject({ lag_drops: 2, queue_high_watermark: 4 });
  });

  test('drop_newest: the oldest stay, and the gap is told where it is', async () => {
    const sub_id = await opened({ lag_policy: 'drop_newest' });
    await announced(...five);
    const [text, meta] = await drained(sub_id);
    await announced('g\n');
    const [rest, last] = await drained(sub_id);
    expect(text + String(rest)).toBe('a\nb\nc\nd\ng\n');
    const told = [meta, last].map(({ lagged_events, truncated_bytes = 0 }) => [lagged_events, truncated_bytes]);
    expect(told.filter(([events]) => events !== 0)).toEqual([[2, 4]]);
  });

  test('block_slow: its producer waits, at most as long as it may; then a snapshot, with a warning', async () => {
    const sub_id = await opened({ lag_policy: 'block_slow' });
    await announced(...five.slice(0, 4));
    // What was on its way when the queue was full is kept, and then nothing more is taken.
    await one.say('e\n');
    one.channel.say('f\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(one.terminal.log.end).toBe(10);
    expect((await drained(sub_id))[0]).toBe('a\nb\nc\nd\n');
    // A read makes room.
    await expect.poll(() => one.terminal.log.end).toBe(12);
    at.clock.advance(200);
    await announced('g\n', 'h\n', 'i\n');
    await one.say('j\n');
    one.channel.say('k\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(one.terminal.log.end).toBe(20);
    at.clock.advance(5000);
    await expect.poll(() => one.terminal.log.end).toBe(22);
    const told = await run(stats, { sub_id });
    expect(told).toMatchObject({
      lagged_recoveries: 1,
      warnings: ['LAG_BACKPRESSURE the producer goes on; the next read is a snapshot'],
    });
    expect(told['block_total_ms']).toBeGreaterThan(3000);
    expect(words(stats, told)).toContain('\nWARN: LAG_BACKPRESSURE the producer goes on; the next read is a snapshot');
    const listed = await run(list, {});
    expect(listed['warnings']).toEqual([
      `${sub_id} LAG_BACKPRESSURE the producer goes on; the next read is a snapshot`,
    ]);
    expect(words(list, listed)).toContain('\nWARN: <id1> LAG_BACKPRESSURE');
    expect(await drained(sub_id)).toEqual([
      'e\nf\ng\nh\ni\nj\n',
      expect.objectContaining({
        recovered: true,
        warnings: ['LAG_BACKPRESSURE the producer goes on; the next read is a snapshot'],
      }),
    ]);
  });

  test('a paused lane stops no producer', async () => {
    const sub_id = await opened({ lag_policy: 'block_slow' });
    await announced(...five.slice(0, 4));
    await run(pause, { sub_id });
    await one.say('e\n');
    expect(one.terminal.log.end).toBe(10);
  });
});

describe('counters (rows 31–33; 4.6)', () => {
  test('both halves of sub_stats, sub_list and sub_stats_all', async () => {
    const sub_id = await opened({ filter: 'o' });
    const fresh = await run(stats, { sub_id });
    expect(fresh).not.toHaveProperty('last_event_at');
    await announced('one\n', 'two\n', 'six\n');
    await run(read, { uri: `${one.uri}?sub=${sub_id}` });
    await announced('foo\n');
    const counted = await run(stats, { sub_id });
    expect(counted).toEqual({
      tool: 'sub_stats',
      status: 'ok',
      sub_id,
      uri: one.uri,
      events_sent: 2,
      bytes_sent: 8,
      lag_drops: 0,
      queue_depth: 1,
      last_event_at: expect.stringMatching(/^\d{4}-.*Z$/),
      lagged_recoveries: 0,
      queue_high_watermark: 2,
      block_total_ms: 0,
      byte_triggered_flushes: 0,
      filtered: 1,
      notifications_sent: 0,
      cursor: 8,
      paused: false,
    });
    expect(words(stats, counted)).toBe(
      `SUB_STATS: OK
SUB_ID: <id1>
URI: ${one.uri}
EVENTS_SENT: 2
BYTES_SENT: 8
LAG_DROPS: 0
QUEUE_DEPTH: 1
LAST_EVENT_AT: ${String(counted['last_event_at'])}
LAGGED_RECOVERIES: 0
QUEUE_HIGH_WATERMARK: 2
BLOCK_TOTAL_MS: 0
BYTE_TRIGGERED_FLUSHES: 0
FILTERED: 1
NOTIFICATIONS_SENT: 0
CURSOR: 8
PAUSED: false`.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=Z)/, '<time>'),
    );

    const other = await at.terminal('me');
    await run(open, { uri: other.uri });
    const listed = await run(list, { uri_prefix: one.uri.slice(0, -3), peer_id: 'any' });
    expect(listed).toEqual({
      tool: 'sub_list',
      status: 'ok',
      subs_total: 1,
      subs: [
        {
          sub_id,
          kind: 'terminal',
          resource_id: one.terminal.id,
          uri: one.uri,
          lifetime: 'manual',
          lag_policy: 'snapshot',
          paused: false,
          filter: 'regex:o',
          created_at: '2027-01-15T08:00:00Z',
          events_sent: 2,
          bytes_sent: 8,
        },
      ],
    });
    expect(words(list, listed)).toBe(`SUB_LIST: OK
SUBS_TOTAL: 1
- <id1> ${one.uri} lifetime=manual lag_policy=snapshot paused=false filter=regex:o created_at=<time>Z events_sent=2 bytes_sent=8`);
    expect(await run(list, { uri_prefix: 'shell://' })).toMatchObject({ subs_total: 0 });

    const all = await run(statsAll, { _reserved: 1 });
    expect(all).toEqual({
      tool: 'sub_stats_all',
      status: 'ok',
      lanes_total: 2,
      events_sent: 2,
      bytes_sent: 8,
      lag_drops: 0,
      queue_depth_max: 1,
      lagged_recoveries: 0,
      byte_triggered_flushes: 0,
    });
    expect(words(statsAll, all)).toBe(`SUB_STATS_ALL: OK
LANES_TOTAL: 2
EVENTS_SENT: 2
BYTES_SENT: 8
LAG_DROPS: 0
QUEUE_DEPTH_MAX: 1
LAGGED_RECOVERIES: 0
BYTE_TRIGGERED_FLUSHES: 0`);
  });

  test('bad input: sub_list and sub_stats_all take what they can', async () => {
    await expect(run(list, { uri_prefix: 7 })).rejects.toMatchObject({
      message: 'uri_prefix: must be a string, not a number',
    });
    await expect(run(statsAll, [] as never)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

test('4.1: a plain read of the same client drains its lanes too, and the end is told once', async () => {
  const sub_id = await opened();
  await announced('one\n');
  expect(await run(read, { uri: `${one.uri}?cursor=auto` })).toMatchObject({ text: 'one\n' });
  expect((await drained(sub_id))[0]).toBe('');
  await one.say('two\n');
  await one.end();
  expect(await drained(sub_id)).toEqual([
    'two\n',
    expect.objectContaining({ eof: true, exit_code: 0, status: 'exited' }),
  ]);
  await expect(drained(sub_id)).rejects.toEqual(wire('SUB_NOT_FOUND'));
});
