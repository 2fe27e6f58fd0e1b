import { once } from 'node:events';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { filesBelow } from '../support/files-below.ts';
import { askHttp } from '../support/http-ask.ts';
import { freePort } from '../support/ssh/sshd.ts';
import { Served } from '../support/served.ts';

async function logIn(served: Served): Promise<{ cookie: string; 'x-csrf-token': string }> {
  const said = await served.fairlead(['dashboard', '--print-only']);
  const [, origin = '', code = ''] = /^(http:\/\/\S+)\/#code=([\w-]+)\n/.exec(said) ?? [];
  const { headers, json } = await askHttp(`${origin}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' },
    body: JSON.stringify({ code }),
  });
  const { csrf_token } = json as { csrf_token: string };
  return { cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '', 'x-csrf-token': csrf_token };
}

test('R-HUB-084: a browser stays logged in over restarts and kills of the server, until it is signed out', async () => {
  const port = await freePort();
  await using served = await Served.start(['--port', String(port), '--rpc-port', '0']);
  const origin = `http://127.0.0.1:${port}`;
  const me = (headers: Record<string, string>) => askHttp(`${origin}/api/me`, { headers });
  const [one, other] = [await logIn(served), await logIn(served)];
  expect(one.cookie).toMatch(new RegExp(`^fairlead_${port}=`));
  expect((await me(one)).status).toBe(200);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await served.end(signal);
    await served.restart();
    expect((await me(one)).status, signal).toBe(200);
    expect((await me({ cookie: one.cookie })).status, signal).toBe(403);
    expect((await me({ cookie: one.cookie, 'x-csrf-token': other['x-csrf-token'] })).status, signal).toBe(403);
  }
  const listed = JSON.parse(await served.fairlead(['login', 'list', '--json'])) as {
    logins: { login: string; browser: string; address: string }[];
  };
  expect(listed.logins).toHaveLength(2);
  expect(listed.logins[1]).toMatchObject({ browser: 'Firefox on Linux', address: '127.0.0.1' });
  const mine = await me(one);
  const id = (mine.json as { login: string }).login;
  expect(id).toBe(listed.logins[1]?.login);

  const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/live`, { headers: { cookie: one.cookie } });
  await once(socket, 'open');
  socket.send(JSON.stringify({ t: 'hello', csrf: one['x-csrf-token'] }));
  await once(socket, 'message');
  const closed = once(socket, 'close');
  expect(await served.fairlead(['login', 'end', id])).toBe(`Signed out ${id}.\n`);
  expect((await closed)[0]).toBe(4401);
  expect((await me(one)).status).toBe(401);
  expect((await me(other)).status).toBe(200);
  expect(await served.fairlead(['login', 'end', id])).toContain('No browser is signed in as');
  await served.end();
  await served.restart();
  expect([(await me(one)).status, (await me(other)).status]).toEqual([401, 200]);

  const secrets = [one, other].flatMap((login) => [login.cookie.split('=')[1] ?? '', login['x-csrf-token']]);
  for (const [path, bytes] of filesBelow(served.home)) {
    expect(
      secrets.filter((secret) => bytes.includes(secret)),
      path,
    ).toEqual([]);
  }
}, 120_000);
