import { expect, test } from 'vitest';
import { ApiDesk, bearer } from '../../support/api.ts';

test('the token is exchanged for a cookie that scripts cannot read and other sites do not send', async () => {
  await using api = await ApiDesk.open();
  const { status, headers, json } = await api.ask('/api/login');
  expect(status).toBe(200);
  expect(headers['set-cookie']).toEqual([
    expect.stringMatching(
      new RegExp(`^fairlead_${api.server.port}=[\\w-]{32}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$`),
    ),
  ]);
  expect(json).toEqual({
    csrf_token: expect.stringMatching(/^[\w-]{32}$/) as string,
    expires_at: '2026-01-01T12:00:00.000Z',
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

test('a login ends after twelve hours, and cannot prolong itself', async () => {
  await using api = await ApiDesk.open();
  const login = await api.logIn();
  const look = async () => (await api.ask('/api', { method: 'GET', headers: login })).status;
  expect(await api.ask('/api/login', { headers: login })).toMatchObject({ status: 401 });
  api.clock.advance(12 * 3600_000 - 1);
  expect(await look()).toBe(200);
  api.clock.advance(1);
  expect(await look()).toBe(401);
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
