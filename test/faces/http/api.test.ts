import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ApiDesk, bearer, token } from '../../support/api.ts';

const json = { ...bearer, 'content-type': 'application/json' };

describe('what is offered', () => {
  test('GET /api lists every operation and stream; GET of one says what it takes and answers', async () => {
    await using api = await ApiDesk.open();
    const { status, json: listed, headers } = await api.ask('/api', { method: 'GET' });
    expect(status).toBe(200);
    const { operations } = listed as { operations: { path: string; kind: string; access: string }[] };
    expect(operations.map(({ path, kind, access }) => [path, kind, access])).toEqual([
      ['/api/desk/write', 'call', 'control'],
      ['/api/desk/draw', 'call', 'observe'],
      ['/api/desk/burn', 'call', 'control'],
      ['/api/desk/wait', 'call', 'observe'],
      ['/api/desk/count', 'stream', 'observe'],
      ['/api/desk/ticks', 'stream', 'observe'],
    ]);
    expect((await api.ask('/api/desk/write', { method: 'GET' })).json).toMatchObject({
      path: '/api/desk/write',
      input: { properties: { line: { type: 'string' } }, required: ['line'] },
      output: { properties: { text: { type: 'string' } } },
    });
    expect((await api.ask('/api/desk/count', { method: 'GET' })).json).toMatchObject({
      item: { properties: { at: { type: 'integer' } } },
    });
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    });
  });

  test('a server that lets callers only look lists and does only that', async () => {
    await using api = await ApiDesk.open((access) => access === 'observe');
    const { text } = await api.ask('/api', { method: 'GET' });
    expect(text).toContain('/api/desk/draw');
    expect(text).not.toContain('/api/desk/write');
    expect(await api.call('/api/desk/write', { line: 'x' })).toMatchObject({
      status: 403,
      json: { error: { code: 'not_permitted' } },
    });
    expect((await api.call('/api/desk/draw', {})).status).toBe(200);
    expect(api.desk.callers).toEqual([]);
  });
});

describe('a call', () => {
  test('answers with the output, and the operation learns who called', async () => {
    await using api = await ApiDesk.open();
    const answer = await api.call('/api/desk/write', { line: 'hi' }, { ...bearer, 'user-agent': 'tester/1' });
    expect(answer).toMatchObject({ status: 200, json: { text: 'hi\n', run: 1 } });
    expect(api.desk.callers).toMatchObject([{ name: 'tester/1', principal: 'owner', origin: 'http' }]);
    expect(api.desk.callers[0]?.peer).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(api.engine.audit.entries()).toMatchObject([{ operation: 'desk.write', origin: 'http', caller: 'tester/1' }]);
  });

  test('without a body has no arguments; bytes are base64', async () => {
    await using api = await ApiDesk.open();
    expect((await api.ask('/api/desk/draw')).json).toEqual({ buffer: btoa('fair'), bytes: btoa('lead') });
  });

  test('that fails is answered with the status of its code, and what to do', async () => {
    await using api = await ApiDesk.open();
    expect(await api.call('/api/desk/burn', {})).toMatchObject({
      status: 409,
      json: {
        error: { code: 'conflict', message: 'It is wet.', hint: 'Dry it.', data: { water: 'much' }, retry: false },
      },
    });
  });

  test('stops when its client leaves', async () => {
    await using api = await ApiDesk.open();
    const sent = httpRequest(`${api.url}/api/desk/wait`, { method: 'POST', headers: bearer });
    sent.on('error', () => {});
    sent.end();
    await api.desk.waiting.promise;
    sent.destroy();
    expect(await api.desk.stopped.promise).toMatchObject({ message: 'The client closed the connection.' });
  });

  test('in flight when the server ends is answered', async () => {
    await using api = await ApiDesk.open();
    const answer = api.ask('/api/desk/wait');
    await api.desk.waiting.promise;
    await api.server[Symbol.asyncDispose]();
    expect(await answer).toMatchObject({ status: 499, json: { error: { code: 'cancelled' } } });
  });

  test('with an Idempotency-Key is done once; other arguments under the same key are refused', async () => {
    await using api = await ApiDesk.open();
    const keyed = { ...bearer, 'idempotency-key': 'k1' };
    const first = await api.call('/api/desk/write', { line: 'a' }, keyed);
    const again = await api.call('/api/desk/write', { line: 'a' }, keyed);
    expect([first.json, again.json]).toEqual([
      { text: 'a\n', run: 1 },
      { text: 'a\n', run: 1 },
    ]);
    expect((await api.call('/api/desk/write', { line: 'a' }, { ...bearer, 'idempotency-key': 'k2' })).json).toEqual({
      text: 'a\n',
      run: 2,
    });
    expect((await api.call('/api/desk/write', { line: 'b' }, keyed)).status).toBe(409);
    expect(
      (await api.call('/api/desk/write', { line: 'a' }, { ...bearer, 'idempotency-key': 'x'.repeat(300) })).status,
    ).toBe(400);
    expect(api.desk.callers).toHaveLength(2);
  });

  test('is refused while too many others are served', async () => {
    await using api = await ApiDesk.open();
    const waiting = Array.from({ length: 256 }, () => {
      const sent = httpRequest(`${api.url}/api/desk/wait`, { method: 'POST', headers: bearer, agent: false });
      sent.on('error', () => {});
      sent.end();
      return sent;
    });
    await expect.poll(async () => (await api.call('/api/desk/draw', {})).status).toBe(429);
    for (const sent of waiting) sent.destroy();
    await expect.poll(async () => (await api.call('/api/desk/draw', {})).status).toBe(200);
  });
});

const routes = [
  ['GET', '/api'],
  ['POST', '/api/login'],
  ['POST', '/api/logout'],
  ['GET', '/api/desk/write'],
  ['POST', '/api/desk/write'],
  ['POST', '/api/desk/count'],
  ['POST', '/mcp'],
  ['GET', '/nothing'],
] as const;

describe.each(routes)('%s %s', (method, path) => {
  test.each([
    ['no token', {}, 401],
    ['a wrong token', { authorization: 'Bearer wrong' }, 401],
    ['a token in another scheme', { authorization: `Basic ${token}` }, 401],
    ['a cookie that was never given', { cookie: 'fairlead_1=made-up' }, 401],
    ['another host', { ...bearer, host: 'evil.example' }, 403],
    ['another origin', { ...bearer, origin: 'https://evil.example' }, 403],
    ['a page of another port', { ...bearer, origin: 'http://127.0.0.1:1' }, 403],
    ['the origin null', { ...bearer, origin: 'null' }, 403],
  ])('%s is refused in one line of JSON that does not repeat the token', async (_, headers, status) => {
    await using api = await ApiDesk.open();
    const answer = await api.ask(path, { method, headers });
    expect(answer).toMatchObject({ status, json: { error: { hint: expect.any(String) as string } } });
    expect(answer.headers.connection).toBe('close');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).not.toContain(token);
    expect(answer.text.split('\n')).toHaveLength(2);
    expect(api.desk.callers).toEqual([]);
  });
});

test.each([
  ['PUT', '/api', 'GET'],
  ['POST', '/api', 'GET'],
  ['GET', '/api/login', 'POST'],
  ['GET', '/api/logout', 'POST'],
  ['PUT', '/api/desk/write', 'GET, POST'],
  ['DELETE', '/api/desk/write', 'GET, POST'],
  ['OPTIONS', '/api/desk/write', 'GET, POST'],
  ['POST', '/healthz', 'GET'],
])('%s %s is no method of it', async (method, path, allow) => {
  await using api = await ApiDesk.open();
  const answer = await api.ask(path, { method });
  expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
});

test.each([
  ['bad JSON', '/api/desk/write', { headers: json, body: '{"line":' }, 400, 'The request body is not JSON.'],
  ['JSON too deep', '/api/desk/write', { headers: json, body: '['.repeat(1e5) }, 400, 'The JSON is nested too deeply.'],
  ['no object', '/api/desk/write', { headers: json, body: '[]' }, 400, 'arguments: must be an object, not a list'],
  ['an argument missing', '/api/desk/write', { headers: json, body: '{}' }, 400, 'line: is required (string)'],
  [
    'a wrong argument',
    '/api/desk/write',
    { headers: json, body: '{"line":7}' },
    400,
    'line: must be a string, not a number',
  ],
  [
    'a form',
    '/api/desk/write',
    { headers: { ...bearer, 'content-type': 'text/plain' }, body: '{"line":"x"}' },
    400,
    'The content type must be application/json.',
  ],
  [
    'no type',
    '/api/desk/write',
    { headers: bearer, body: '{"line":"x"}' },
    400,
    'The content type must be application/json.',
  ],
  [
    'too much',
    '/api/desk/write',
    { headers: { ...json, 'content-length': '16777217' } },
    413,
    'A request may have at most 16777216 bytes.',
  ],
  ['an unknown operation', '/api/desk/wriet', {}, 404, 'There is no operation at /api/desk/wriet.'],
  ['an unknown noun', '/api/desc', {}, 404, 'There is no operation at /api/desc.'],
  ['a path below', '/api/desk/write/more', {}, 404, 'There is no operation at /api/desk/write/more.'],
  ['a name of every object', '/api/desk/constructor', {}, 404, 'There is no operation at /api/desk/constructor.'],
  ['a slash too many', '/api/', {}, 405, 'Method not allowed.'],
])('%s is refused and says why', async (_, path, asked, status, message) => {
  await using api = await ApiDesk.open();
  const answer = await api.ask(path, asked);
  expect(answer).toMatchObject({ status, json: { error: { message } } });
  expect(answer.text).not.toContain('"data":{}');
  expect(api.desk.callers).toEqual([]);
});

test('a body that does not say its length is cut off at the limit', async () => {
  await using api = await ApiDesk.open();
  const sent = httpRequest(`${api.url}/api/desk/write`, { method: 'POST', headers: json });
  sent.on('error', () => {});
  const answered = once(sent, 'response');
  for (let n = 0; n < 16; n++) sent.write(Buffer.alloc(1 << 20, 32));
  sent.write(' ');
  const [response] = (await answered) as [{ statusCode: number }];
  expect(response.statusCode).toBe(413);
  sent.destroy();
});

test('headers of more than 16 KiB are refused', async () => {
  await using api = await ApiDesk.open();
  expect(
    (await api.ask('/api', { method: 'GET', headers: { ...bearer, 'x-much': 'x'.repeat(17 << 10) } })).status,
  ).toBe(431);
});

test('an unknown operation names the one that was meant', async () => {
  await using api = await ApiDesk.open();
  expect((await api.ask('/api/desk/wriet')).text).toContain(
    'Did you mean /api/desk/write? GET /api lists the operations.',
  );
});
