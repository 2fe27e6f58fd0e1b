import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ApiDesk, bearer } from '../../support/api.ts';

const wants = { ...bearer, accept: 'text/event-stream', 'content-type': 'application/json' };

interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

/** One client of a stream, which reads when it is told to. */
class Reader implements Disposable {
  readonly response: IncomingMessage;
  text = '';

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.on('error', () => {});
  }

  static async open(
    api: ApiDesk,
    path: string,
    input: object,
    headers: Record<string, string> = wants,
  ): Promise<Reader> {
    const sent = httpRequest(`${api.url}${path}`, { method: 'POST', headers, agent: false });
    sent.on('error', () => {});
    sent.end(JSON.stringify(input));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return new Reader(response);
  }

  read(): this {
    this.response.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    return this;
  }

  async ended(): Promise<ServerEvent[]> {
    const closed = new Promise((resolve) => this.response.once('close', resolve));
    this.read();
    await closed;
    return this.events;
  }

  get events(): ServerEvent[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((block) => {
        const [, name = 'item', data = ''] = /^(?:event: (\w+)\n)?data: (.*)$/.exec(block) ?? [];
        return data === '' ? [] : [{ name, data: JSON.parse(data) as unknown }];
      });
  }

  [Symbol.dispose](): void {
    this.response.destroy();
  }
}

describe('a stream', () => {
  test('is server-sent events: an item each, then the end', async () => {
    await using api = await ApiDesk.open();
    using reader = await Reader.open(api, '/api/desk/count', { to: 3 });
    expect(reader.response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    expect(await reader.ended()).toEqual([
      { name: 'item', data: { at: 1, state: 0, text: 'x' } },
      { name: 'item', data: { at: 2, state: 0, text: 'x' } },
      { name: 'item', data: { at: 3, state: 0, text: 'x' } },
      { name: 'end', data: {} },
    ]);
    expect(api.engine.audit.entries().map(({ operation, detail }) => [operation, detail])).toEqual([
      ['desk.count', 'began'],
      ['desk.count', 'ended'],
    ]);
  });

  test('that fails on its way ends with the error as an event', async () => {
    await using api = await ApiDesk.open();
    using reader = await Reader.open(api, '/api/desk/count', { to: 1, fails: true });
    expect((await reader.ended()).at(-1)).toEqual({
      name: 'failure',
      data: { error: { code: 'terminal_exited', message: 'It ended.', hint: 'Open another.', retry: false } },
    });
  });

  test('that cannot begin is refused like a call', async () => {
    await using api = await ApiDesk.open();
    const wrong = await api.call('/api/desk/count', {}, wants);
    expect(wrong).toMatchObject({ status: 400, json: { error: { message: 'to: is required (number)' } } });
    const json = await api.call('/api/desk/count', { to: 1 });
    expect(json).toMatchObject({ status: 400, json: { error: { message: 'This operation is a stream of events.' } } });
    expect(json.text).toContain('Accept: text/event-stream');
    await using looking = await ApiDesk.open((access) => access !== 'observe');
    expect((await looking.call('/api/desk/count', { to: 1 }, wants)).status).toBe(403);
    expect(api.desk.made + looking.desk.made).toBe(0);
  });

  test('says that it is open when its first item takes long, and beats while it is silent', async () => {
    await using api = await ApiDesk.open();
    const opening = Reader.open(api, '/api/desk/ticks', {});
    await api.desk.waiting.promise;
    await expect.poll(() => api.clock.timers).toBe(1);
    api.clock.advance(500);
    using reader = (await opening).read();
    expect(reader.response.statusCode).toBe(200);
    api.clock.advance(15_000);
    await expect.poll(() => reader.text).toBe(':\n\n');
    api.clock.advance(15_000);
    await expect.poll(() => reader.text).toBe(':\n\n:\n\n');
    api.desk.tick();
    await expect.poll(() => reader.events).toEqual([{ name: 'item', data: { at: 1 } }]);
  });

  test('ends when its client leaves, and leaves no timer behind', async () => {
    await using api = await ApiDesk.open();
    const opening = Reader.open(api, '/api/desk/ticks', {});
    await api.desk.waiting.promise;
    api.desk.tick();
    const reader = await opening;
    reader[Symbol.dispose]();
    await api.desk.left.promise;
    await expect.poll(() => api.clock.timers).toBe(0);
  });

  test('ends when the server does', async () => {
    await using api = await ApiDesk.open();
    const opening = Reader.open(api, '/api/desk/ticks', {});
    await api.desk.waiting.promise;
    api.desk.tick();
    using reader = await opening;
    const ended = reader.ended();
    await api.server[Symbol.asyncDispose]();
    expect((await ended).at(-1)).toEqual({ name: 'end', data: {} });
    await api.desk.left.promise;
  });
});

describe('a client that does not read', () => {
  const size = 1 << 20;

  /** How many items were made when the stream waits for room and no more are made. */
  async function stuck({ clock, desk }: ApiDesk): Promise<number> {
    let before = -1;
    const rests = (): boolean => {
      const same = desk.made === before;
      before = desk.made;
      // The heartbeat, and the limit for a client that takes nothing.
      return same && clock.timers === 2;
    };
    await expect.poll(rests).toBe(true);
    return before;
  }

  test('has no queue: the next item is made when there is room for it, and holds the newest state', async () => {
    await using api = await ApiDesk.open();
    using reader = await Reader.open(api, '/api/desk/count', { to: 60, size });
    const made = await stuck(api);
    expect(made).toBeLessThan(40);
    for (let state = 1; state <= 1000; state++) api.desk.state = state;
    await api.call('/api/desk/draw', {});
    expect(api.desk.made).toBe(made);
    const states = (await reader.ended()).map(({ data }) => (data as { state?: number }).state);
    expect(states).toEqual([
      ...Array.from({ length: made }, () => 0),
      ...Array.from({ length: 60 - made }, () => 1000),
      undefined,
    ]);
  });

  test('is given up after a minute', async () => {
    await using api = await ApiDesk.open();
    using reader = await Reader.open(api, '/api/desk/count', { to: 60, size });
    await stuck(api);
    api.clock.advance(60_000);
    await expect.poll(() => api.clock.timers).toBe(0);
    expect((await reader.ended()).length).toBeLessThan(40);
  });
});
