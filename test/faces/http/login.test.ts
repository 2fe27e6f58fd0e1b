import { describe, expect, test } from 'vitest';
import { ApiDesk, bearer } from '../../support/api.ts';

test('the token is exchanged for a cookie that scripts cannot read and other sites do not send', async () => {
  await using api = await ApiDesk.open();
  const { status, headers, json } = await api.ask('/api/login');
  expect(status).toBe(200);
  expect(headers['set-cookie']).toEqual([
    expect.stringMatching(
      new RegExp(`^fairlead_${api.server.port}=[\\w-]{32}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$`),
    ),
  ]);
  expect(json).toEqual({
    csrf_token: expect.stringMatching(/^[\w-]{32}$/) as string,
    expires_at: '2026-01-31T00:00:00.000Z',
  });
  const secure = await api.ask('/api/login', {
    headers: { ...bearer, origin: `https://127.0.0.1:${api.server.port}` },
  });
  expect(secure.headers['set-cookie']?.[0]).toMatch(/; Secure$/);
});

test('cookie and CSRF token together may call; neither does alone, and another login’s CSRF token does not fit', async () => {
  await using api = await ApiDesk.open();
  const [one, other] = [await api.logIn(), await api.logIn()];
  const write = (headers: Record<string, string>) => api.call('/api/desk/write', { line: 'x' }, headers);
  expect((await write(one)).status).toBe(200);
  for (const path of ['/api/desk/write', '/api', '/api/logout', '/api/desk/ticks', '/api/login']) {
    const answer = await api.ask(path, { headers: { cookie: one.cookie } });
    expect(answer, path).toMatchObject({ status: 403, json: { error: { code: 'not_permitted' } } });
    expect(answer.text).toContain('X-CSRF-Token');
  }
  expect((await write({ cookie: one.cookie, 'x-csrf-token': other['x-csrf-token'] })).status).toBe(403);
  expect((await write({ cookie: one.cookie, 'x-csrf-token': '' })).status).toBe(403);
  expect((await write({ 'x-csrf-token': one['x-csrf-token'] })).status).toBe(401);
  expect((await write({ ...one, cookie: `a=b; ${one.cookie}; c=d` })).status).toBe(200);
  expect((await write({ ...one, origin: 'https://evil.example' })).status).toBe(403);
  expect((await write({ ...one, authorization: 'Bearer wrong' })).status).toBe(401);
  expect(api.desk.callers).toHaveLength(2);
});

test('a cookie is for the API alone: MCP wants the token', async () => {
  await using api = await ApiDesk.open();
  const login = await api.logIn();
  expect((await api.call('/mcp', {}, login)).status).toBe(401);
  expect((await api.call('/nothing', {}, login)).status).toBe(401);
});

test('logging out ends the login, its cookie and its streams', async () => {
  await using api = await ApiDesk.open();
  const login = await api.logIn();
  const stream = api.ask('/api/desk/ticks', { headers: { ...login, accept: 'text/event-stream' } });
  await api.desk.waiting.promise;
  const { headers } = await api.ask('/api/logout', { headers: login });
  expect(headers['set-cookie']?.[0]).toMatch(/^fairlead_\d+=; Path=\/; Max-Age=0; HttpOnly/);
  await api.desk.left.promise;
  expect((await stream).status).toBe(200);
  expect(await api.ask('/api', { method: 'GET', headers: login })).toMatchObject({
    status: 401,
    json: { error: { message: 'This login has ended.', hint: expect.stringContaining('POST /api/login') as string } },
  });
});

test('a login ends after 30 days, or 7 without use, and cannot prolong itself', async () => {
  await using api = await ApiDesk.open();
  const login = await api.logIn();
  const look = async () => (await api.ask('/api', { method: 'GET', headers: login })).status;
  expect(await api.ask('/api/login', { headers: login })).toMatchObject({ status: 401 });
  const day = 24 * 3600_000;
  for (let passed = 0; passed < 28; passed += 7) {
    api.clock.advance(7 * day - 1);
    expect(await look()).toBe(200);
  }
  api.clock.advance(2 * day + 4);
  expect(await look()).toBe(401);
  const unused = await api.logIn();
  api.clock.advance(7 * day);
  expect((await api.ask('/api', { method: 'GET', headers: unused })).status).toBe(401);
  expect(api.clock.timers).toBe(0);
});

test('64 logins at a time: one more ends the oldest; logging in again replaces the old login', async () => {
  await using api = await ApiDesk.open();
  const [first, second] = [await api.logIn(), await api.logIn()];
  for (let n = 0; n < 62; n++) await api.logIn();
  const status = async (headers: Record<string, string>) => (await api.ask('/api', { method: 'GET', headers })).status;
  expect([await status(first), await status(second)]).toEqual([200, 200]);
  await api.logIn();
  expect([await status(first), await status(second)]).toEqual([401, 200]);
  await api.ask('/api/login', { headers: { ...bearer, cookie: second.cookie } });
  expect(await status(second)).toBe(401);
});

describe('R-RPC-141: the code of a link', () => {
  const send = (api: ApiDesk, code: string, headers: Record<string, string> = {}) =>
    api.call('/api/login', { code }, headers);
  const used = { error: { code: 'not_authenticated', message: 'This link was used or is older than a minute.' } };

  test('logs in once, and not after a minute', async () => {
    await using api = await ApiDesk.open();
    const [code, old] = [api.code(), api.code()];
    expect(await send(api, code)).toMatchObject({ status: 200, json: { csrf_token: expect.any(String) as string } });
    const again = await send(api, code);
    expect(again).toMatchObject({ status: 401, json: used });
    expect(again.headers['set-cookie']).toBeUndefined();
    api.clock.advance(60_000);
    expect(await send(api, old)).toMatchObject({ status: 401, json: used });
  });

  test('is not spent by a page of another site, by a host name that points here, or by a malformed request', async () => {
    await using api = await ApiDesk.open();
    const code = api.code();
    const { port } = api.server;
    const refused = [
      await send(api, code, { origin: 'https://evil.example' }),
      await send(api, code, { origin: `http://127.0.0.1:${port + 1}` }),
      await send(api, code, { origin: 'null' }),
      await send(api, code, { host: `evil.example:${port}` }),
      await api.ask('/api/login', { headers: { 'content-type': 'text/plain' }, body: JSON.stringify({ code }) }),
      await api.call('/api/login', { code, more: 1 }, {}),
      await api.ask(`/api/login?code=${code}`, { method: 'GET', headers: {} }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 400, 401, 405]);
    for (const { headers, text } of refused) {
      expect(headers['set-cookie']).toBeUndefined();
      expect(text).not.toContain(code);
    }
    expect((await send(api, code, { origin: `http://127.0.0.1:${port}` })).status).toBe(200);
  });

  test('five wrong ones from an address, then it is told to wait; the right one still works', async () => {
    await using api = await ApiDesk.open();
    for (let n = 0; n < 5; n++) {
      expect((await send(api, `wrong-${n}`)).status).toBe(401);
      // Wrong logins of the last minute delay the next answer by a second.
      api.clock.advance(60_000);
    }
    const sixth = await send(api, 'wrong-6');
    expect(sixth).toMatchObject({
      status: 429,
      json: {
        error: { code: 'limit_reached', message: 'Too many tries from this address. Try again in 15 minutes.' },
      },
    });
    expect(sixth.headers['retry-after']).toBe('900');
    expect((await send(api, api.code())).status).toBe(200);
    expect((await send(api, 'wrong-7')).status).toBe(401);
  });
});
