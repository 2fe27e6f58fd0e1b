import { spawnSync } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createWeb } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { detectProxy, macSetting, type ProxySurroundings, windowsSetting } from '../../../src/engine/proxy/detect.ts';
import { Proxies } from '../../../src/engine/proxy/proxies.ts';
import { effective, masked, ProxySettings } from '../../../src/engine/proxy/settings.ts';
import { env } from '../../../src/operations/session/proxy.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const limit = (): AbortSignal => AbortSignal.timeout(20_000);
/** The proxies are in this very process: whoever finds them asleep waits until they wake. */
const limits = { settingMs: 10_000, scanMs: 10_000, reachMs: 10_000 };

async function listening(server: Server): Promise<{ port: number } & Disposable> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() };
}

const httpProxy = () =>
  listening(
    createServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')),
    ),
  );
const socksProxy = () =>
  listening(
    createServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', (bytes) => (bytes[0] === 5 ? socket.end(Buffer.from([5, 0])) : socket.destroy())),
    ),
  );
const website = () => listening(createWeb((_, response) => response.end('hello')));

const around = (change: Partial<ProxySurroundings>): ProxySurroundings => ({
  env: {},
  platform: 'linux',
  home: '/nonexistent',
  run: async () => undefined,
  ports: [],
  limits,
  ...change,
});

test('status, nodes, switch, speedtest, configure, disable and env have the documented shapes', async () => {
  await using place = await RpcPlace.open(undefined, undefined, undefined, limits);
  using up = await httpProxy();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  expect(await call('proxy.status')).toEqual({
    enabled: false,
    mode: 'off',
    http_proxy: null,
    socks_proxy: null,
    no_proxy: 'localhost,127.0.0.1,::1',
    current_node: null,
    node_count: 0,
    health: null,
  });
  const nodes = [
    { name: 'up', url: `http://u:pw@127.0.0.1:${up.port}` },
    { name: 'down', url: 'http://127.0.0.1:1' },
    { name: 'socks', url: `socks5://127.0.0.1:${up.port}` },
  ];
  const configured = await call('proxy.configure', { nodes, current_node: 'up' });
  expect(configured).toMatchObject({
    configured: true,
    status: { enabled: true, mode: 'manual', current_node: 'up', node_count: 3 },
  });
  expect(configured.status.health).toEqual({
    source: 'manual',
    url: `http://u:•••@127.0.0.1:${up.port}`,
    reachable: true,
  });
  const { results } = await call('proxy.speedtest', { timeout_ms: 10_000 });
  expect(results).toMatchObject([
    { name: 'up', available: true },
    { name: 'down', available: false, latency_ms: null },
    { name: 'socks', available: true },
  ]);
  expect((await call('proxy.nodes')).nodes[0]).toMatchObject({
    name: 'up',
    available: true,
    latency_ms: expect.any(Number),
  });
  expect((await call('proxy.env')).env).toEqual({
    HTTP_PROXY: `http://u:•••@127.0.0.1:${up.port}`,
    HTTPS_PROXY: `http://u:•••@127.0.0.1:${up.port}`,
    NO_PROXY: 'localhost,127.0.0.1,::1',
  });
  expect((await call('proxy.env', { reveal: true })).env.HTTP_PROXY).toBe(nodes[0]?.url);
  const id = await place.create();
  expect((await call('exec.run_wait', { id, command: 'echo $http_proxy $HTTPS_PROXY' })).output).toBe(
    `${nodes[0]?.url} ${nodes[0]?.url}`,
  );
  // A socks node is no http proxy (R-RPC-093).
  expect(await call('proxy.switch', { node_name: 'socks' })).toEqual({
    switched: true,
    current_node: 'socks',
    http_proxy: null,
    socks_proxy: nodes[2]?.url,
  });
  expect((await call('proxy.env')).env).toEqual({ ALL_PROXY: nodes[2]?.url, NO_PROXY: 'localhost,127.0.0.1,::1' });
  expect(await call('proxy.disable')).toEqual({ disabled: true });
  expect(await call('proxy.env')).toEqual({ enabled: false, env: {} });
  expect((await place.client.ask('proxy.switch', { node_name: 'none' })).error?.message).toBe(
    "Proxy node 'none' not found",
  );
});

test('null and empty clear a field, as an address does the node, an unknown node is refused, manual without an address says so (R-RPC-093)', async () => {
  await using place = await RpcPlace.open();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  await call('proxy.configure', { http_proxy: 'http://127.0.0.1:1', socks_proxy: 'socks5://127.0.0.1:1' });
  const { status } = await call('proxy.configure', { http_proxy: null, socks_proxy: '' });
  expect(status).toMatchObject({
    http_proxy: null,
    socks_proxy: null,
    mode: 'manual',
    health: { reachable: false, hint: expect.stringContaining('No proxy is set') },
  });
  const nodes = [{ name: 'up', url: 'http://127.0.0.1:1' }];
  for (const clearing of [{ current_node: null }, { current_node: '' }, { http_proxy: 'http://127.0.0.1:2' }]) {
    await call('proxy.configure', { nodes, current_node: 'up', no_proxy: 'x' });
    const { status: cleared } = await call('proxy.configure', { ...clearing, no_proxy: null });
    expect(cleared, JSON.stringify(clearing)).toMatchObject({ current_node: null, no_proxy: '' });
  }
  expect((await place.client.ask('proxy.configure', { current_node: 'x' })).error?.message).toBe(
    "Proxy node 'x' not found",
  );
  expect((await place.client.ask('proxy.configure', { http_proxy: 'http://' })).error?.data?.['code']).toBe(
    'INVALID_PARAMS',
  );
});

test('nothing that was detected is written down (R-RPC-092)', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('proxy.configure', { mode: 'auto' });
  expect((await place.client.call('proxy.status')).health).toMatchObject({ url: null, hint: 'No proxy was found.' });
  expect(JSON.parse(readFileSync(join(place.home, '.fairlead', 'proxy.json'), 'utf8'))).toMatchObject({
    http_proxy: null,
    mode: 'auto',
  });
});

test('detection: environment before scan, only what answers, and only what speaks like a proxy (R-RPC-090, R-RPC-091)', async () => {
  using http = await httpProxy();
  using socks = await socksProxy();
  using web = await website();
  expect(await detectProxy(around({ ports: [web.port] }), limit())).toBeUndefined();
  expect(await detectProxy(around({ ports: [web.port, http.port] }), limit())).toEqual({
    source: 'scan',
    http: `http://127.0.0.1:${http.port}`,
    socks: undefined,
  });
  expect(await detectProxy(around({ ports: [socks.port] }), limit())).toEqual({
    source: 'scan',
    http: undefined,
    socks: `socks5://127.0.0.1:${socks.port}`,
  });
  const env = { https_proxy: `http://localhost:${http.port}` };
  expect(await detectProxy(around({ env, ports: [socks.port] }), limit())).toMatchObject({
    source: 'environment',
    http: `http://localhost:${http.port}`,
  });
  expect(await detectProxy(around({ env: { HTTP_PROXY: 'http://127.0.0.1:1' } }), limit())).toBeUndefined();
});

test('detection: the settings of GNOME, KDE, macOS and Windows; a script is told, not guessed (R-RPC-090, R-RPC-091)', async () => {
  using http = await httpProxy();
  const gnome: Record<string, string> = {
    'org.gnome.system.proxy mode': "'manual'\n",
    'org.gnome.system.proxy.https host': "'127.0.0.1'\n",
    'org.gnome.system.proxy.https port': `${http.port}\n`,
  };
  const run = async (_: string, args: readonly string[]) => gnome[args.slice(1).join(' ')] ?? "''\n";
  expect(await detectProxy(around({ run }), limit())).toMatchObject({
    source: 'system',
    http: `http://127.0.0.1:${http.port}`,
  });
  gnome['org.gnome.system.proxy mode'] = "'auto'\n";
  expect((await detectProxy(around({ run }), limit()))?.hint).toContain('unsupported_pac');
  const home = mkdtempSync(join(tmpdir(), 'fairlead-kde-'));
  try {
    mkdirSync(join(home, '.config'));
    writeFileSync(
      join(home, '.config', 'kioslaverc'),
      `[Proxy Settings]\nProxyType=1\nhttpProxy=http://127.0.0.1 ${http.port}\n`,
    );
    expect(await detectProxy(around({ home }), limit())).toMatchObject({ http: `http://127.0.0.1:${http.port}` });
  } finally {
    rmSync(home, { recursive: true });
  }
  const mac = 'HTTPSEnable : 1\n  HTTPSProxy : 10.0.0.1\n  HTTPSPort : 3128\n  SOCKSEnable : 0\n';
  expect(macSetting(mac)).toEqual({ source: 'system', http: 'http://10.0.0.1:3128', socks: undefined });
  const single = '    ProxyEnable    REG_DWORD    0x1\n    ProxyServer    REG_SZ    10.0.0.1:8080\n';
  expect(windowsSetting(single)).toEqual({ source: 'system', http: 'http://10.0.0.1:8080', socks: undefined });
  const many = '    ProxyEnable    REG_DWORD    0x1\n    ProxyServer    REG_SZ    http=a:1;https=b:2;socks=c:3\n';
  expect(windowsSetting(many)).toEqual({ source: 'system', http: 'http://b:2', socks: 'socks5://c:3' });
});

test('manual wins over detection, auto fills gaps, passwords are masked (R-RPC-092, R-RPC-094)', () => {
  const stored = ProxySettings.parse({ enabled: true, mode: 'manual', http_proxy: 'http://mine:1' });
  const found = { source: 'scan', http: 'http://theirs:2', socks: undefined };
  expect(effective(stored, found)).toMatchObject({ source: 'manual', http: 'http://mine:1' });
  expect(effective({ ...stored, mode: 'auto' }, found)).toMatchObject({ source: 'scan', http: 'http://theirs:2' });
  expect(effective({ ...stored, mode: 'auto' }, undefined)).toMatchObject({ source: 'auto', http: 'http://mine:1' });
  expect(masked('http://user:p%40ss@host:1/x')).toBe('http://user:•••@host:1/x');
  for (const plain of ['http://host:1', 'http://user@host:1', 'host:1', '[::1]:9', 'localhost,127.0.0.1,::1']) {
    expect(masked(plain)).toBe(plain);
  }
  expect(masked('user:secretpw@host:9')).toBe('user:•••@host:9');
  expect(masked('http://u:pa@ssword@h')).toBe('http://u:•••@h');
  expect(masked('http://u:pa/ss:w?rd@h:1')).toBe('http://u:•••@h:1');
  expect(masked('http://me@corp.example:pw@h:1')).toBe('http://me@corp.example:•••@h:1');
  expect(masked('socks5://:pw@h:1')).toBe('socks5://:•••@h:1');
});

/** A proxy that connects, if the caller logs in as `u` with `p w`; and whom it was asked for. */
async function realProxy(kind: 'http' | 'socks'): Promise<{ port: number; asked: string[] } & Disposable> {
  const asked: string[] = [];
  const http = (socket: Socket): void =>
    void socket.once('data', (bytes) => {
      const [line = ''] = bytes.toString().split('\r\n');
      asked.push(line.split(' ')[1] ?? '');
      const known = bytes.toString().includes(`Basic ${Buffer.from('u:p w').toString('base64')}\r\n`);
      socket.end(known ? 'HTTP/1.1 200 OK\r\n\r\n' : 'HTTP/1.1 407 Who?\r\n\r\n');
    });
  const socks = (socket: Socket): void =>
    void socket.once('data', (greeting) => {
      socket.write(Buffer.from([5, greeting.includes(2, 2) ? 2 : 255]));
      socket.once('data', (login) => {
        socket.write(Buffer.from([1, login.equals(Buffer.from('\x01\x01u\x03p w')) ? 0 : 1]));
        socket.once('data', (request) => {
          asked.push(request.subarray(5, -2).toString());
          socket.end(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
        });
      });
    });
  const server = await listening(
    createServer((socket) => {
      socket.on('error', () => {});
      (kind === 'http' ? http : socks)(socket);
    }),
  );
  return { ...server, asked };
}

test('speedtest with level connect goes through the proxy to the target (R-RPC-094)', async () => {
  await using place = await RpcPlace.open();
  using http = await realProxy('http');
  using socks = await realProxy('socks');
  using web = await website();
  const nodes = [
    { name: 'http', url: `http://u:p%20w@127.0.0.1:${http.port}` },
    { name: 'socks', url: `socks5://u:p%20w@127.0.0.1:${socks.port}` },
    { name: 'stranger', url: `http://u:wrong@127.0.0.1:${http.port}` },
    { name: 'web', url: `http://127.0.0.1:${web.port}` },
    { name: 'nobody', url: 'http://127.0.0.1:1' },
  ];
  await place.client.call('proxy.configure', { nodes });
  const found = async (params: object) => {
    const { results } = await place.client.call('proxy.speedtest', { timeout_ms: 10_000, ...params });
    return results
      .filter(({ available }: { available: boolean }) => available)
      .map(({ name }: { name: string }) => name);
  };
  expect(await found({})).toEqual(['http', 'socks', 'stranger', 'web']);
  expect(await found({ level: 'connect', target: 'far.example:8443' })).toEqual(['http', 'socks']);
  expect(http.asked).toContain('far.example:8443');
  expect(socks.asked).toEqual(['far.example']);
  for (const params of [{ level: 'ping' }, { level: 'connect', target: 'nowhere' }]) {
    const { error } = await place.client.ask('proxy.speedtest', params);
    expect(error?.data?.['code'], JSON.stringify(params)).toBe('INVALID_PARAMS');
  }
});

test('a first caller that hangs up takes the detection away from nobody else', async () => {
  using http = await httpProxy();
  const root = mkdtempSync(join(tmpdir(), 'fairlead-proxy-'));
  try {
    const proxies = new Proxies({ root, clock: systemClock, warn: () => {}, around: around({ ports: [http.port] }) });
    proxies.change({ enabled: true, mode: 'auto' });
    const leaving = new AbortController();
    const [first, second] = [proxies.current(leaving.signal), proxies.current(limit())];
    leaving.abort();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    expect(await second).toMatchObject({ source: 'scan', http: `http://127.0.0.1:${http.port}` });
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('a node must have an address that a proxy can have, and a name of its own', async () => {
  await using place = await RpcPlace.open();
  const refuse = async (nodes: unknown, message: string) => {
    const { error } = await place.client.ask('proxy.configure', { nodes });
    expect(error?.message).toContain(message);
  };
  for (const url of ['not a url at all', 'ftp://x:1', 'http://h:99999', 'http://']) {
    await refuse([{ name: 'bad', url }], 'nodes.0.url: is not the address of a proxy');
  }
  const one = { name: 'a', url: 'http://h:1' };
  await refuse([one, { ...one, url: 'http://h:2' }], 'nodes: has two nodes of one name');
  expect((await place.client.call('proxy.nodes')).nodes).toEqual([]);
  // One that a person wrote into the file is not used either.
  const file = join(place.home, '.fairlead', 'proxy.json');
  writeFileSync(file, JSON.stringify({ nodes: [{ name: 'bad', url: 'not a url at all' }] }));
  await expect.poll(async () => (await place.client.call('proxy.nodes')).nodes).toHaveLength(1);
  const { error } = await place.client.ask('proxy.switch', { node_name: 'bad' });
  expect(error?.message).toBe('not a url at all is not the address of a proxy');
  expect((await place.client.call('proxy.status')).enabled).toBe(false);
});

test('a proxy.json with a typo is told of and left alone, whatever is to be written (R-RPC-017)', async () => {
  await using place = await RpcPlace.open();
  const file = join(place.home, '.fairlead', 'proxy.json');
  await place.client.call('proxy.configure', { nodes: [{ name: 'a', url: 'http://h:1' }] });
  const typo = '{\n  "enabled": true,\n  "nodes": [{ "name": "home", "url": "http://h:1" },]\n}\n';
  writeFileSync(file, typo);
  // At once, before anybody has looked at the file again.
  for (const [method, params] of [
    ['proxy.disable', {}],
    ['proxy.configure', { mode: 'auto' }],
    ['proxy.switch', { node_name: 'a' }],
    ['proxy.speedtest', {}],
  ] as const) {
    const { error } = await place.client.ask(method, params);
    expect(error?.message, method).toMatch(/proxy\.json cannot be understood \(line 3: .+\), so it is left as it is/);
  }
  expect(readFileSync(file, 'utf8')).toBe(typo);
  for (const method of ['proxy.nodes', 'proxy.status', 'proxy.env']) {
    expect((await place.client.call(method)).error, method).toContain('proxy.json cannot be understood (line 3: ');
  }
  writeFileSync(file, '{"enabled":false}');
  await place.client.call('proxy.configure', { http_proxy: 'http://h:3' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ http_proxy: 'http://h:3' });
  expect(await place.client.call('proxy.nodes')).not.toHaveProperty('error');
});

test('what was written by hand a moment ago is not lost to a change (R-RPC-017)', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('proxy.configure', { http_proxy: 'http://h:1' });
  const file = join(place.home, '.fairlead', 'proxy.json');
  writeFileSync(file, JSON.stringify({ nodes: [{ name: 'mine', url: 'http://h:2' }] }));
  await place.client.call('proxy.disable');
  expect((await place.client.call('proxy.nodes')).nodes).toMatchObject([{ name: 'mine' }]);
});

test('proxy env for a shell says that a password is hidden, and how to have it', () => {
  const show = (url: string) => env.show?.({ enabled: true, env: { HTTP_PROXY: url } }) ?? '';
  expect(show('http://u@h:1')).toBe("export HTTP_PROXY='http://u@h:1'");
  const shown = show(masked('http://u:pw@h:1'));
  expect(shown.split('\n')[0]).toBe('# The password is hidden here. To have it: fairlead proxy env --reveal');
  const read = spawnSync('sh', ['-c', `eval "$1"; echo "$HTTP_PROXY"`, 'sh', shown], { encoding: 'utf8' });
  expect(read.stdout).toBe('http://u:•••@h:1\n');
  expect(read.stderr).toContain('fairlead proxy env --reveal');
});

test('a search for proxies puts one listener on the signal of its caller', async () => {
  const ports = Array.from({ length: 20 }, (_, at) => at + 1);
  const { signal } = new AbortController();
  const search = detectProxy(around({ ports }), signal);
  await expect.poll(() => getEventListeners(signal, 'abort').length).toBe(1);
  await search;
});

test('an error repeats only the beginning of what was sent', async () => {
  await using place = await RpcPlace.open();
  const long = 'x'.repeat(100_000);
  for (const [method, params] of [
    ['proxy.switch', { node_name: long }],
    ['workspace.restore', { name: long.slice(0, 200) }],
    [long, {}],
  ] as const) {
    const { error } = await place.client.ask(method, params);
    expect(error?.message.length, error?.message).toBeLessThan(200);
  }
});
