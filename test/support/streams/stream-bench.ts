import { FairleadError } from '../../../src/contract/errors.ts';
import type { ResourceNote } from '../../../src/engine/call/connected-client.ts';
import { plainOutput } from '../../../src/engine/reading/plain-output.ts';
import type { Peer } from '../../../src/streams/peer.ts';
import type { TextPart } from '../../../src/streams/resource.ts';
import { defaultStreamSettings, type StreamSettings } from '../../../src/streams/settings.ts';
import type { LaneRequest, StreamLane } from '../../../src/streams/stream-lane.ts';
import { Streams } from '../../../src/streams/streams.ts';
import { parseUri, type Scheme } from '../../../src/streams/uri.ts';
import { ManualClock } from '../clocks/manual.ts';
import { FakeResource, FakeSource } from './fake-resource.ts';

type Options = ConstructorParameters<typeof FakeResource>[2];

/** Streams over fake resources, on a clock that the test moves. */
export class StreamBench {
  readonly clock = new ManualClock(1_700_000_000_000);
  readonly sources: Readonly<Record<'shell' | 'terminal' | 'session' | 'command', FakeSource>>;
  readonly streams: Streams;
  readonly background: Promise<unknown>[] = [];

  constructor(settings: Partial<StreamSettings> = {}) {
    const schemes = ['shell', 'terminal', 'session', 'command'] as const;
    this.sources = Object.fromEntries(schemes.map((one) => [one, new FakeSource(one)])) as StreamBench['sources'];
    this.streams = new Streams(
      { clock: this.clock, background: (work) => void this.background.push(work) },
      { settings: { ...defaultStreamSettings, ...settings }, sources: Object.values(this.sources) },
    );
  }

  resource(id: string, options: Options = {}): FakeResource {
    const scheme = (options.scheme ?? 'shell') as Extract<Scheme, keyof StreamBench['sources']>;
    return this.sources[scheme].add(new FakeResource(id, this.clock, options));
  }

  peer(kind: 'connection' | 'session' | 'listener' = 'connection', principal = 'ann'): Peer {
    return this.streams.connect(kind, principal);
  }

  lane(uri: string, connected: Peer | string, request: Partial<LaneRequest> = {}): StreamLane {
    const caller = typeof connected === 'string' ? { principal: connected } : asked(connected);
    const { lagPolicy } = this.streams.settings;
    const rest = { lifetime: 'manual', graceMs: 2000, ttlMs: 60_000, lagPolicy, filter: undefined } as const;
    return this.streams.openLane({ uri: parseUri(uri), ...rest, ...request }, caller);
  }
}

/** The caller behind a client. */
export const asked = (connected: Peer) => ({ principal: connected.principal, connected });

/** The notes that wait for a client. */
export async function told(peer: Peer): Promise<ResourceNote[]> {
  const notes: ResourceNote[] = [];
  const stop = new AbortController();
  const reading = peer.notes(stop.signal);
  for (;;) {
    const next = reading.next();
    const isOver = peer.waiting === 0;
    // What waits may come to nothing, and then the reader waits for more.
    const idle = setImmediate(() => stop.abort());
    const { value, done } = await next;
    clearImmediate(idle);
    if (done) return notes;
    if (value) notes.push(value);
    if (isOver && peer.waiting === 0) stop.abort();
  }
}

export const bytesOf = (parts: readonly TextPart[]): Buffer => Buffer.concat(parts.map(({ bytes }) => bytes));

export const plainOf = (parts: readonly TextPart[]): string => plainOutput(bytesOf(parts).toString('utf8')).text;

/** What a lane delivers now. */
export const textOf = (lane: StreamLane): string => bytesOf(lane.read(false).parts).toString();

/** The code of the error that this throws. */
export const codeOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (thrown) {
    return thrown instanceof FairleadError ? (thrown.data?.['wire'] ?? thrown.code) : thrown;
  }
  return undefined;
};
