import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asked, bytesOf, plainOf, StreamBench } from '../../test/support/streams/stream-bench.ts';
import { plainOutput } from '../engine/reading/plain-output.ts';
import { Lane } from './lane.ts';
import type { LaneRead } from './lane-read.ts';
import { compileFilter } from './line-filter.ts';
import { lagPolicies } from './settings.ts';
import type { StreamLane } from './stream-lane.ts';

const uri = 'shell://a/output';
const pattern = compileFilter('[ax]', 100);
const isMatch = (line: string): boolean => /[ax]/.test(line);

/** Odd pieces of text: short lines, lines without an end, characters and escape sequences that a cut may divide. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[abcxyz ]{0,12}$/) },
  { weight: 3, arbitrary: fc.constant('\n') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('é', '漢', '🙂', '\x1b[31m', '\x1b[0;1;38;5;12m', '\x1b]0;title\x07', '\x1b(B'),
  },
);
const ascii = fc.oneof(fc.stringMatching(/^[abcxyz ]{1,12}$/), fc.constant('\n'), fc.constant('xa\nbb\n'));
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });

function* cutUp(bytes: Buffer, sizes: readonly number[]): Generator<Buffer, void, void> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

type Step =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'read' | 'plain' | 'pause' | 'resume' }
  | { readonly do: 'replay'; readonly back: number };

const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('say' as const), text: ascii }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(5, 10, 250) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'read' as const, 'plain' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), back: fc.nat(40) }) },
  ),
  { maxLength: 60 },
);
const place = fc.record({
  policy: fc.constantFrom(...lagPolicies),
  laneBuffer: fc.integer({ min: 1, max: 4 }),
  ring: fc.constantFrom(24, 64, 100_000),
  readBytes: fc.constantFrom(1, 3, 7, 16, 1 << 20),
  flushBytes: fc.constantFrom(0, 4, 10),
});

type Place = typeof place extends fc.Arbitrary<infer T> ? T : never;

/** One lane on one resource, and everything that was printed there. */
class Trial {
  readonly bench: StreamBench;
  readonly lane: StreamLane;
  printed = '';
  /** The client has everything before it, or was told what it missed. */
  at = 0;
  /** Before it stands the rest of a line of which the client has the beginning. */
  matchedTo = 0;
  readonly #peer;
  readonly #resource;

  constructor({ policy, laneBuffer, ring, readBytes, flushBytes }: Place, isFiltered: boolean) {
    this.bench = new StreamBench({ laneBuffer, readBytes, flushBytes });
    this.#resource = this.bench.resource('a', { capacity: ring });
    this.#peer = this.bench.peer();
    this.lane = this.bench.lane(uri, this.#peer, { lagPolicy: policy, filter: isFiltered ? pattern : undefined });
  }

  /** Hands each read of the lane to `check`. */
  run(all: readonly Step[], check: (read: LaneRead, trial: Trial) => void): void {
    const { content } = this.#resource;
    for (const step of all) {
      if (step.do === 'say') {
        this.#resource.say(step.text);
        this.printed += step.text;
      } else if (step.do === 'wait') this.bench.clock.advance(step.ms);
      else if (step.do === 'pause') this.lane.pause();
      else if (step.do === 'resume') this.lane.resume();
      else if (step.do === 'replay') {
        this.at = Math.max(content.start, content.end - step.back);
        this.matchedTo = 0;
        expect(this.lane.replay(this.at)).toBe(content.end - this.at);
      } else if (step.do === 'plain') {
        const { text } = this.bench.streams.read(`${uri}?cursor=auto`, asked(this.#peer));
        this.at = Math.max(this.at, text?.cursor ?? 0);
      } else this.#read(check);
    }
    this.#resource.finish('over');
    this.lane.resume();
    while (!this.lane.isOver) {
      const { at } = this;
      this.#read(check);
      expect(this.at > at || this.lane.isOver).toBe(true);
    }
    expect(this.bench.streams.counts).toMatchObject({ subscriptions: 0, topics: 0 });
  }

  #read(check: (read: LaneRead, trial: Trial) => void): void {
    const { isPaused } = this.lane;
    const read = this.lane.read(false);
    if (isPaused) return expect(bytesOf(read.parts).length + read.truncated).toBe(0);
    check(read, this);
    this.at = Math.max(this.at, read.cursor);
  }
}

describe('remote 4.1, 4.3–4.5: however output is cut, delayed, paused, replayed and read', () => {
  test('a lane delivers every byte once and in order, or says exactly how many it dropped', () => {
    fc.assert(
      fc.property(place, steps, (where, all) => {
        const trial = new Trial(where, false);
        trial.run(all, ({ parts, from, cursor, truncated }, { at, printed }) => {
          expect(from - at).toBe(truncated);
          expect(bytesOf(parts).toString()).toBe(printed.slice(from, cursor));
        });
        expect(trial.at).toBe(trial.printed.length);
        if (where.policy === 'snapshot' && where.ring > 1000) expect(trial.lane.lane.counters.lagDrops).toBe(0);
      }),
      { numRuns: 1500 },
    );
  });

  test('a lane with a filter delivers exactly the matching lines of what it did not drop', () => {
    fc.assert(
      fc.property(place, steps, (where, all) => {
        const trial = new Trial(where, true);
        trial.run(all, ({ parts, from, cursor, truncated }, { at, printed, matchedTo }) => {
          // What was skipped and not reported has no line that matches.
          const skipped = linesOf(printed, at, from).filter(({ text, to }) => to <= matchedTo || isMatch(text));
          const skippedBytes = skipped.reduce((sum, { text }) => sum + text.length, 0);
          expect(skippedBytes).toBeLessThanOrEqual(truncated);
          const expected = linesOf(printed, from, cursor).filter(
            (line) => line.from < matchedTo || isMatch(line.whole),
          );
          expect(bytesOf(parts).toString()).toBe(expected.map(({ text }) => text).join(''));
          const last = expected.at(-1);
          trial.matchedTo = last && last.to === cursor ? last.wholeTo : 0;
        });
      }),
      { numRuns: 1500 },
    );
  });

  test('the filter in force when a line ends decides about it, and no change of filters loses a byte', () => {
    const change = fc.record({ filter: fc.boolean() });
    const say = fc.record({ text: ascii });
    const rest = fc.record({ read: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.oneof(say, say, change, rest), { maxLength: 50 }), (all) => {
        const bench = new StreamBench();
        const resource = bench.resource('a');
        const lane = bench.lane(uri, bench.peer());
        let [printed, expected, got, at] = ['', '', '', 0];
        const settle = (isOver = false): void => {
          const end = isOver || !lane.filter ? printed.length : printed.lastIndexOf('\n') + 1;
          if (end <= at) return;
          const fresh = linesOf(printed, at, end).map(({ text }) => text);
          expected += fresh.filter((line) => !lane.filter || isMatch(line)).join('');
          at = end;
        };
        for (const step of all) {
          if ('text' in step) {
            resource.say(step.text);
            printed += step.text;
          } else {
            bench.clock.advance(250);
            settle();
            if ('filter' in step) {
              lane.filter = step.filter ? pattern : undefined;
              settle();
            } else if (step.read) got += bytesOf(lane.read(false).parts).toString();
          }
        }
        resource.finish('over');
        settle(true);
        got += bytesOf(lane.read(false).parts).toString();
        expect(got).toBe(expected);
      }),
      { numRuns: 800 },
    );
  });

  test('characters and escape sequences cut anywhere read as if they had come whole', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), cuts, cuts, (pieces, said, rest) => {
        const whole = pieces.join('');
        const readBytes = rest[0] as number;
        const bench = new StreamBench({ readBytes, flushBytes: 3 });
        const resource = bench.resource('a');
        const [byLane, byCursor] = [bench.peer(), bench.peer()];
        const lane = bench.lane(uri, byLane);
        let [one, other, turn] = ['', '', 0];
        const read = (): void => {
          const { text } = bench.streams.read(`${uri}?cursor=auto`, asked(byCursor));
          other += plainOf(text?.parts ?? []);
          one += plainOf(lane.read(false).parts);
        };
        for (const bytes of cutUp(Buffer.from(whole), said)) {
          resource.say(bytes);
          for (let times = (rest[turn++ % rest.length] as number) % 3; times > 0; times -= 1) read();
        }
        resource.finish('over');
        for (let times = 0; times < 2 + whole.length * 4; times += 1) {
          if (!lane.isOver) one += plainOf(lane.read(false).parts);
          const { text } = bench.streams.read(`${uri}?cursor=auto`, asked(byCursor));
          other += plainOf(text?.parts ?? []);
        }
        const plain = plainOutput(whole).text;
        expect([one, other]).toEqual([plain, plain]);
      }),
      { numRuns: 800 },
    );
  });

  test('a lane of events delivers each once and in order, or says exactly how many it dropped', () => {
    const event = fc.record({ do: fc.constant('happen' as const), name: fc.constantFrom('abc', 'zzz', 'x') });
    const other = fc.record({
      do: fc.constantFrom('wait' as const, 'read' as const, 'plain' as const, 'pause' as const),
    });
    const all = fc.array(fc.oneof({ weight: 3, arbitrary: event }, other), { maxLength: 60 });
    fc.assert(
      fc.property(place, fc.boolean(), all, (where, isFiltered, todo) => {
        const { policy, laneBuffer, readBytes, ring } = where;
        const bench = new StreamBench({ laneBuffer, readBytes });
        const resource = bench.resource('s', { scheme: 'session', capacity: ring });
        const peer = bench.peer();
        const filter = isFiltered ? compileFilter('abc|x', 100) : undefined;
        const lane = bench.lane('session://s/health', peer, { lagPolicy: policy, filter });
        const [got, names]: [number[], string[]] = [[], []];
        let [at, missed] = [0, 0];
        const isKept = (seq: number): boolean => !isFiltered || names[seq - 1] !== 'zzz';
        const read = (): void => {
          if (lane.isPaused) lane.resume();
          const { events, from, cursor, truncated } = lane.read(false);
          const seqs = events.flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : []));
          const span = (a: number, b: number): number[] => Array.from({ length: b - a }, (_, i) => a + i + 1);
          expect(span(at, from).filter(isKept).length).toBeLessThanOrEqual(truncated);
          if (!isFiltered) expect(from - at).toBe(truncated);
          expect(seqs).toEqual(span(from, cursor).filter(isKept));
          got.push(...seqs);
          missed += truncated;
          at = Math.max(at, cursor);
        };
        for (const step of todo) {
          if (step.do === 'happen') {
            names.push(step.name);
            resource.happen({ event: step.name });
          } else if (step.do === 'wait') bench.clock.advance(250);
          else if (step.do === 'pause') lane.pause();
          else if (step.do === 'plain') {
            bench.streams.read('session://s/health', asked(peer));
            at = Math.max(at, names.length);
          } else read();
        }
        resource.finish('over');
        for (let times = 0; times <= 2 * names.length && !lane.isOver; times += 1) read();
        expect(lane.isOver).toBe(true);
        expect(got).toEqual([...new Set(got)].sort((a, b) => a - b));
        expect(missed).toBeLessThanOrEqual(names.length);
      }),
      { numRuns: 1000 },
    );
  });
});

interface Line {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** All of it from `from` on, without its end, where the span cuts it off. */
  readonly whole: string;
  readonly wholeTo: number;
}

/** The lines of a span; what is left of a line at its start counts as a line. */
function linesOf(printed: string, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let at = from; at < to; ) {
    const place = printed.indexOf('\n', at);
    const wholeTo = place < 0 ? printed.length : place + 1;
    const end = Math.min(wholeTo, to);
    lines.push({ from: at, to: end, text: printed.slice(at, end), whole: printed.slice(at, wholeTo), wholeTo });
    at = end;
  }
  return lines;
}

describe('counters (remote 4.3, 4.6)', () => {
  /** A queue of two that got five events of ten bytes. */
  const overrun = (policy: (typeof lagPolicies)[number]): Lane => {
    const lane = new Lane(policy, 2, 0);
    for (let at = 0; at < 50; at += 10) lane.push({ from: at, to: at + 10 });
    return lane;
  };

  test.each([
    ['drop_oldest', ['lagged 0–30 3', 'range 30–40 1', 'range 40–50 1'], { lagDrops: 3, laggedRecoveries: 0 }],
    ['drop_newest', ['range 0–10 1', 'range 10–20 1', 'lagged 20–50 3'], { lagDrops: 3, laggedRecoveries: 0 }],
    ['snapshot', ['snapshot 0–50 5'], { lagDrops: 0, laggedRecoveries: 1 }],
    ['block_slow', ['range 0–10 1', 'range 10–50 4'], { lagDrops: 0, laggedRecoveries: 0 }],
  ] as const)('%s counts the events it dropped and where', (policy, items, counters) => {
    const lane = overrun(policy);
    expect(lane.items.map(({ kind, from, to, events }) => `${kind} ${from}–${to} ${events}`)).toEqual(items);
    expect(lane.counters).toMatchObject({ ...counters, queueHighWatermark: 2, eventsSent: 0 });
  });

  test('an event is sent when its last byte is; what was read otherwise, or kept out, was not sent', () => {
    const lane = overrun('block_slow');
    lane.deliver(25, 25);
    expect(lane.counters).toMatchObject({ eventsSent: 1, bytesSent: 25 });
    lane.deliver(50, 25);
    expect(lane.counters).toMatchObject({ eventsSent: 5, bytesSent: 50 });
    lane.push({ from: 50, to: 60 });
    lane.acknowledge(60);
    lane.pass(70);
    expect(lane.counters).toMatchObject({ eventsSent: 5, bytesSent: 50, filtered: 1 });
    expect([lane.delivered, lane.isEmpty]).toEqual([70, true]);
  });
});
