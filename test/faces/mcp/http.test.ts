import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../support/clocks/manual.ts';
import { shortest } from '../../support/shortest.ts';
import { conformanceResources, conformanceSurface } from '../../support/mcp/conformance-surface.ts';
import { callWithoutTerminals } from '../../support/mcp/engine.ts';
import { envelope, initialize, type Message, toolCall } from '../../support/mcp/wire.ts';
import { workshop } from '../../support/mcp/workshop.ts';
import { type McpHttp, type McpHttpOptions, serveMcpHttp } from '../../support/mcp/http.ts';

const token = 'a-token-for-tests';
const options: McpHttpOptions = { host: '127.0.0.1', port: 0, token, allowedHosts: [], allowedOrigins: [] };
const json = {
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

let server: McpHttp;
let shop: ReturnType<typeof workshop>;
beforeEach(async () => {
  shop = workshop();
  server = await serveMcpHttp(shop.surface, options);
});
afterEach(() => server[Symbol.asyncDispose]());

const post = (body: object | string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(server.url, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });

/** The messages of an answer, whether it came as JSON or as an event stream. */
async function messages(response: Response): Promise<Message[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return [JSON.parse(text) as Message];
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Message] : []));
}

const modern = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

async function openSession(version = '2025-11-25'): Promise<{ headers: Record<string, string>; hello: Message }> {
  const response = await post(initialize(version));
  const [hello] = await messages(response);
  const id = response.headers.get('mcp-session-id') ?? '';
  return { headers: { 'mcp-session-id': id, 'mcp-protocol-version': version }, hello: hello as Message };
}

/** fetch does not let a test choose Host. */
async function raw(
  headers: Record<string, string>,
  path = '/mcp',
  method = 'POST',
): Promise<{ status: number; body: string }> {
  const request = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers });
  request.end(method === 'POST' ? '{}' : undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, body };
}

describe('before any handler', () => {
  test('the host is looked at first, even before a missing token', async () => {
    const { status, body } = await raw({ host: 'evil.example' });
    expect(status).toBe(403);
    expect(JSON.parse(body)).toEqual({
      error: {
        code: 'not_permitted',
        message: 'The host "evil.example" is not served here.',
        hint: 'Connect to localhost, or start the server with --allow-host evil.example.',
        retry: false,
      },
    });
    expect(body.split('\n')).toHaveLength(2);
  });

  test('then the origin', async () => {
    const { status, body } = await raw({ origin: 'http://evil.example' });
    expect(status).toBe(403);
    expect(body).toContain('Pages from \\"http://evil.example\\" may not call this server.');
  });

  test('then the token, without which not even paths are told apart', async () => {
    for (const path of ['/mcp', '/nothing']) {
      const response = await fetch(new URL(path, server.url), { method: 'POST', body: '{}' });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="fairlead"');
      expect(await response.json()).toMatchObject({ error: { code: 'not_authenticated' } });
    }
    const wrong = await post(initialize('2025-11-25'), { authorization: 'Bearer wrong' });
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer realm="fairlead", error="invalid_token"');
  });

  test('health needs no token, but a name of this machine', async () => {
    expect(await raw({}, '/healthz', 'GET')).toEqual({ status: 200, body: 'ok\n' });
    expect((await raw({ host: 'evil.example' }, '/healthz', 'GET')).status).toBe(403);
  });

  test('then size, content type, method and syntax, each answered in one line', async () => {
    const big = await post(`"${'x'.repeat(16 << 20)}"`);
    expect([big.status, (await messages(big))[0]?.error?.message]).toEqual([
      413,
      'A request may have at most 16777216 bytes.',
    ]);
    const text = await post('{}', { 'content-type': 'text/plain' });
    expect([text.status, (await messages(text))[0]?.error?.message]).toEqual([
      415,
      'The content type must be application/json.',
    ]);
    const put = await fetch(server.url, { method: 'PUT', headers: json, body: '{}' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    const broken = await post('{"jsonrpc":');
    expect([broken.status, (await messages(broken))[0]?.error]).toEqual([
      400,
      { code: -32700, message: 'Parse error: not JSON' },
    ]);
    const elsewhere = await fetch(new URL('/nothing', server.url), { headers: json });
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  test('a body that does not say its length is cut off at the limit', async () => {
    const request = httpRequest(server.url, { method: 'POST', headers: json });
    // The rest of the body is on its way to a connection that is closed.
    request.on('error', () => {});
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    for (let sent = 0; sent < 16; sent++) request.write(Buffer.alloc(1 << 20, 32));
    request.write(' ');
    const [response] = await answered;
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
    request.destroy();
  });
});

describe('2025 sessions', () => {
  test.each(['2025-06-18', '2025-11-25'])('initialize of %s opens one, and calls run in it', async (version) => {
    const { headers, hello } = await openSession(version);
    expect(hello.result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'fairlead', version: '1.2.3' },
    });
    const [answer] = await messages(await post(toolCall(1, 'paper_write', { line: 'hi' }), headers));
    expect(answer?.result).toEqual({
      content: [{ type: 'text', text: 'Wrote 1 line.' }],
      structuredContent: { text: 'hi\n', lines: 1 },
    });
  });

  test('without a session, only initialize is served', async () => {
    expect((await post(toolCall(1, 'paper_write'))).status).toBe(400);
    expect((await post(toolCall(1, 'paper_write'), { 'mcp-session-id': 'made-up' })).status).toBe(404);
    const get = await fetch(server.url, { headers: json });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('DELETE ends one', async () => {
    const { headers } = await openSession();
    expect((await fetch(server.url, { method: 'DELETE', headers: { ...json, ...headers } })).status).toBe(200);
    expect((await post(toolCall(1, 'paper_write'), headers)).status).toBe(404);
  });

  test('an event stream says at once that it is open, and counts as use', async () => {
    const clock = new ManualClock();
    await using idle = await serveMcpHttp(shop.surface, { ...options, idleMs: 30, clock });
    server = idle;
    /** What a call in a session is answered with that nobody has used for so long. */
    const later = async ({ headers }: { headers: Record<string, string> }): Promise<number> => {
      clock.advance(30);
      return (await post(toolCall(1, 'paper_write', { line: '' }), headers)).status;
    };
    const used = await openSession();
    const stop = new AbortController();
    const headers = { ...json, ...used.headers };
    const stream = await fetch(server.url, { headers, signal: stop.signal });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const other = await openSession();
    await expect.poll(() => later(other)).toBe(404);
    expect(await later(used)).toBe(200);
    stop.abort();
    await expect.poll(() => later(used)).toBe(404);
  });

  test('when all are taken the one longest unused makes room', async () => {
    await using small = await serveMcpHttp(shop.surface, { ...options, maxSessions: 2 });
    server = small;
    const first = await openSession();
    const second = await openSession();
    await messages(await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, first.headers));
    const third = await openSession();
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    expect((await post(ping, second.headers)).status).toBe(404);
    expect((await post(ping, first.headers)).status).toBe(200);
    expect((await post(ping, third.headers)).status).toBe(200);
  });

  test('a client that hangs up stops its call', async () => {
    const { headers } = await openSession();
    const stop = new AbortController();
    const call = post(toolCall(1, 'clock_wait'), headers, stop.signal).then((response) => response.text());
    expect((await shop.waiting).name).toBe('wire');
    stop.abort();
    await expect(call).rejects.toThrow('aborted');
    await shop.stopped;
  });

  test('notifications/cancelled stops a call from another request', async () => {
    const { headers } = await openSession();
    const call = post(toolCall(1, 'clock_wait'), headers);
    await shop.waiting;
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, headers);
    await shop.stopped;
    await (await call).body?.cancel();
  });
});

describe('2026-07-28', () => {
  test('server/discover', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: envelope } };
    const response = await post(body, modern('server/discover'));
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await messages(response))[0]?.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, prompts: {} },
      instructions: 'Use it well.',
    });
  });

  test('a call stands alone', async () => {
    const call = toolCall(1, 'paper_write', { line: 'hi' }, envelope);
    const [answer] = await messages(await post(call, modern('tools/call', 'paper_write')));
    expect(answer?.result).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: 'Wrote 1 line.' }],
      structuredContent: { text: 'hi\n', lines: 1 },
    });
  });

  test('progress turns the answer into a stream', async () => {
    const call = toolCall(1, 'clock_report', { reports: 2 }, { ...envelope, progressToken: 9 });
    const told = await messages(await post(call, modern('tools/call', 'clock_report')));
    expect(told.map(({ params, result }) => params?.['progress'] ?? result.structuredContent)).toEqual([
      1,
      2,
      { text: 'done' },
    ]);
  });

  test('a client that hangs up stops its call', async () => {
    const stop = new AbortController();
    const headers = modern('tools/call', 'clock_wait');
    const call = post(toolCall(1, 'clock_wait', {}, envelope), headers, stop.signal);
    expect((await shop.waiting).name).toBe('wire');
    stop.abort();
    await expect(call).rejects.toThrow('aborted');
    await shop.stopped;
  });
});

test('a resource change reaches a 2025 subscriber and a 2026 listener, and nobody else', async () => {
  const fake = conformanceResources();
  await using both = await serveMcpHttp(conformanceSurface(fake), options);
  server = both;
  const uri = 'test://watched-resource';
  const { headers } = await openSession();
  const old = await fetch(server.url, { headers: { ...json, ...headers } });
  await messages(await post({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } }, headers));
  const listen = {
    jsonrpc: '2.0',
    id: 5,
    method: 'subscriptions/listen',
    params: { _meta: envelope, notifications: { resourceSubscriptions: [uri] } },
  };
  const young = await post(listen, modern('subscriptions/listen'));
  fake.changed('test://static-text');
  fake.changed(uri);
  await both[Symbol.asyncDispose]();
  const heard = await Promise.all([messages(old), messages(young)]);
  const updates = heard.map((each) => each.filter(({ method }) => method === 'notifications/resources/updated'));
  expect(updates.map((each) => each.map(({ params }) => params?.['uri']))).toEqual([[uri], [uri]]);
});

test('closing ends sessions, streams and waiting calls, soon', async () => {
  const closed = async (): Promise<number> => {
    const { surface, waiting, stopped } = workshop();
    await using closing = await serveMcpHttp(surface, options);
    server = closing;
    const { headers } = await openSession();
    const stream = await fetch(server.url, { headers: { ...json, ...headers } });
    const call = post(toolCall(1, 'clock_wait'), headers).then((response) => response.text());
    await waiting;
    const began = performance.now();
    await server[Symbol.asyncDispose]();
    const ms = performance.now() - began;
    await stopped;
    await stream.text();
    await call;
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
    return ms;
  };
  expect(await shortest(1500, closed)).toBeLessThan(1500);
});

const cancelled = { isError: true, content: [{ type: 'text', text: 'clock: The call was cancelled.' }] };

test('2025: a call in flight when the server ends is answered', async () => {
  const { headers } = await openSession();
  const call = post(toolCall(1, 'clock_wait'), headers);
  await shop.waiting;
  await server[Symbol.asyncDispose]();
  expect(await messages(await call)).toMatchObject([{ id: 1, result: cancelled }]);
});

test.each([{}, { progressToken: 'p1' }])(
  '2026: a call in flight when the server ends is answered (%j)',
  async (meta) => {
    const asked = toolCall(1, 'clock_wait', { reports: 1 }, { ...envelope, ...meta });
    const call = post(asked, modern('tools/call', 'clock_wait'));
    await shop.waiting;
    await server[Symbol.asyncDispose]();
    const response = await call;
    expect(response.status).toBe(200);
    expect((await messages(response)).at(-1)).toMatchObject({ id: 1, result: cancelled });
  },
);

test('a port that is taken is told in one sentence', async () => {
  await expect(serveMcpHttp(shop.surface, { ...options, port: server.port })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/) as string,
    hint: expect.stringContaining('--port') as string,
  });
});

test('an address that is not of this machine: the advice is about the address', async () => {
  await expect(serveMcpHttp(shop.surface, { ...options, host: '203.0.113.7' })).rejects.toMatchObject({
    message: expect.stringContaining('EADDRNOTAVAIL') as string,
    hint: expect.stringContaining('--host') as string,
  });
});

test('calls of both eras say which address and port they came from (R-RPC-036)', async () => {
  const peers: (string | undefined)[] = [];
  const engineCall = callWithoutTerminals();
  const { surface } = workshop({
    call: (op, raw, context) => {
      peers.push(context.caller.peer);
      return engineCall(op, raw, context);
    },
  });
  await server[Symbol.asyncDispose]();
  server = await serveMcpHttp(surface, options);
  const { headers } = await openSession();
  await messages(await post(toolCall(1, 'paper_write', { line: 'hi' }), headers));
  const call = toolCall(2, 'paper_write', { line: 'hi' }, envelope);
  await messages(await post(call, modern('tools/call', 'paper_write')));
  expect(peers).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+$/), expect.stringMatching(/^127\.0\.0\.1:\d+$/)]);
});
