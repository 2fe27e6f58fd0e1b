import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../support/clocks/manual.ts';
import type { FakeResource } from '../support/streams/fake-resource.ts';
import { bytesOf, StreamBench } from '../support/streams/stream-bench.ts';
import { BlockBudget } from '../../src/streams/block-budget.ts';

const uri = 'shell://a/output';

describe('block_slow (remote 4.3)', () => {
  const fill = (bench: StreamBench, resource: FakeResource, events = 2): void => {
    for (let at = 0; at < events; at += 1) {
      resource.say(`line ${at}\n`);
      bench.clock.advance(200);
    }
  };
  const place = () => {
    const bench = new StreamBench({ laneBuffer: 2, blockMs: 1000 });
    const resource = bench.resource('a');
    const peer = bench.peer('session');
    const lane = bench.lane(uri, peer, { lagPolicy: 'block_slow' });
    return { bench, resource, peer, lane };
  };

  test('a full lane stops the producer until it is drained', () => {
    const { bench, resource, lane } = place();
    fill(bench, resource, 1);
    expect(resource.blocks).toBe(0);
    fill(bench, resource, 1);
    expect(resource.blocks).toBe(1);
    bench.clock.advance(400);
    lane.read(false);
    expect([resource.blocks, lane.blockedMs, lane.lane.counters.laggedRecoveries]).toEqual([0, 400, 0]);
  });

  test('no longer than its limit: then it goes on with a snapshot and says so', () => {
    const { bench, resource, lane } = place();
    fill(bench, resource);
    bench.clock.advance(1000);
    expect([resource.blocks, lane.blockedMs, lane.warnings.length]).toEqual([0, 1000, 1]);
    expect(lane.warnings[0]).toContain('LAG_BACKPRESSURE');
    const { isRecovered, parts, warnings } = lane.read(false);
    expect([isRecovered, bytesOf(parts).toString(), warnings.length]).toEqual([true, 'line 0\nline 1\n', 1]);
  });

  test('at most half of any ten seconds, whichever lane is slow', () => {
    const { bench, resource, lane } = place();
    let stopped = 0;
    const window: number[] = [];
    for (let ms = 0; ms < 60_000; ms += 50) {
      if (resource.blocks === 0) resource.say('x\n');
      bench.clock.advance(50);
      // A reader that takes everything when its producer was let go.
      if (resource.blocks === 0) lane.read(false);
      window.push(resource.blocks > 0 ? 50 : 0);
      stopped = window.slice(-200).reduce((sum, one) => sum + one, 0);
      expect(stopped).toBeLessThanOrEqual(5100);
    }
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3000), fc.nat(6000)), { maxLength: 30 }), (turns) => {
        const clock = new ManualClock();
        const budget = new BlockBudget(clock);
        const stops: [number, number][] = [];
        for (const [free, wanted] of turns) {
          clock.advance(free);
          const ms = Math.min(wanted, budget.leftMs);
          if (ms === 0) continue;
          budget.start();
          const from = clock.monotonic();
          clock.advance(ms);
          expect(budget.stop()).toBe(ms);
          stops.push([from, clock.monotonic()]);
        }
        for (const [, end] of stops) {
          const used = stops.reduce(
            (sum, [from, to]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, end - 10_000)),
            0,
          );
          expect(used).toBeLessThanOrEqual(5000);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each(['paused', 'away', 'held', 'closed'] as const)('never for a lane that is %s', (what) => {
    const { bench, resource, lane } = place();
    const stop = (): void => {
      if (what === 'paused') lane.pause();
      if (what === 'away') bench.clock.advance(300_000);
      if (what === 'held') resource.hold(1);
      if (what === 'closed') lane[Symbol.dispose]();
    };
    fill(bench, resource);
    expect(resource.blocks).toBe(1);
    stop();
    expect(resource.blocks).toBe(0);
    fill(bench, resource, 10);
    expect(resource.blocks).toBe(0);
    if (what !== 'closed') expect(lane.warnings.join()).toContain('LAG_BACKPRESSURE');
  });

  test('the end of the resource, of its client and of everything lets the producer go', async () => {
    for (const end of ['resource', 'peer', 'streams'] as const) {
      const { bench, resource, peer } = place();
      fill(bench, resource);
      expect(resource.blocks).toBe(1);
      if (end === 'resource') resource.finish('exit');
      else if (end === 'peer') peer[Symbol.dispose]();
      else await bench.streams[Symbol.asyncDispose]();
      expect(resource.blocks).toBe(0);
    }
  });
});
