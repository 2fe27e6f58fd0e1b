import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AskTrust, HostKeyQuestion } from '../../../src/transports/ssh/login/host-key-check.ts';
import type { ConnectRequest, SshSurroundings } from '../../../src/transports/ssh/sessions/connect.ts';
import { isRoot, type KeyKind, type Sshd, startSshd } from '../../support/ssh/sshd.ts';
import { relayTcp } from '../../support/tcp.ts';

let sshd: Sshd;
/** Another server, for a key that is not the right one. */
let other: Sshd;
beforeAll(async () => {
  [sshd, other] = await Promise.all([startSshd({ hostKeys: ['ed25519', 'ecdsa', 'rsa'] }), startSshd()]);
});
afterAll(async () => {
  await sshd[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

let homes = 0;
interface Files {
  readonly user?: string;
  readonly own?: string;
  readonly system?: string;
  readonly config?: string;
}

/** A client with these files and no past. */
function client({ user, own, system, config }: Files = {}) {
  homes += 1;
  const home = join(sshd.folder, `client${homes}`);
  const knownHostsFile = join(home, '.fairlead', 'known_hosts');
  const systemFolder = join(home, 'etc');
  for (const [path, text] of [
    [join(home, '.ssh', 'known_hosts'), user],
    [knownHostsFile, own],
    [join(systemFolder, 'ssh_known_hosts'), system],
    [join(home, '.ssh', 'config'), config],
  ] as const) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (text !== undefined) writeFileSync(path, text, { mode: 0o600 });
  }
  const connect = async (policy: SshSurroundings['hostKeyPolicy'], changes: Partial<ConnectRequest> = {}) => {
    const connected = await sshd.connect(changes, { home, knownHostsFile, systemFolder, hostKeyPolicy: policy });
    await connected.link[Symbol.asyncDispose]();
    return { state: connected.hostKey.state, warnings: connected.warnings };
  };
  return { home, knownHostsFile, systemFolder, connect };
}

const fingerprint = (kind: KeyKind = 'ed25519'): string =>
  execFileSync('ssh-keygen', ['-lf', join(sshd.folder, `host_${kind}.pub`)], { encoding: 'utf8' }).split(' ')[1] ?? '';

const known = { state: 'known', warnings: [] };
const wrongLine = (): string => other.knownHostsLine('ed25519', `[${sshd.host}]:${sshd.port}`);
const refused = (wire: string, message: string) => ({
  code: 'not_permitted',
  message,
  data: { wire, fingerprint: fingerprint(), context: fingerprint() },
});
function unreadable(path: string): void {
  writeFileSync(path, '');
  chmodSync(path, 0);
}
const place = (): string => `[${sshd.host}]:${sshd.port}`;

test.each(['off', 'accept-new'] as const)(
  'one address, two machines: more links go to the first of them only (%s)',
  async (policy) => {
    await using twin = await startSshd();
    twin.authorize(sshd.keyPath);
    await using name = await relayTcp((count) => (count === 2 ? twin.port : sshd.port));
    const own = `${sshd.knownHostsLine('ed25519', `[127.0.0.1]:${name.port}`)}\n${twin.knownHostsLine('ed25519', `[127.0.0.1]:${name.port}`)}\n`;
    const { home, knownHostsFile } = client(policy === 'off' ? {} : { own });
    const surroundings = { home, knownHostsFile, hostKeyPolicy: policy };
    const { link, again } = await sshd.connect({ address: name.address }, surroundings);
    await using _ = link;
    const { length } = twin.log;
    const limit = AbortSignal.timeout(10_000);
    await expect(again?.(limit)).rejects.toMatchObject({
      message: `[127.0.0.1]:${name.port} is another machine than before: its key is not the same.`,
      data: { wire: 'HOST_KEY_MISMATCH' },
    });
    // Before anything was offered to it.
    expect(twin.log.slice(length)).not.toContain('publickey');
    await using third = await again?.(limit);
    expect(third?.end).toBeUndefined();
  },
);

describe('a known_hosts that cannot be read is not an empty one: nothing is connected', () => {
  const loop = (path: string): void => symlinkSync(path, path);
  const cases = [
    ['a folder (EISDIR)', (path: string) => mkdirSync(path), 'EISDIR'],
    ['a link to itself (ELOOP)', loop, 'ELOOP'],
    // Root may read everything.
    ...(isRoot ? [] : [['no right to read (EACCES)', unreadable, 'EACCES'] as const]),
  ] as const;
  const files = ['user', 'own', 'system'] as const;
  const policies = ['accept-new', 'strict', 'off'] as const;

  test.each(
    cases.flatMap(([name, make, code], at) => files.map((file) => [name, file, policies[at], make, code] as const)),
  )('%s, the file of: %s, policy %s', async (_, file, policy, make, code) => {
    const { home, knownHostsFile, systemFolder, connect } = client();
    const paths = {
      user: join(home, '.ssh', 'known_hosts'),
      own: knownHostsFile,
      system: join(systemFolder, 'ssh_known_hosts'),
    };
    make(paths[file]);
    await expect(connect(policy ?? 'off', { maxRetries: 3 })).rejects.toMatchObject({
      code: 'not_permitted',
      message: `No host key can be checked: ${paths[file]} cannot be read (${code}).`,
      data: { wire: 'HOST_KEY_UNKNOWN', context: 'make the file readable, or remove it if it is not needed' },
    });
  });
});

describe('ask (9.3)', () => {
  test('the person is shown the fingerprint; a yes is recorded before any credential is sent, and asked for once', async () => {
    const { connect, knownHostsFile } = client();
    const asked: HostKeyQuestion[] = [];
    const trust = (answer: boolean): AskTrust => {
      return (question) => {
        asked.push(question);
        return Promise.resolve(answer);
      };
    };
    const question = { name: place(), type: 'ssh-ed25519', fingerprint: fingerprint() };
    const { length } = sshd.log;
    await expect(connect('ask', { askTrust: trust(false), maxRetries: 3 })).rejects.toMatchObject(
      refused('HOST_KEY_UNKNOWN', `The key of ${place()} is not on record.`),
    );
    expect(asked).toEqual([question]);
    expect(sshd.log.slice(length)).not.toContain('publickey');
    await expect(connect('ask')).rejects.toMatchObject({ data: { wire: 'HOST_KEY_UNKNOWN' } });
    expect(await connect('ask', { askTrust: trust(true) })).toEqual({ state: 'new', warnings: [] });
    expect(asked).toEqual([question, question]);
    expect(readFileSync(knownHostsFile, 'utf8')).toBe(`${sshd.knownHostsLine('ed25519', place())}\n`);
    expect(await connect('ask', { askTrust: trust(false) })).toEqual(known);
    expect(asked).toHaveLength(2);
  });

  test('the yes stands although the login then fails, so that the person is not asked for it again', async () => {
    const { connect, knownHostsFile } = client();
    const askTrust = (): Promise<boolean> => Promise.resolve(true);
    await expect(connect('ask', { askTrust, username: 'no-such-user' })).rejects.toMatchObject({
      data: { wire: 'AUTH_FAILED' },
    });
    expect(readFileSync(knownHostsFile, 'utf8')).toContain(place());
  });

  test('the yes is for the key that was shown: another machine that comes in its place is refused', async () => {
    await using twin = await startSshd();
    await using name = await relayTcp((count) => (count === 1 ? sshd.port : twin.port));
    const { connect, knownHostsFile } = client();
    const askTrust = (): Promise<boolean> => Promise.resolve(true);
    await expect(connect('ask', { address: name.address, askTrust })).rejects.toMatchObject({
      data: { wire: 'HOST_KEY_UNKNOWN' },
    });
    expect(existsSync(knownHostsFile)).toBe(false);
  });

  test('a key that changed is refused without a question', async () => {
    const askTrust = (): Promise<boolean> => Promise.reject(new Error('asked'));
    await expect(client({ user: wrongLine() }).connect('ask', { askTrust })).rejects.toMatchObject({
      data: { wire: 'HOST_KEY_MISMATCH' },
    });
  });
});

describe('accept-new (spec 9.3)', () => {
  test('a new key is recorded in our own file only, privately, and known from then on', async () => {
    const { home, connect, knownHostsFile } = client({ user: 'elsewhere ssh-ed25519 AAAA\n' });
    const { hostKey, link } = await sshd.connect({}, { home, knownHostsFile });
    await link[Symbol.asyncDispose]();
    expect(hostKey).toEqual({ fingerprint: fingerprint(), state: 'new' });
    expect(readFileSync(knownHostsFile, 'utf8')).toBe(`${sshd.knownHostsLine()}\n`);
    expect(statSync(knownHostsFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(home, '.ssh', 'known_hosts'), 'utf8')).toBe('elsewhere ssh-ed25519 AAAA\n');
    expect(await connect('accept-new')).toEqual(known);
    expect(await connect('strict')).toEqual(known);
  });

  test('a changed key is refused before any credential is sent', async () => {
    const before = sshd.log.length;
    await expect(client({ user: wrongLine() }).connect('accept-new', { maxRetries: 3 })).rejects.toMatchObject(
      refused('HOST_KEY_MISMATCH', `The key of ${place()} is not the one on record.`),
    );
    await sshd.connect().then(({ link }) => link[Symbol.asyncDispose]());
    await sshd.logged(/Connection from[^]*Connection from[^]*Accepted publickey/, before);
    const [refusedPart = '', acceptedPart = ''] = sshd.log
      .slice(before)
      .split(/(?=Connection from)/)
      .slice(-2);
    expect(refusedPart).not.toMatch(/publickey|password/);
    expect(acceptedPart).toMatch(/Accepted publickey/);
  });

  test('many at once lose no line', async () => {
    const { home, knownHostsFile } = client();
    const both = [sshd, other];
    const connecting = Array.from({ length: 10 }, (_, index) =>
      (both[index % 2] as Sshd).connect({}, { home, knownHostsFile }),
    );
    for (const { link } of await Promise.all(connecting)) await link[Symbol.asyncDispose]();
    const lines = readFileSync(knownHostsFile, 'utf8').trim().split('\n').toSorted();
    expect(lines).toEqual([sshd.knownHostsLine(), other.knownHostsLine()].toSorted());
  });

  test('a file that cannot be written is a warning', async () => {
    const { home } = client();
    // The kernel makes all that is there: no folder can be added.
    const knownHostsFile = '/proc/no-such-folder/known_hosts';
    const { link, warnings, hostKey } = await sshd.connect({}, { home, knownHostsFile });
    await link[Symbol.asyncDispose]();
    expect(hostKey.state).toBe('new');
    expect(warnings).toEqual([`the key of ${place()} could not be recorded in ${knownHostsFile} (ENOENT)`]);
  });

  test('a lock that a dead process left does not hold us up for ever', async () => {
    const { home, knownHostsFile } = client({ own: '' });
    writeFileSync(`${knownHostsFile}.lock`, '');
    execFileSync('touch', ['-d', '1 hour ago', `${knownHostsFile}.lock`]);
    const { link } = await sshd.connect({}, { home, knownHostsFile });
    await link[Symbol.asyncDispose]();
    expect(readFileSync(knownHostsFile, 'utf8')).toBe(`${sshd.knownHostsLine()}\n`);
  });
});

describe('strict', () => {
  test('an unknown key is refused, with its fingerprint', async () => {
    const { connect } = client();
    await expect(connect('strict')).rejects.toMatchObject(
      refused('HOST_KEY_UNKNOWN', `The key of ${place()} is not on record.`),
    );
  });

  test('the SSH config may ask for it, and may not ask for less', async () => {
    const strict = client({ config: 'StrictHostKeyChecking yes\n' });
    await expect(strict.connect('accept-new')).rejects.toMatchObject({ data: { wire: 'HOST_KEY_UNKNOWN' } });
    const lax = client({ user: wrongLine(), config: 'StrictHostKeyChecking no\n' });
    await expect(lax.connect('accept-new')).rejects.toMatchObject({ data: { wire: 'HOST_KEY_MISMATCH' } });
  });
});

describe('off', () => {
  test('warns about what is unknown or changed, every time, and records nothing', async () => {
    const fresh = client();
    const unchecked = {
      state: 'unchecked',
      warnings: [`the key of ${place()} is not on record; host keys are not checked (policy off)`],
    };
    expect(await fresh.connect('off')).toEqual(unchecked);
    expect(await fresh.connect('off')).toEqual(unchecked);
    expect(await client({ user: wrongLine() }).connect('off')).toEqual({
      state: 'changed',
      warnings: [`the key of ${place()} is not the one on record; host keys are not checked (policy off)`],
    });
    expect(await client({ user: sshd.knownHostsLine() }).connect('off')).toEqual(known);
  });
});

describe('known_hosts', () => {
  test('is read from the user, the system and ourselves', async () => {
    for (const where of ['user', 'system', 'own']) {
      expect(await client({ [where]: sshd.knownHostsLine() }).connect('strict')).toEqual(known);
    }
  });

  test('lists, patterns, negations', async () => {
    const names = (text: string) => client({ user: sshd.knownHostsLine('ed25519', text) }).connect('strict');
    expect(await names(`elsewhere,${place()}`)).toEqual(known);
    expect(await names(`[127.*]:${sshd.port}`)).toEqual(known);
    expect(await names(`[127.0.0.?]:*`)).toEqual(known);
    await expect(names(`[127.*]:*,!${place()}`)).rejects.toMatchObject({ data: { wire: 'HOST_KEY_UNKNOWN' } });
    await expect(names(`[127.0.0.1]:${sshd.port + 1}`)).rejects.toMatchObject({ data: { wire: 'HOST_KEY_UNKNOWN' } });
  });

  test('a key known from the usual port', async () => {
    expect(await client({ user: sshd.knownHostsLine('ed25519', '127.0.0.1') }).connect('strict')).toEqual(known);
    // Another key there says nothing about this port.
    const { connect } = client({ user: other.knownHostsLine('ed25519', '127.0.0.1') });
    expect(await connect('accept-new')).toEqual({ state: 'new', warnings: [] });
  });

  test('hashed names, as ssh-keygen makes them', async () => {
    const { home, connect } = client({ user: `${sshd.knownHostsLine()}\n` });
    execFileSync('ssh-keygen', ['-q', '-H', '-f', join(home, '.ssh', 'known_hosts')], { stdio: 'ignore' });
    expect(readFileSync(join(home, '.ssh', 'known_hosts'), 'utf8')).toMatch(/^\|1\|/);
    expect(await connect('strict')).toEqual(known);
    await expect(client({ user: wrongHashed() }).connect('accept-new')).rejects.toMatchObject({
      data: { wire: 'HOST_KEY_MISMATCH' },
    });
  });

  test('a revoked key is refused by every policy', async () => {
    for (const policy of ['strict', 'accept-new', 'off'] as const) {
      const { connect } = client({
        own: `@revoked ${sshd.knownHostsLine('ed25519', '*')}\n`,
        user: sshd.knownHostsLine(),
      });
      await expect(connect(policy)).rejects.toMatchObject(
        refused('HOST_KEY_MISMATCH', `The key of ${place()} has been revoked.`),
      );
    }
  });

  test('authorities and damage say nothing', async () => {
    const user = `@cert-authority ${sshd.knownHostsLine()}\n${place()} ssh-ed25519 !!!\n\n# x\n${place()}\n|1|x|y ssh-rsa AAAA\n`;
    expect(await client({ user }).connect('accept-new')).toEqual({ state: 'new', warnings: [] });
  });

  test.each(['ecdsa', 'rsa'] as const)('a recorded %s key is asked for first', async (kind) => {
    expect(await client({ user: sshd.knownHostsLine(kind) }).connect('strict')).toEqual(known);
  });

  test('a key of another type than the recorded ones is a change', async () => {
    const rsa = sshd.knownHostsLine('rsa', other.host === sshd.host ? `[${other.host}]:${other.port}` : '');
    await expect(other.connect({}, { home: client({ user: rsa }).home })).rejects.toMatchObject({
      data: { wire: 'HOST_KEY_MISMATCH' },
    });
  });

  test('HostKeyAlias and UserKnownHostsFile of the SSH config', async () => {
    const { home, connect } = client();
    writeFileSync(join(home, 'mine'), sshd.knownHostsLine('ed25519', 'the-box'));
    writeFileSync(join(home, '.ssh', 'config'), 'HostKeyAlias the-box\nUserKnownHostsFile ~/mine\n', { mode: 0o600 });
    expect(await connect('strict')).toEqual(known);
  });
});

function wrongHashed(): string {
  const { home } = client({ user: `${wrongLine()}\n` });
  const path = join(home, '.ssh', 'known_hosts');
  execFileSync('ssh-keygen', ['-q', '-H', '-f', path], { stdio: 'ignore' });
  return readFileSync(path, 'utf8');
}
