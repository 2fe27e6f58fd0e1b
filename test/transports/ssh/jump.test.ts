import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connected } from '../../../src/transports/ssh/sessions/connect.ts';
import { type Sshd, startSshd } from '../../support/ssh/sshd.ts';
import { listenTcp, relayTcp } from '../../support/tcp.ts';

let [near, middle, far]: readonly Sshd[] = [];
beforeAll(async () => {
  [near, middle, far] = await Promise.all([startSshd(), startSshd(), startSshd()]);
});
afterAll(async () => {
  for (const sshd of [near, middle, far]) await sshd?.[Symbol.asyncDispose]();
});

const servers = (): { near: Sshd; middle: Sshd; far: Sshd } => ({
  near: near as Sshd,
  middle: middle as Sshd,
  far: far as Sshd,
});

type Place = Pick<Sshd, 'host' | 'port' | 'user' | 'keyPath'>;

const at = ({ host, user, keyPath }: Sshd, { port }: { readonly port: number }): Place => ({
  host,
  port,
  user,
  keyPath,
});

const block = (alias: string, { host, port, user, keyPath }: Place, more = ''): string =>
  `Host ${alias}\n HostName ${host}\n Port ${port}\n User ${user}\n IdentityFile ${keyPath}\n ${more}\n`;

/** Connects to an alias of this config, as the client of the far server. */
function connect(config: string, changes = {}, surroundings = {}): Promise<Connected> {
  const { far: server } = servers();
  writeFileSync(join(server.home, '.ssh', 'config'), config, { mode: 0o600 });
  return server.connect({ address: 'target', username: undefined, keyPath: undefined, ...changes }, surroundings);
}

async function output(connected: Connected, command: string): Promise<string> {
  const process = await connected.link.exec(command, {}, AbortSignal.timeout(10_000));
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdout) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('through one host, each with its own user, key and host key', async () => {
  const { near: jump, far: target } = servers();
  const connected = await connect(block('target', target, 'ProxyJump jump') + block('jump', jump));
  await using _ = connected.link;
  expect(connected).toMatchObject({ host: target.host, port: target.port, username: target.user, retries: 0 });
  expect(await output(connected, 'whoami')).toBe(`${target.user}\n`);
  expect(await output(connected, 'echo $SSH_CONNECTION')).toMatch(new RegExp(` ${target.port}\n$`));
  expect(jump.log).toContain('Accepted publickey');
  await using again = await connected.again?.(AbortSignal.timeout(10_000));
  expect(again).toBeDefined();
});

test('through two, and a million bytes come back whole', async () => {
  const { near: one, middle: two, far: target } = servers();
  const via = `ProxyJump ${one.user}@one:${one.port},two`;
  const connected = await connect(block('target', target, via) + block('one', one) + block('two', two));
  await using _ = connected.link;
  expect((await output(connected, 'head -c 1000000 /dev/zero | tr "\\0" x')).length).toBe(1_000_000);
});

test('a jump host that has a jump host', async () => {
  const { near: one, middle: two, far: target } = servers();
  const config = block('target', target, 'ProxyJump two') + block('two', two, 'ProxyJump one') + block('one', one);
  await using link = (await connect(config)).link;
  expect(link.end).toBeUndefined();
});

test('the jump host dies: the link is lost', async () => {
  await using jump = await startSshd();
  const { far: target } = servers();
  const { link } = await connect(block('target', target, 'ProxyJump jump') + block('jump', jump));
  const process = await link.exec('sleep 100', {}, AbortSignal.timeout(10_000));
  jump.cut();
  expect(await link.ended).toMatchObject({ by: 'lost' });
  expect(await process.ended).toMatchObject({ by: 'lost' });
  await link[Symbol.asyncDispose]();
});

test('the jump host resets while the next one is still to say hello: an attempt that failed, at once, and no more', async () => {
  const { near: jump, far: target } = servers();
  await using way = await relayTcp(() => jump.port);
  await using silent = await listenTcp(() => {});
  const config = block('target', at(target, silent), 'ProxyJump jump') + block('jump', at(jump, way));
  const connecting = connect(config, { maxRetries: 1, timeoutMs: 24_000 });
  connecting.catch(() => {});
  await silent.first;
  way.reset();
  await expect.poll(() => silent.count, { timeout: 20_000 }).toBe(2);
  way.reset();
  await expect(connecting).rejects.toMatchObject({
    message: `Cannot connect to ${silent.address}: the jump host ${way.address} closed the connection (2 attempts).`,
    data: { wire: 'CONNECTION_FAILED', attempts: 2 },
  });
});

test('the jump host resets later: the link is lost', async () => {
  const { near: jump, far: target } = servers();
  await using way = await relayTcp(() => jump.port);
  const { link } = await connect(block('target', target, 'ProxyJump jump') + block('jump', at(jump, way)));
  way.reset();
  expect(await link.ended).toMatchObject({ by: 'lost' });
});

test('closing it closes the way to it', async () => {
  await using jump = await startSshd();
  const { far: target } = servers();
  const { link } = await connect(block('target', target, 'ProxyJump jump') + block('jump', jump));
  expect(jump.children().length).toBeGreaterThan(0);
  await link[Symbol.asyncDispose]();
  expect(await link.ended).toEqual({ by: 'us' });
  await expect.poll(() => jump.children().length, { timeout: 20_000 }).toBe(0);
});

test('the key of the jump host counts too, and the error names it', async () => {
  const { near: jump, far: target } = servers();
  const config = block('target', target, 'ProxyJump jump') + block('jump', jump);
  const knownHostsFile = join(target.folder, 'wrong');
  writeFileSync(knownHostsFile, target.knownHostsLine('ed25519', `[${jump.host}]:${jump.port}`));
  await expect(connect(config, {}, { knownHostsFile })).rejects.toMatchObject({
    message: `The key of [${jump.host}]:${jump.port} is not the one on record.`,
    data: { wire: 'HOST_KEY_MISMATCH' },
  });
});

test('a password and a key that are given are for the destination only', async () => {
  const { near: jump, far: target } = servers();
  const config = `${block('target', target, 'ProxyJump jump')}Host jump\n HostName ${jump.host}\n Port ${jump.port}\n User ${jump.user}\n`;
  const { length } = jump.log;
  const over = jump.logged(/Connection (closed|reset) by|Disconnected from/, length);
  const connecting = connect(config, { keyPath: target.keyPath, password: 'S3CRET' });
  await expect(connecting).rejects.toMatchObject({
    message: expect.stringMatching(/: there was nothing to offer; it accepts publickey\.$/) as string,
    data: { wire: 'AUTH_FAILED' },
  });
  await over;
  expect(jump.log.slice(length)).not.toMatch(/Failed (publickey|password)/);
});

test('a jump host that forwards nothing, or cannot reach the target', async () => {
  await using closed = await startSshd({ config: ['AllowTcpForwarding no'] });
  const { near: jump, far: target } = servers();
  await expect(
    connect(block('target', target, 'ProxyJump jump') + block('jump', closed), { maxRetries: 3 }),
  ).rejects.toMatchObject({
    message: expect.stringMatching(
      /^Cannot connect: the jump host \S+ cannot reach \S+: it forwards no connections\.$/,
    ) as string,
    data: { wire: 'CONNECTION_FAILED' },
  });
  const nowhere = at(target, { port: 1 });
  await expect(
    connect(block('target', nowhere, 'ProxyJump jump') + block('jump', jump), { maxRetries: 1 }),
  ).rejects.toMatchObject({
    message: expect.stringMatching(
      /the jump host \S+ cannot reach 127\.0\.0\.1:1: .*refused \(2 attempts\)\.$/i,
    ) as string,
    data: { wire: 'CONNECTION_FAILED', attempts: 2 },
  });
});

test('a ProxyCommand is refused in words, and never run', async () => {
  const { far: target } = servers();
  await expect(connect(block('target', target, 'ProxyCommand touch /tmp/ran-a-proxy-command'))).rejects.toMatchObject({
    message: 'The SSH config reaches target through a ProxyCommand, which is not supported here.',
    data: { wire: 'CONNECTION_FAILED' },
  });
});

test('a way that goes round in circles', async () => {
  const { near: jump, far: target } = servers();
  const config = block('target', target, 'ProxyJump jump') + block('jump', jump, 'ProxyJump target');
  await expect(connect(config)).rejects.toMatchObject({
    message: 'The SSH config leads to target through more than 7 jump hosts.',
  });
});
