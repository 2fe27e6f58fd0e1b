import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { compileFilter } from '../../src/streams/line-filter.ts';
import type { Peer } from '../../src/streams/peer.ts';
import { defaultStreamSettings, lagPolicies } from '../../src/streams/settings.ts';
import type { StreamLane } from '../../src/streams/stream-lane.ts';
import { Streams } from '../../src/streams/streams.ts';
import { parseUri } from '../../src/streams/uri.ts';
import { systemClock } from '../../src/system/clock.ts';
import { cpuTimer, leastCpu } from '../support/clocks/cpu-timer.ts';
import { FakeResource, FakeSource } from '../support/streams/fake-resource.ts';
import { asked, StreamBench } from '../support/streams/stream-bench.ts';

const request = { lifetime: 'manual', graceMs: 2000, ttlMs: 60_000, filter: undefined } as const;
const logLine = '2026-11-18 00:00:01 worker 12 processed request id=abc123 in 35ms with status ok\n';

const service = (source: FakeSource, settings = {}) =>
  new Streams(
    { clock: systemClock, background: () => {} },
    { settings: { ...defaultStreamSettings, ...settings }, sources: [source] },
  );

/** Reads its lanes whenever it is told of one. */
async function drain(peer: Peer, lanes: ReadonlyMap<string, StreamLane>, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  for await (const note of peer.notes(signal)) {
    if (note.kind !== 'updated') continue;
    for (const id of note.subIds) for (const part of lanes.get(id)?.read(false).parts ?? []) bytes += part.bytes.length;
    // As a connection does between two messages.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return bytes;
}

test('1,000 lanes on 100 noisy terminals leave the main loop free and memory bounded (issue 14)', async () => {
  const source = new FakeSource('shell');
  await using streams = service(source);
  const resources = Array.from({ length: 100 }, (_, at) =>
    source.add(new FakeResource(`r${at}`, systemClock, { capacity: 256 << 10 })),
  );
  const filter = compileFilter('status (bad|worse)', 100);
  const peers = Array.from({ length: 10 }, () => streams.connect('connection', 'ann'));
  const lanes = new Map<string, StreamLane>();
  for (const { id } of resources) {
    for (const [at, peer] of peers.entries()) {
      const uri = parseUri(`shell://${id}/output`);
      const lagPolicy = lagPolicies[at % lagPolicies.length] ?? 'snapshot';
      const lane = streams.openLane({ ...request, uri, lagPolicy, ...(at === 9 && { filter }) }, asked(peer));
      lanes.set(lane.subId, lane);
    }
  }
  expect(streams.counts.subscriptions).toBe(1000);
  const stop = new AbortController();
  // Two of the ten never read.
  const readers = peers.slice(0, 8).map((peer) => drain(peer, lanes, stop.signal));
  const chunk = Buffer.from(logLine.repeat(12));
  const say = (): void => {
    for (const one of resources) one.say(chunk);
  };
  for (let times = 0; times < 300; times += 1) say();
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  let least = Number.POSITIVE_INFINITY;
  // On a busy machine what is due piles up: one quiet stretch is enough.
  for (let go = 0; go < 8 && least >= 20; go += 1) least = Math.min(least, await turnsWhile(say));
  stop.abort();
  const read = (await Promise.all(readers)).reduce((sum, bytes) => sum + bytes, 0);
  globalThis.gc?.();
  const grown = (process.memoryUsage().heapUsed - before) / 1e6;
  process.stderr.write(`1000 lanes, 100 terminals: heap +${grown.toFixed(1)} MB, ${(read / 1e6).toFixed(0)} MB read\n`);
  expect(read).toBeGreaterThan(0);
  expect(grown).toBeLessThan(60);
  expect(least).toBeLessThan(20);
});

/** Makes noise every 20 ms for two seconds. The p99 of what a turn of the loop cost in ms, however little of the machine the process got. */
async function turnsWhile(noise: () => void): Promise<number> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const turns: number[] = [];
  const all = cpuTimer();
  let turn = cpuTimer();
  loop.enable();
  const looking = setInterval(() => {
    turns.push(turn());
    turn = cpuTimer();
  }, 1);
  const noising = setInterval(noise, 20);
  await sleep(2000);
  clearInterval(noising);
  clearInterval(looking);
  loop.disable();
  const p99 = turns.sort((a, b) => a - b)[Math.floor(turns.length * 0.99)] ?? 0;
  process.stderr.write(
    `1000 lanes, 100 terminals: p99 of ${turns.length} turns ${p99.toFixed(1)} ms (with waiting ${(loop.percentile(99) / 1e6).toFixed(1)} ms), CPU ${(all() / 20).toFixed(0)} %\n`,
  );
  return p99;
}

test('1,000 windows that end in the same moment are flushed in one short go', () => {
  const bench = new StreamBench();
  const peers = Array.from({ length: 10 }, () => bench.peer());
  const resources = Array.from({ length: 100 }, (_, at) => bench.resource(`r${at}`, { capacity: 64 << 10 }));
  for (const { id } of resources) for (const peer of peers) bench.lane(`shell://${id}/output`, peer);
  const spent = leastCpu(() => {
    for (const one of resources) one.say(logLine);
    bench.clock.advance(200);
  }, 20);
  process.stderr.write(`1000 lanes flushed at once: ${spent.toFixed(1)} ms\n`);
  expect(peers[0]?.waiting).toBe(101);
  expect(spent).toBeLessThan(20);
});

test.each(lagPolicies)('20 MB/s and a slow reader under %s: every byte is delivered or reported', async (lagPolicy) => {
  const source = new FakeSource('shell');
  await using streams = service(source, { laneBuffer: 64, blockMs: 300 });
  const resource = source.add(new FakeResource('a', systemClock));
  const peer = streams.connect('connection', 'ann');
  const lane = streams.openLane({ ...request, uri: parseUri('shell://a/output'), lagPolicy }, asked(peer));
  const chunk = Buffer.alloc(64 << 10, logLine);
  let [delivered, reported, reads, stopped] = [0, 0, 0, 0];
  const read = (): void => {
    const { parts, truncated } = lane.read(false);
    reads += 1;
    delivered += parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
    reported += truncated;
  };
  const spent = cpuTimer();
  for (let turn = 0; turn < 100; turn += 1) {
    // 200 KB in 10 ms, unless the producer is stopped.
    for (let times = 0; times < 3; times += 1)
      if (resource.blocks === 0) resource.say(chunk);
      else stopped += 1;
    if (turn % 25 === 24) read();
    await sleep(10);
  }
  const cpu = spent();
  resource.finish('over');
  while (!lane.isOver) read();
  const { lagDrops, laggedRecoveries, queueHighWatermark } = lane.lane.counters;
  process.stderr.write(
    `${lagPolicy}: ${(resource.log.end / 1e6).toFixed(1)} MB printed, ${(delivered / 1e6).toFixed(1)} MB delivered in ${reads} reads, ${(reported / 1e6).toFixed(1)} MB reported as gone; lag_drops ${lagDrops}, recoveries ${laggedRecoveries}, watermark ${queueHighWatermark}, blocked ${lane.blockedMs.toFixed(0)} ms (${stopped} chunks held back), flushes by bytes ${lane.byteFlushes}, CPU ${cpu.toFixed(0)} ms\n`,
  );
  expect(delivered + reported).toBe(resource.log.end);
  expect(peer.waiting).toBeLessThanOrEqual(2);
  if (lagPolicy === 'block_slow') expect(lane.blockedMs).toBeGreaterThan(0);
});

test('a flush costs little: 320 a second for each resource, with and without a client that pulls (remote 3.4)', () => {
  const bench = new StreamBench();
  const [resource, peer] = [bench.resource('a'), bench.peer()];
  for (let at = 0; at < 15; at += 1) bench.lane('shell://a/output', peer, { lagPolicy: 'drop_oldest' });
  bench.streams.subscribe('shell://a/output', asked(peer));
  const chunk = Buffer.alloc(64 << 10, 'x');
  const spent = leastCpu(() => {
    for (let times = 0; times < 320; times += 1) resource.say(chunk);
  }, 100);
  expect(peer.waiting).toBe(1);
  expect(spent).toBeLessThan(100);
});

test.each([
  '(a+)+$',
  '(a|a)*b',
  '(.*)*=.*x',
  '(?i)(error|warn|fatal)+.*(disk|net)$',
  '((a?){50}){5}b',
  '\\w+\\s+\\w+$',
])(
  'a filter like %s over lines of 1 MB and a flood of short ones holds the loop for a bounded time (remote 4.4)',
  async (pattern) => {
    const source = new FakeSource('shell');
    await using streams = service(source);
    const resource = source.add(new FakeResource('a', systemClock));
    const filter = compileFilter(pattern, 1024);
    const peer = streams.connect('connection', 'ann');
    const uri = parseUri('shell://a/output');
    const lane = streams.openLane({ ...request, uri, lagPolicy: 'snapshot', filter }, asked(peer));
    const flood = Buffer.from(`${'aaaa bbb = error disk '.repeat(5)}\n`.repeat(9000));
    const wide = Buffer.from(`${'a'.repeat(1 << 20)}!\n`);
    let longest = 0;
    const measured = (work: () => void): void => {
      const spent = cpuTimer();
      work();
      longest = Math.max(longest, spent());
    };
    for (const bytes of [wide, flood]) {
      for (let at = 0; at < bytes.length; at += 64 << 10) {
        measured(() => resource.say(bytes.subarray(at, at + (64 << 10))));
      }
    }
    let [at, reads] = [0, 0];
    resource.finish('over');
    for (; !lane.isOver && reads < 5000; reads += 1) {
      measured(() => {
        const { cursor } = lane.read(false);
        expect(cursor).toBeGreaterThanOrEqual(at);
        at = cursor;
      });
    }
    process.stderr.write(`${pattern}: longest ${longest.toFixed(0)} ms, ${reads} reads\n`);
    expect(lane.isOver).toBe(true);
    expect(longest).toBeLessThan(150);
  },
);
