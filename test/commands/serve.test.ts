import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { openSession } from '../support/pty-session.ts';
import { program, Served } from '../support/served.ts';

/** When the shell is back: only then is the newest command the last one. */
const prompted = (client: Client): Promise<unknown> =>
  client.callTool({ name: 'terminal_wait', arguments: { prompt: true } });

const text = (result: { content?: unknown }): string => (result.content as { text?: string }[])[0]?.text ?? '';

describe('fairlead serve', () => {
  test('prints an address and a token with which the official client works; terminals outlive a client', async () => {
    await using served = await Served.start();
    expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const first = await served.connect();
    expect((await first.listTools()).tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['terminal_run', 'type']),
    );
    await first.callTool({ name: 'type', arguments: { text: 'kept=42', submit: true } });
    // While a client is there, its default terminal is no one else's.
    await (first.transport as StreamableHTTPClientTransport).terminateSession();
    await first.close();
    const second = await served.connect();
    await second.callTool({ name: 'type', arguments: { text: 'echo kept $kept', submit: true } });
    await prompted(second);
    expect(text(await second.callTool({ name: 'getContent', arguments: { lastCommand: true } }))).toBe(
      '(exit code 0)\nkept 42',
    );
    await second.close();
  });

  test('Host, Origin and token are checked before anything else', async () => {
    await using served = await Served.start();
    const ask = (headers: Record<string, string>) =>
      fetch(served.url, { method: 'POST', headers, body: 'not even JSON' });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: 'Bearer wrong-wrong-wrong-wrong' })).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${served.token}`, origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await fetch(served.url.replace('/mcp', '/healthz'))).status).toBe(200);
  });

  test('the HTTP API runs the operations of every book, and follows a terminal; the person’s are not tools of MCP', async () => {
    await using served = await Served.start();
    const base = served.url.replace('/mcp', '/api');
    const authorization = `Bearer ${served.token}`;
    const post = (path: string, body: object, more: Record<string, string> = {}): Promise<Response> =>
      fetch(`${base}/${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...more },
        body: JSON.stringify(body),
      });
    const run = await post('terminal/run', { command: 'echo over http' });
    expect([run.status, await run.json()]).toMatchObject([200, { exitCode: 0, output: 'over http' }]);
    const listed = await (await fetch(base, { headers: { authorization } })).text();
    for (const path of ['terminal/run', 'keyboard/type', 'ssh/run', 'exec/run_wait', 'person/waiting', 'person/follow'])
      expect(listed).toContain(`"/api/${path}"`);
    const captured = (await (await post('capture/screen', {})).json()) as { image: Record<string, unknown> };
    expect(captured).toMatchObject({ type: 'image/png', text_snapshot: true });
    // The picture itself only where it was asked for.
    expect(Object.keys(captured.image).toSorted()).toEqual(['height', 'path', 'sha256', 'size_bytes', 'width']);
    const stop = new AbortController();
    const follow = await fetch(`${base}/person/follow`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ session: '0', from: 0 }),
      signal: stop.signal,
    });
    const reader = follow.body?.pipeThrough(new TextDecoderStream()).getReader();
    let first = '';
    while (!first.endsWith('\n\n')) first += (await reader?.read())?.value ?? '';
    const { bytes } = JSON.parse(first.split('\n', 1)[0]?.slice('data: '.length) ?? '') as { bytes: string };
    expect(Buffer.from(bytes, 'base64').toString()).toContain('over http');
    stop.abort();
    const client = await served.connect();
    expect((await client.listTools()).tools.map(({ name }) => name).filter((name) => /person/.test(name))).toEqual([]);
    await client.close();
  });

  test('the token is shown to a person at a terminal, and to no pipe or file (R-RPC-009)', async () => {
    await using served = await Served.start();
    expect(served.token).toMatch(/^[0-9a-f-]{36}$/);
    expect(served.out + served.err).not.toContain(served.token);
    const env = { PATH: process.env['PATH'] ?? '', HOME: served.home, FAIRLEAD_KEEP_TERMINALS: 'false' };
    await using person = await openSession([process.execPath, program, 'serve', '--port', '0'], env);
    await person.until('token     ');
    const { auth_token } = JSON.parse(
      readFileSync(join(served.home, '.fairlead', 'instances', 'bravo.json'), 'utf8'),
    ) as { auth_token: string };
    await person.until(`Bearer ${auth_token}`);
    await person.type('\x03');
    expect(await person.ended).toMatchObject({ by: 'exit' });
  });

  test('a server whose file was removed keeps its name: the next one takes another, and the file comes back', async () => {
    await using served = await Served.start();
    const file = join(served.home, '.fairlead', 'instances', 'alpha.json');
    const before = readFileSync(file, 'utf8');
    rmSync(file);
    const env = { PATH: process.env['PATH'] ?? '', HOME: served.home, FAIRLEAD_KEEP_TERMINALS: 'false' };
    await using other = await openSession([process.execPath, program, 'serve', '--port', '0'], env);
    await other.until('instance  bravo');
    await other.type('\x03');
    expect(await other.ended).toMatchObject({ by: 'exit' });
    await expect.poll(() => readFileSync(file, 'utf8')).toBe(before);
  });

  test('the token of the environment is used, never printed, and not visible to terminals', async () => {
    const token = 'a-token-that-stays-the-same';
    await using served = await Served.start(['--port', '0', '--rpc-port', '0'], { FAIRLEAD_TOKEN: token });
    expect(served.out).not.toContain(token);
    // A shell puts the variable's value in; JSON would keep the dollar sign.
    expect(served.out).toContain('"Authorization: Bearer $FAIRLEAD_TOKEN"');
    expect(served.out).toContain('{"Authorization": "Bearer <token>"}');
    expect(served.out).toContain('Write its value in the place of <token>.');
    const client = await served.connect(token);
    await client.callTool({
      name: 'type',
      arguments: { text: 'env | grep -c FAIRLEAD_TOKEN; env | grep -c same', submit: true },
    });
    await prompted(client);
    expect(text(await client.callTool({ name: 'getContent', arguments: { lastCommand: true } }))).toMatch(/\n0\n0$/);
    await client.close();
  });

  test.each([
    [
      ['--host', '0.0.0.0'],
      /^http:\/\/127\.0\.0\.1:\d+\/mcp$/,
      'start with --allow-host <name of this machine>, then use',
    ],
    [
      ['--host', '0.0.0.0', '--allow-host', 'box.example'],
      /^http:\/\/127\.0\.0\.1:/,
      'From other machines: http://box.example:',
    ],
    [['--host', '127.0.0.2'], /^http:\/\/127\.0\.0\.2:\d+\/mcp$/, ''],
  ])('%j: the address that is printed works', async (args, address, hint) => {
    await using served = await Served.start(['--port', '0', ...args]);
    expect(served.url).toMatch(address);
    expect(served.out).toContain(hint);
    expect(served.out.includes('other machines')).toBe(hint !== '');
    await (await served.connect()).close();
  });

  test('a port in use is passed over by default and named when asked for', async () => {
    await using one = await Served.start([]);
    await using two = await Served.start([]);
    expect(one.url).not.toBe(two.url);
    const port = new URL(one.url).port;
    const child = spawn(process.execPath, [program, 'serve', '--port', port], {
      env: { PATH: process.env['PATH'] ?? '', HOME: one.home },
    });
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    const [code] = await once(child, 'close');
    expect(code).not.toBe(0);
    expect(err).toContain(`127.0.0.1:${port}`);
    expect(err).not.toMatch(/\n\s+at /);
  });
});
