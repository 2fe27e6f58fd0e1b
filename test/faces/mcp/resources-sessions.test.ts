import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Peer } from '../../../src/streams/peer.ts';
import { type McpHttp, serveMcpHttp } from '../../support/mcp/http.ts';
import { ResourcePlace } from '../../support/mcp/resource-place.ts';
import { initialize, type Message } from '../../support/mcp/wire.ts';

// A session of 2025 over HTTP: its stream comes and goes, and it leaves without a word (docs/requirements/remote.md 3.4).

let place: ResourcePlace;
let server: McpHttp;
let peers: Peer[];
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

beforeEach(async () => {
  place = new ResourcePlace();
  peers = [];
  const { resources } = place.surface;
  const connect: NonNullable<typeof resources>['connect'] = (kind, principal) => {
    const peer = place.streams.connect(kind, principal);
    peers.push(peer);
    return peer;
  };
  const surface = { ...place.surface, ...(resources && { resources: { ...resources, connect } }) };
  server = await serveMcpHttp(surface, {
    allowedHosts: [],
    allowedOrigins: [],
    clock: place.clock,
    idleMs: 3_600_000,
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

const post = async (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(server.url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });

async function openSession(): Promise<{ readonly headers: Record<string, string>; readonly peer: Peer }> {
  const hello = await post(initialize('2025-11-25'));
  await hello.text();
  const id = hello.headers.get('mcp-session-id') ?? '';
  return { headers: { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }, peer: peers.at(-1) as Peer };
}

const subscribe = async (uri: string, headers: Record<string, string>): Promise<void> =>
  void (await (await post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } }, headers)).text());

/** The event stream of a session, until `cut`. */
class EventStream {
  readonly #stop = new AbortController();
  readonly #messages: AsyncGenerator<Message>;

  constructor(headers: Record<string, string>) {
    this.#messages = this.#read(headers);
  }

  async next(): Promise<Message> {
    const { value } = await this.#messages.next();
    return value as Message;
  }

  cut(): void {
    this.#stop.abort();
  }

  async *#read(headers: Record<string, string>): AsyncGenerator<Message> {
    const { signal } = this.#stop;
    const { body } = await fetch(server.url, { headers: { accept: 'text/event-stream', ...headers }, signal });
    let rest = '';
    for await (const chunk of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6)) as Message;
    }
  }
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

test('it is away 30 s after its stream was cut; on its return it is told at once of what changed', async () => {
  const { uri, say } = await place.terminal();
  const { headers, peer } = await openSession();
  await subscribe(uri, headers);
  const stream = new EventStream(headers);
  const first = stream.next();
  await say('one');
  place.clock.advance(200);
  expect((await first).params?.['uri']).toBe(uri);
  stream.cut();
  await until(() => peer.presence?.streams === 0);
  place.clock.advance(29_999);
  expect(peer.isAway).toBe(false);
  place.clock.advance(1);
  expect(peer.isAway).toBe(true);
  // Its subscription stays with its session.
  expect(place.held.subscriptions).toBe(1);
  await say('two');
  place.clock.advance(200);
  const back = new EventStream(headers);
  expect((await back.next()).params).toMatchObject({ uri, _meta: { cursor: 6 } });
  expect(peer.isAway).toBe(false);
  back.cut();
  await until(() => peer.presence?.streams === 0);
  place.clock.advance(30_000);
  expect(peer.isAway).toBe(true);
  // So does a request bring it back.
  await subscribe(uri, headers);
  expect(peer.isAway).toBe(false);
});

test('without ever having had a stream it is away 300 s after its last request', async () => {
  const { uri } = await place.terminal();
  const { headers, peer } = await openSession();
  place.clock.advance(299_000);
  await subscribe(uri, headers);
  place.clock.advance(299_999);
  expect(peer.isAway).toBe(false);
  place.clock.advance(1);
  expect(peer.isAway).toBe(true);
});

test('the end of the session frees what it followed, by request or because it was idle', async () => {
  const { uri } = await place.terminal();
  const [one, two] = [await openSession(), await openSession()];
  await subscribe(uri, one.headers);
  await subscribe(uri, two.headers);
  expect(place.held.subscriptions).toBe(2);
  await (await fetch(server.url, { method: 'DELETE', headers: one.headers })).text();
  expect(place.held.subscriptions).toBe(1);
  place.clock.advance(3_600_000);
  await until(() => place.held.subscriptions === 0);
  expect(place.streams.counts.peers).toBe(0);
});
