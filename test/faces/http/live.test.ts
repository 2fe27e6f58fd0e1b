import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ApiDesk, bearer } from '../../support/api.ts';

type Frame = Record<string, unknown>;

/** A page: one socket that remembers what came. */
class Page implements Disposable {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString()) as Frame));
    socket.on('error', () => {});
  }

  static async open(api: ApiDesk, headers: Readonly<Record<string, string>> = bearer): Promise<Page> {
    const page = new Page(new WebSocket(`${api.url.replace('http', 'ws')}/api/live`, { headers }));
    await once(page.socket, 'open');
    return page;
  }

  /** A page that has said hello. */
  static async known(api: ApiDesk): Promise<Page> {
    const page = await Page.open(api);
    page.send({ t: 'hello' });
    await page.until(({ t }) => t === 'welcome');
    return page;
  }

  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  async until(fits: (frame: Frame) => boolean): Promise<Frame> {
    return await vi.waitUntil(() => this.frames.find(fits), { timeout: 10_000 });
  }

  /** The code the server closes it with. */
  async closed(): Promise<number> {
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}

/** The status with which an upgrade is refused. */
async function refused(api: ApiDesk, headers: Readonly<Record<string, string>>, path = '/api/live'): Promise<number> {
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}${path}`, { headers });
  socket.on('error', () => {});
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
  socket.terminate();
  return response.statusCode;
}

describe('one socket for a page', () => {
  test('a call that the page gives up is stopped, and answered as failed', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    page.send({ t: 'call', id: 5, op: 'desk.wait' });
    await api.desk.waiting.promise;
    page.send({ t: 'cancel', id: 99 });
    page.send({ t: 'cancel', id: 5 });
    expect(await api.desk.stopped.promise).toMatchObject({ message: 'The page gave the call up.' });
    expect(await page.until(({ id }) => id === 5)).toMatchObject({ t: 'failed' });
    expect(page.socket.readyState).toBe(page.socket.OPEN);
  });

  test('carries streams and calls side by side', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    page.send({ t: 'open', ch: 7, stream: 'desk.count', input: { to: 3 } });
    page.send({ t: 'call', id: 1, op: 'desk.write', input: { line: 'hi' } });
    await page.until(({ t, ch }) => t === 'end' && ch === 7);
    expect(page.frames.filter(({ t }) => t === 'item').map(({ item }) => (item as Frame)['at'])).toEqual([1, 2, 3]);
    expect(await page.until(({ id }) => id === 1)).toMatchObject({ t: 'done', output: { text: 'hi\n' } });
    expect(api.engine.audit.entries()).toContainEqual(
      expect.objectContaining({ operation: 'desk.write', origin: 'http' }),
    );
  });

  test('what fails is told on its own channel or call, and the socket goes on', async () => {
    await using api = await ApiDesk.open((access) => access === 'observe');
    using page = await Page.known(api);
    page.send({ t: 'open', ch: 1, stream: 'desk.nothing', input: {} });
    page.send({ t: 'open', ch: 2, stream: 'desk.count', input: { to: 'many' } });
    page.send({ t: 'open', ch: 3, stream: 'desk.count', input: { to: 1, fails: true } });
    page.send({ t: 'call', id: 1, op: 'desk.nothing', input: {} });
    page.send({ t: 'call', id: 2, op: 'desk.write', input: { line: 'x' } });
    const failure = (ch: number) => page.until((frame) => frame['t'] === 'failure' && frame['ch'] === ch);
    expect(await failure(1)).toMatchObject({ error: { code: 'unknown_operation' } });
    expect(await failure(2)).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await failure(3)).toMatchObject({ error: { code: 'terminal_exited', hint: 'Open another.' } });
    expect(await page.until(({ id }) => id === 1)).toMatchObject({ t: 'failed', error: { code: 'unknown_operation' } });
    expect(await page.until(({ id }) => id === 2)).toMatchObject({ t: 'failed', error: { code: 'not_permitted' } });
    expect(api.desk.callers).toEqual([]);
  });

  test('a page that takes nothing is sent no more than a window; what it takes makes room', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    page.send({ t: 'open', ch: 1, stream: 'desk.count', input: { to: 1000, size: 10_000 } });
    await vi.waitUntil(() => page.frames.length > 26, { timeout: 10_000 });
    const { made } = api.desk;
    expect(made).toBeLessThan(40);
    expect(page.frames.filter(({ t }) => t === 'item')).toHaveLength(made);
    page.send({ t: 'ack', ch: 1, bytes: 300_000 });
    await vi.waitUntil(() => api.desk.made > made, { timeout: 10_000 });
    expect(api.desk.made).toBeLessThan(80);
  });

  test.each([[Number.NaN], [-1], ['1'], [null]])('an acknowledgement of %s bytes makes no room', async (bytes) => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    page.send({ t: 'open', ch: 1, stream: 'desk.count', input: { to: 1000, size: 10_000 } });
    await vi.waitUntil(() => page.frames.length > 26, { timeout: 10_000 });
    const { made } = api.desk;
    for (let at = 0; at < 50; at++) page.send({ t: 'ack', ch: 1, bytes });
    page.send({ t: 'beat', at: 7 });
    await page.until(({ at }) => at === 7);
    expect(api.desk.made).toBe(made);
  });

  test('a page that acknowledges what it does not read fills no memory of the server', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    const tcp = (page.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket;
    tcp.pause();
    page.send({ t: 'open', ch: 1, stream: 'desk.count', input: { to: 600, size: 100_000 } });
    let before = -1;
    // Until the buffers of the kernel are full and nothing moves any more.
    while (api.desk.made !== before) {
      before = api.desk.made;
      for (let at = 0; at < 20; at++) {
        page.send({ t: 'ack', ch: 1, bytes: 1e9 });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    // 20 MB, which the kernel holds; all would be 60 MB.
    expect(api.desk.made).toBeLessThan(200);
    tcp.resume();
    await vi.waitUntil(
      () => {
        page.send({ t: 'ack', ch: 1, bytes: 1e9 });
        return api.desk.made === 600;
      },
      { timeout: 20_000, interval: 2 },
    );
  });

  test('closing a channel, or the page, ends what it followed', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    page.send({ t: 'open', ch: 1, stream: 'desk.ticks', input: {} });
    await api.desk.waiting.promise;
    page.send({ t: 'close', ch: 1 });
    await api.desk.left.promise;
    page.send({ t: 'call', id: 5, op: 'desk.wait', input: {} });
    page.socket.terminate();
    await expect(api.desk.stopped.promise).resolves.toMatchObject({ message: expect.stringContaining('closed') });
  });

  test('a page has 64 streams at most', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    for (let ch = 1; ch <= 65; ch++) page.send({ t: 'open', ch, stream: 'desk.ticks', input: {} });
    expect(await page.until(({ t }) => t === 'failure')).toMatchObject({ ch: 65, error: { code: 'limit_reached' } });
  });
});

describe('who may open it', () => {
  test('a browser with its cookie, once its first frame shows the CSRF token', async () => {
    await using api = await ApiDesk.open();
    const { cookie, 'x-csrf-token': csrf } = await api.logIn();
    using good = await Page.open(api, { cookie, origin: api.url });
    good.send({ t: 'hello', csrf });
    await good.until(({ t }) => t === 'welcome');
    using bad = await Page.open(api, { cookie, origin: api.url });
    bad.send({ t: 'hello', csrf: 'guess' });
    expect(await bad.closed()).toBe(4401);
    using eager = await Page.open(api, { cookie, origin: api.url });
    eager.send({ t: 'call', id: 1, op: 'desk.write', input: { line: 'x' } });
    expect(await eager.closed()).toBe(4401);
    expect(api.desk.callers).toEqual([]);
  });

  test('no other page, host or caller without a token', async () => {
    await using api = await ApiDesk.open();
    const { cookie } = await api.logIn();
    expect(await refused(api, {})).toBe(401);
    expect(await refused(api, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await refused(api, { cookie, origin: 'https://evil.example' })).toBe(403);
    expect(await refused(api, { ...bearer, host: 'evil.example' })).toBe(403);
    expect(await refused(api, bearer, '/api')).toBe(400);
    expect((await api.ask('/api/live', { method: 'GET' })).status).toBe(426);
  });

  test('a logout closes it', async () => {
    await using api = await ApiDesk.open();
    const { cookie, 'x-csrf-token': csrf } = await api.logIn();
    using page = await Page.open(api, { cookie });
    page.send({ t: 'hello', csrf });
    await page.until(({ t }) => t === 'welcome');
    const closed = page.closed();
    await api.ask('/api/logout', { headers: { cookie, 'x-csrf-token': csrf } });
    expect(await closed).toBe(4401);
  });
});

describe('a heartbeat', () => {
  test('is answered with the time of the page, which measures the round trip', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    page.send({ t: 'beat', at: 12.5 });
    expect(await page.until(({ t }) => t === 'beat')).toEqual({ t: 'beat', at: 12.5, now: api.clock.now() });
  });

  test('comes every 15 s; a page that answers stays, one that says nothing for 20 s is let go of', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.known(api);
    using silent = await Page.known(api);
    const gone = silent.closed();
    for (let at = 1; at <= 2; at++) {
      api.clock.advance(15_000);
      await vi.waitUntil(() => page.frames.filter(({ t }) => t === 'beat').length === at, { timeout: 10_000 });
      page.send({ t: 'beat' });
      page.send({ t: 'call', id: at, op: 'desk.write', input: { line: 'here' } });
      await page.until(({ id }) => id === at);
    }
    expect(await gone).toBe(1006);
    expect(page.socket.readyState).toBe(WebSocket.OPEN);
  });
});

describe('a page that misbehaves', () => {
  test.each([['not json'], ['7'], ['{"t":"other"}'], ['{"t":"open","ch":"x"}'], ['{"t":"call"}']])(
    'is closed after %s',
    async (frame) => {
      await using api = await ApiDesk.open();
      using page = await Page.known(api);
      const closed = page.closed();
      page.send(frame);
      expect(await closed).toBe(4400);
    },
  );

  test('is closed when it says nothing', async () => {
    await using api = await ApiDesk.open();
    using page = await Page.open(api);
    const closed = page.closed();
    await vi.waitUntil(() => api.clock.timers > 0);
    api.clock.advance(5001);
    expect(await closed).toBe(4408);
  });
});
