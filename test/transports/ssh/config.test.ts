import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SshConfig } from '../../../src/transports/ssh/config/config.ts';
import { evaluate } from '../../../src/transports/ssh/config/match.ts';
import { readConfig } from '../../../src/transports/ssh/config/file.ts';
import { askOpenSsh, findOpenSsh } from '../../../src/transports/ssh/config/openssh.ts';
import { type HostSettings, settingsFrom } from '../../../src/transports/ssh/config/settings.ts';

let home: string;
const env = { PATH: process.env['PATH'], SSH_AUTH_SOCK: '/run/agent', KEYS: '/keys' };
const limit = (): AbortSignal => AbortSignal.timeout(20_000);

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fairlead-config-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, '.ssh', name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text.replaceAll('HOME', home), { mode: 0o600 });
  }
}

const config = (): SshConfig => new SshConfig({ home, env, systemFolder: join(home, 'etc') });

interface Case {
  readonly files: Readonly<Record<string, string>>;
  readonly ask: readonly { readonly host: string; readonly user?: string; readonly port?: number }[];
}

/** Each is put to OpenSSH and to our own parser; the answers must be the same. */
const corpus: Readonly<Record<string, Case>> = {
  'nothing that concerns us': { files: { config: 'SendEnv LANG\n' }, ask: [{ host: 'a' }] },
  'names, users, ports': {
    files: {
      config:
        'Host a\n  HostName 10.0.0.1\n  User alice\n  Port 2222\nHost b a\n  User bob\n  Port 33\nHost *\n  User carol\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, { host: 'a', user: 'dave', port: 99 }],
  },
  'the first value wins, keys add up': {
    files: {
      config:
        'IdentityFile /first\nHost a\n IdentityFile /second\n IdentityFile /first\n User one\nHost *\n User two\n IdentityFile /third\n IdentitiesOnly yes\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }],
  },
  patterns: {
    files: { config: 'Host *.example.com !bad.example.com\n User x\nHost ?\n User one\nHost 10.*\n Port 7\n' },
    ask: [
      { host: 'good.example.com' },
      { host: 'bad.example.com' },
      { host: 'Q' },
      { host: '10.1.2.3' },
      { host: 'none' },
    ],
  },
  case: {
    files: {
      config:
        'HOST Alpha\n uSeR Bob\nHost beta\n HostName X.Example.COM\nMatch host x.EXAMPLE.com\n Port 8\nMatch user bob\n Port 9\n',
    },
    ask: [{ host: 'alpha' }, { host: 'ALPHA' }, { host: 'Alpha' }, { host: 'beta' }],
  },
  'equals signs, quotes, comments, tabs': {
    files: {
      config:
        '# top\nHost=a\n\tUser = "bob"  # not a part of it\n\tPort=22022\n   IdentityFile "/with space/key"\nHost "b" c\n  HostName=x.example.com\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }],
  },
  'Windows line ends': { files: { config: 'Host a\r\n  User bob\r\n  Port 44\r\n' }, ask: [{ host: 'a' }] },
  tokens: {
    files: {
      config:
        'Host a b\n HostName %h.example.com\n IdentityFile /k/%n-%h-%r-%p-%%\n IdentityFile /k/${KEYS}/x\n User bob\n Port 77\n',
    },
    ask: [{ host: 'a' }, { host: 'b', user: 'zoe' }],
  },
  Match: {
    files: {
      config:
        'Host a\n HostName real.example.com\n User bob\nMatch host real.example.com\n Port 1\nMatch originalhost a user bob\n IdentityFile /m\nMatch user zoe,yan\n Port 2\nMatch !host real.example.com\n Port 3\nMatch all\n ConnectTimeout 5\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'b', user: 'zoe' }, { host: 'a', user: 'yan' }],
  },
  'Match localuser': {
    files: { config: `Match localuser ${userInfo().username}\n Port 5\nMatch localuser nobody-here\n Port 6\n` },
    ask: [{ host: 'a' }],
  },
  'Match final': {
    files: {
      config:
        'Host a\n HostName x.example.com\nMatch final host x.example.com\n User late\nHost x.example.com\n Port 9\n',
    },
    ask: [{ host: 'a' }, { host: 'x.example.com' }, { host: 'y' }],
  },
  Include: {
    files: {
      config: 'Include HOME/.ssh/conf.d/*.conf\nInclude HOME/.ssh/missing\nHost *\n Port 1000\n',
      'conf.d/10-a.conf': 'Host a\n User ten\n',
      'conf.d/20-b.conf': 'Host a\n User twenty\n Port 20\nHost b\n User b\n',
      'conf.d/other.txt': 'Host a\n Port 1\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }],
  },
  'Include inside a block': {
    files: {
      config: 'Host a\n Include HOME/.ssh/inner\n Port 5\nHost b\n Port 6\n',
      inner: 'User inner\nHost b\n User never\nHost a\n IdentityFile /inner\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }],
  },
  'jump hosts': {
    files: {
      config:
        'Host a\n ProxyJump u@j1:22,j2\nHost b\n ProxyJump none\nHost c\n ProxyCommand nc %h %p\nHost a b c d\n ProxyJump late\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, { host: 'd' }],
  },
  agents: {
    files: {
      config:
        'Host a\n IdentityAgent none\nHost b\n IdentityAgent SSH_AUTH_SOCK\nHost c\n IdentityAgent /s/%h\nHost d\n IdentityAgent $KEYS\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, { host: 'd' }, { host: 'e' }],
  },
  'host keys': {
    files: {
      config:
        'Host a\n StrictHostKeyChecking yes\n UserKnownHostsFile /k1 /k2\n HostKeyAlias other\nHost b\n StrictHostKeyChecking no\n GlobalKnownHostsFile /g\nHost c\n StrictHostKeyChecking accept-new\n UserKnownHostsFile none\n',
    },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }],
  },
  times: {
    files: { config: 'Host a\n ConnectTimeout 1m30s\nHost b\n ConnectTimeout 7\nHost c\n ConnectTimeout none\n' },
    ask: [{ host: 'a' }, { host: 'b' }, { host: 'c' }],
  },
};

describe('both resolvers give the same answers', () => {
  test.each(Object.entries(corpus))('%s', async (_name, { files, ask }) => {
    const program = (await findOpenSsh(env.PATH)) as string;
    expect(program).toBeDefined();
    write(files);
    const localUser = userInfo().username;
    const { nodes } = await readConfig(home, join(home, 'etc'));
    for (const asked of ask) {
      const query = { ...asked, localUser };
      const file = join(home, '.ssh', 'config');
      const theirs = settingsFrom(await askOpenSsh(program, query, { file, env }, limit()), query, { home, env });
      const ours = settingsFrom(evaluate(nodes, query).settings, query, { home, env });
      // OpenSSH fills in who runs it, and its own files of known hosts.
      const plain = ({ user = localUser, userKnownHosts, ...rest }: HostSettings) => ({
        ...rest,
        user,
        userKnownHosts: userKnownHosts?.some((path) => path.startsWith(userInfo().homedir))
          ? undefined
          : userKnownHosts,
      });
      expect({ asked, ...plain(ours) }).toEqual({ asked, ...plain(theirs) });
    }
  });
});

test('Match exec is never run by our own parser, and its block is left out with a warning', async () => {
  const proof = join(home, 'ran');
  write({ config: `Match exec "touch ${proof}"\n Port 1\nMatch !exec "touch ${proof}"\n Port 2\nHost *\n User bob\n` });
  const { settings, warnings } = await config().resolve({ host: 'a' }, limit());
  expect(settings).toMatchObject({ user: 'bob', port: undefined });
  expect(warnings).toEqual(['a "Match exec" of the SSH config was left out: only OpenSSH decides it']);
  expect(existsSync(proof)).toBe(false);
});

test('a config that others may write is refused, as OpenSSH does', async () => {
  write({ config: 'Host a\n User bob\n' });
  chmodSync(join(home, '.ssh', 'config'), 0o622);
  await expect(config().resolve({ host: 'a' }, limit())).rejects.toMatchObject({
    message: expect.stringMatching(/^The SSH config .*config cannot be used: others may write it/) as string,
    data: { wire: 'CONNECTION_FAILED' },
  });
});

test('a config that changes is read again, also when an included file is new', async () => {
  write({ config: 'Include conf.d/*\nHost a\n User first\n', 'conf.d/1': '' });
  const resolver = config();
  const user = async () => (await resolver.resolve({ host: 'a' }, limit())).settings.user;
  expect(await user()).toBe('first');
  write({ 'conf.d/2': 'Host a\n User second\n' });
  expect(await user()).toBe('second');
  write({ 'conf.d/1': 'Host a\n User third\n' });
  expect(await user()).toBe('third');
  utimesSync(join(home, '.ssh', 'conf.d', '1'), 1, 1);
  expect(await user()).toBe('third');
});

test('includes that go round end with an error', async () => {
  write({ config: 'Include HOME/.ssh/config\n' });
  await expect(config().resolve({ host: 'a' }, limit())).rejects.toThrow('too many nested includes');
});

test('OpenSSH is asked only what cannot be an option, and complains in one line', async () => {
  const program = (await findOpenSsh(env.PATH)) as string;
  const file = join(home, '.ssh', 'config');
  const proof = join(home, 'ran');
  write({ config: 'Host *\n NoSuchWord yes\n' });
  const ask = (host: string) => askOpenSsh(program, { host, localUser: 'x' }, { file, env }, limit());
  await expect(ask('a')).rejects.toMatchObject({
    message: expect.stringMatching(/^The SSH config cannot be used: [^\n]*line 2: Bad configuration option/) as string,
  });
  write({ config: '' });
  await expect(ask(`-oProxyCommand=touch ${proof}`)).rejects.toMatchObject({ data: { wire: 'CONNECTION_FAILED' } });
  expect(existsSync(proof)).toBe(false);
});

test('the hosts a config names outright, in its order', async () => {
  write({
    config:
      'Include extra\nHost web web2 *.dev !no\n HostName web.example.com\n User www\n Port 2200\nHost *\n User all\n',
    extra: 'Host first\n',
  });
  expect(await config().hosts()).toEqual([
    { alias: 'first', user: 'all' },
    { alias: 'web', hostName: 'web.example.com', user: 'www', port: 2200 },
    { alias: 'web2', hostName: 'web.example.com', user: 'www', port: 2200 },
  ]);
});

test('OpenSSH is asked once while the files stay the same, and not at all when they say nothing', async () => {
  const calls = join(home, 'calls');
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin', 'ssh'), `#!/bin/sh\necho "$*" >> ${calls}\necho hostname x.example.com\n`, {
    mode: 0o755,
  });
  const resolver = new SshConfig({ home, accountHome: home, env: { PATH: join(home, 'bin') } });
  const ask = (host: string, user?: string) => resolver.resolve({ host, user }, limit());
  const asked = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []);
  write({ config: 'SendEnv LANG\n' });
  expect((await ask('a')).settings.hostName).toBe('a');
  expect(asked()).toEqual([]);
  write({ config: 'Host a\n HostName whatever\n' });
  for (let again = 0; again < 3; again += 1) expect((await ask('a')).settings.hostName).toBe('x.example.com');
  await ask('a', 'bob');
  expect(asked()).toEqual(['-G -- a', '-G -l bob -- a']);
  write({ config: 'Host a\n HostName something.else\n' });
  await ask('a');
  expect(asked()).toHaveLength(3);
});
