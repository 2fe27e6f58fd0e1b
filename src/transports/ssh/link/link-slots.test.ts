import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeLink } from '../../../../test/support/ssh/fake-ssh.ts';
import { LinkSlots, type ChannelSlot } from './link-slots.ts';

const truth = 10;

const lane = (limit?: number): LinkSlots => new LinkSlots(new FakeLink(truth), () => 0, limit);

type Message = { readonly kind: 'open' | 'close'; readonly place: ChannelSlot };
type Reply = { readonly kind: 'given' | 'refused' | 'ended'; readonly place: ChannelSlot };

/**
 * A server as OpenSSH is one: it answers in order, and counts a channel until it has worked off everything that came
 * together with our half of its close.
 */
class Server {
  readonly toServer: Message[] = [];
  readonly toClient: Reply[] = [];
  readonly running = new Set<ChannelSlot>();
  counted = 0;

  work(messages: number): void {
    let closed = 0;
    for (const { kind, place } of this.toServer.splice(0, messages)) {
      if (kind === 'close') closed += 1;
      else if (this.counted >= truth) this.toClient.push({ kind: 'refused', place });
      else {
        this.counted += 1;
        this.running.add(place);
        this.toClient.push({ kind: 'given', place });
      }
    }
    this.counted -= closed;
  }

  finish(nth: number): void {
    const place = [...this.running][nth % Math.max(1, this.running.size)];
    if (place === undefined) return;
    this.running.delete(place);
    this.toClient.push({ kind: 'ended', place });
  }
}

test('however short commands come and go, the server is never taken to allow fewer than it does', () => {
  const step = fc.record({
    act: fc.constantFrom('ask', 'work', 'hear', 'finish'),
    many: fc.integer({ min: 1, max: 30 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
      const one = lane();
      const server = new Server();
      const told = { given: 'opened', refused: 'refused', ended: 'closed' } as const;
      for (const { act, many } of steps) {
        if (act === 'work') server.work(many);
        if (act === 'finish') server.finish(many);
        for (let times = 0; times < many && act === 'ask' && one.hasRoom; times += 1) {
          server.toServer.push({ kind: 'open', place: one.begin() });
        }
        for (const { kind, place } of act === 'hear' ? server.toClient.splice(0, many) : []) {
          one[told[kind]](place);
          if (kind === 'ended') server.toServer.push({ kind: 'close', place });
        }
        expect(one.limit ?? truth).toBeGreaterThanOrEqual(truth);
      }
    }),
    { numRuns: 300 },
  );
});

test('a refusal while nothing ends says the number', () => {
  const one = lane();
  const places = Array.from({ length: truth }, () => one.begin());
  for (const place of places) one.opened(place);
  expect(one.hasRoom).toBe(true);
  one.refused(one.begin());
  expect([one.limit, one.hasRoom, one.retryAt]).toEqual([truth, false, undefined]);
});

test('a bound that was too high comes down with the next refusals', () => {
  const one = lane();
  const places = Array.from({ length: truth }, () => one.begin());
  for (const place of places) one.opened(place);
  const first = one.begin();
  for (const place of places.slice(0, 7)) one.closed(place);
  one.refused(first);
  expect(one.limit).toBe(truth);
  const more = Array.from({ length: 7 }, () => one.begin());
  for (const place of more) one.opened(place);
  expect([one.limit, one.hasRoom]).toEqual([truth, false]);
});

test('a server that gave less for a while is asked again until it gives what servers do', () => {
  let now = 0;
  const one = new LinkSlots(new FakeLink(truth), () => now);
  const places = Array.from({ length: 3 }, () => one.begin());
  for (const place of places) one.opened(place);
  one.refused(one.begin());
  expect([one.limit, one.hasRoom, one.retryAt]).toEqual([3, false, 100]);
  now = 100;
  const second = one.begin();
  one.closed(places[0] as ChannelSlot);
  // One of the three had ended by then, so this proves no more than three: there is another try.
  one.opened(second);
  expect([one.limit, one.hasRoom, one.retryAt]).toEqual([3, false, 300]);
  now = 300;
  one.opened(one.begin());
  expect([one.limit, one.hasRoom, one.retryAt]).toEqual([undefined, true, undefined]);
});

test('a new link takes over what another one has learned, but not fewer than usual', () => {
  expect(lane(64).limit).toBe(64);
  expect(lane(3)).toMatchObject({ limit: undefined, hasRoom: true });
});
