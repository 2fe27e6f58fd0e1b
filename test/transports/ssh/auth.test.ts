import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PasswordQuestion } from '../../../src/transports/ssh/login/auth.ts';
import type { Connected } from '../../../src/transports/ssh/sessions/connect.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { isRoot, type Sshd, startAgent, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
beforeAll(async () => {
  sshd = await startSshd({ config: ['MaxAuthTries 20'] });
});
afterAll(() => sshd[Symbol.asyncDispose]());

async function works(connecting: Promise<Connected>): Promise<Connected> {
  const connected = await connecting;
  await using link = connected.link;
  const process = await link.exec('exit 7', {}, AbortSignal.timeout(10_000));
  expect(await process.ended).toEqual({ by: 'exit', code: 7 });
  return connected;
}

const authFailed = (message: string | RegExp) => ({
  code: 'not_permitted',
  message: typeof message === 'string' ? message : (expect.stringMatching(message) as string),
  data: { wire: 'AUTH_FAILED' },
});

const keyParse = (message: RegExp) => ({
  code: 'invalid_input',
  message: expect.stringMatching(message) as string,
  data: { wire: 'AUTH_KEY_PARSE' },
});

describe('a key that is given (spec 9.1)', () => {
  test.each(['ed25519', 'ecdsa', 'rsa'] as const)('%s', async (kind) => {
    const { again, retries, username } = await works(sshd.connect({ keyPath: sshd.newKey(kind) }));
    expect({ retries, username }).toEqual({ retries: 0, username: sshd.user });
    await using link = await again?.(AbortSignal.timeout(10_000));
    expect(link).toBeDefined();
  });

  test('an RSA key signs with SHA-2', async () => {
    await using strict = await startSshd({ config: ['PubkeyAcceptedAlgorithms rsa-sha2-256,rsa-sha2-512'] });
    await works(strict.connect({ keyPath: strict.newKey('rsa') }));
  });

  test('a path below the home', async () => {
    copyFileSync(sshd.keyPath, join(sshd.home, 'my key'));
    await works(sshd.connect({ keyPath: '~/my key' }));
  });

  test('one the server refuses: said once, not tried again', async () => {
    const keyPath = sshd.newKey('ed25519', { authorized: false });
    await expect(sshd.connect({ keyPath, maxRetries: 3 })).rejects.toMatchObject(
      authFailed(`Cannot log in to 127.0.0.1 as ${sshd.user}: it refused ${keyPath}; it accepts publickey.`),
    );
  });

  test('an encrypted one needs the agent', async () => {
    const keyPath = sshd.newKey('ed25519', { passphrase: 'a phrase' });
    await expect(sshd.connect({ keyPath })).rejects.toMatchObject(
      keyParse(/ it is encrypted; add it to the SSH agent/),
    );
    const old = sshd.newKey('rsa');
    execFileSync('ssh-keygen', ['-q', '-p', '-m', 'PEM', '-P', '', '-N', 'a phrase', '-f', old]);
    await expect(sshd.connect({ keyPath: old })).rejects.toMatchObject(keyParse(/ it is encrypted; /));
  });

  test('an encrypted one that the agent holds', async () => {
    const keyPath = sshd.newKey('ed25519');
    await using agent = await startAgent([sshd.newKey('ed25519', { authorized: false }), keyPath]);
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'a phrase', '-f', keyPath]);
    await works(sshd.connect({ keyPath }, { env: { SSH_AUTH_SOCK: agent.socket } }));
  });

  test('files that are no private key of ours', async () => {
    const at = (name: string) => join(sshd.folder, name);
    const open = sshd.newKey('ed25519');
    chmodSync(open, 0o644);
    writeFileSync(at('garbage'), 'SECRET-GARBAGE', { mode: 0o600 });
    writeFileSync(at('huge'), Buffer.alloc(100_000), { mode: 0o600 });
    mkdirSync(at('folder'), { mode: 0o700 });
    execFileSync('mkfifo', ['-m', '600', at('pipe')]);
    chmodSync(`${sshd.keyPath}.pub`, 0o600);
    for (const [keyPath, why] of [
      [open, /its permissions 0644 let others read it; make it private with chmod 600/],
      [at('missing'), /it cannot be read \(ENOENT\)/],
      [at('garbage'), /it is not a private key of a supported kind/],
      [at('huge'), /too large/],
      [at('folder'), /not a regular file/],
      [at('pipe'), /not a regular file/],
      [`${sshd.keyPath}.pub`, /it holds a public key/],
    ] as const) {
      const error: Error = await sshd.connect({ keyPath }).then(
        () => new Error('It worked.'),
        (thrown: Error) => thrown,
      );
      expect(error).toMatchObject(keyParse(why));
      expect(JSON.stringify(error) + error.message).not.toContain('SECRET');
    }
  });
});

describe('keys nobody named', () => {
  test('the agent', async () => {
    const key = sshd.newKey('ecdsa');
    await using agent = await startAgent([sshd.newKey('ed25519', { authorized: false }), key, sshd.newKey('rsa')]);
    const connected = await works(sshd.connect({ keyPath: undefined }, { env: { SSH_AUTH_SOCK: agent.socket } }));
    expect(connected.again).toBeDefined();
  });

  test('an agent that is gone is no agent', async () => {
    const env = { SSH_AUTH_SOCK: join(sshd.folder, 'no-agent') };
    await works(sshd.connect({}, { env }));
    await expect(sshd.connect({ keyPath: undefined }, { env })).rejects.toMatchObject(
      authFailed(`Cannot log in to 127.0.0.1 as ${sshd.user}: there was nothing to offer; it accepts publickey.`),
    );
  });

  test('the default keys, when neither key nor password is given', async () => {
    await using own = await startSshd();
    copyFileSync(own.keyPath, join(own.home, '.ssh', 'id_rsa'));
    copyFileSync(own.newKey('ed25519', { passphrase: 'a phrase' }), join(own.home, '.ssh', 'id_ed25519'));
    await works(own.connect({ keyPath: undefined }));
    const keyPath = own.newKey('ed25519', { authorized: false });
    await expect(own.connect({ keyPath })).rejects.toMatchObject(authFailed(/it refused \S+; it accepts/));
    await expect(own.connect({ keyPath: undefined, password: 'x' })).rejects.toMatchObject(authFailed(/as \S+: it/));
  });

  test('at most six are offered, each once', async () => {
    const wrong = Array.from({ length: 8 }, () => sshd.newKey('ed25519', { authorized: false }));
    await using agent = await startAgent(wrong);
    copyFileSync(wrong[0] as string, join(sshd.home, '.ssh', 'id_ed25519'));
    const { length } = sshd.log;
    const error = await sshd.connect({ keyPath: undefined }, { env: { SSH_AUTH_SOCK: agent.socket } }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message.match(/a key of the agent \(ssh-ed25519\)/g)).toHaveLength(6);
    await sshd.logged(/(Failed publickey[^]*){6}(Connection (closed|reset) by|Disconnected from)/, length);
    expect(sshd.log.slice(length).match(/Failed publickey/g)).toHaveLength(6);
  });

  test('a server that cuts us off after two (MaxAuthTries)', async () => {
    await using strict = await startSshd({ config: ['MaxAuthTries 2'] });
    await using agent = await startAgent([1, 2, 3].map(() => strict.newKey('ed25519', { authorized: false })));
    const connecting = strict.connect({ keyPath: undefined, maxRetries: 2 }, { env: { SSH_AUTH_SOCK: agent.socket } });
    await expect(connecting).rejects.toMatchObject(authFailed(/it refused a key of the agent/));
    expect(strict.log.match(/Connection from/g)).toHaveLength(1);
  });

  test('keys of the SSH config, and only those with IdentitiesOnly', async () => {
    await using own = await startSshd();
    await using agent = await startAgent([own.keyPath]);
    const wrong = own.newKey('ed25519', { authorized: false });
    const env = { SSH_AUTH_SOCK: agent.socket };
    const config = (text: string) => writeFileSync(join(own.home, '.ssh', 'config'), text, { mode: 0o600 });
    const connect = () => own.connect({ keyPath: undefined, username: undefined, address: 'box' }, { env });
    const place = `Host box\n HostName ${own.host}\n Port ${own.port}\n User ${own.user}\n`;
    config(`${place} IdentityFile ${own.keyPath}\n IdentityAgent none\n`);
    expect(await works(connect())).toMatchObject({ host: own.host, port: own.port, username: own.user });
    config(`${place} IdentityFile ${wrong}\n`);
    await works(connect());
    config(`${place} IdentityFile ${wrong}\n IdentitiesOnly yes\n`);
    await expect(connect()).rejects.toMatchObject(authFailed(new RegExp(`it refused ${wrong}; it accepts publickey`)));
  });
});

describe.runIf(isRoot)('passwords', () => {
  let server: Sshd;
  beforeAll(async () => {
    server = await startSshd({ password: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('one that is given; the login cannot be repeated quietly', async () => {
    const { again } = await works(server.connect({ keyPath: undefined, password: server.password }));
    expect(again).toBeUndefined();
  });

  test('after a key that was refused', async () => {
    const keyPath = server.newKey('ed25519', { authorized: false });
    await works(server.connect({ keyPath, password: server.password }));
  });

  test('a wrong one is in no part of the error', async () => {
    const error = await server.connect({ keyPath: undefined, password: 'S3CRET-wrong' }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject(
      authFailed(
        `Cannot log in to 127.0.0.1 as ${server.user}: it refused the password; it accepts publickey, password.`,
      ),
    );
    expect(JSON.stringify(error) + String(error?.stack) + String(error?.cause)).not.toContain('S3CRET');
  });

  test('none is given: the person is asked, and the limit does not run meanwhile', async () => {
    const questions: PasswordQuestion[] = [];
    const clock = new ManualClock();
    const askPassword = async (question: PasswordQuestion) => {
      questions.push(question);
      clock.advance(2_500);
      return server.password;
    };
    const request = { keyPath: undefined, askPassword, timeoutMs: 2_000 };
    const { again } = await works(server.connect(request, { clock }));
    expect(again).toBeUndefined();
    expect(questions).toEqual([
      {
        user: server.user,
        host: server.host,
        port: server.port,
        prompt: `${server.user}@127.0.0.1's password:`,
        kind: 'password',
      },
    ]);
  });

  test('the person is not asked when a key works or a password was given', async () => {
    const askPassword = () => Promise.reject(new Error('Nobody should ask.'));
    await works(server.connect({ askPassword }));
    await expect(server.connect({ keyPath: undefined, password: 'wrong', askPassword })).rejects.toMatchObject(
      authFailed(/it refused the password/),
    );
  });

  test('nobody answers', async () => {
    const connecting = server.connect({ keyPath: undefined, askPassword: async () => undefined });
    await expect(connecting).rejects.toMatchObject(authFailed(/; the password question was not answered\.$/));
  });

  test('three wrong answers are enough', async () => {
    let asked = 0;
    const askPassword = async () => `wrong ${(asked += 1)}`;
    await expect(server.connect({ keyPath: undefined, askPassword })).rejects.toMatchObject(
      authFailed(/it refused the password, the password, the password; it accepts/),
    );
    expect(asked).toBe(3);
  });

  test('a question is withdrawn with the call', async () => {
    const call = new AbortController();
    let withdrawn = false;
    const askPassword = (_question: PasswordQuestion, signal: AbortSignal) =>
      new Promise<string | undefined>((resolve) => {
        signal.addEventListener('abort', () => {
          withdrawn = true;
          resolve(undefined);
        });
        call.abort(new Error('Gone.'));
      });
    const connecting = server.connector().connect(server.request({ keyPath: undefined, askPassword }), call.signal);
    await expect(connecting).rejects.toThrow('Gone.');
    expect(withdrawn).toBe(true);
  });

  test('a server that hangs up while the person thinks: said in its own words, not tried again, and the question goes', async () => {
    for (const options of [{ password: true }, { keyboardInteractive: true }] as const) {
      await using hasty = await startSshd(options);
      const asked: AbortSignal[] = [];
      const askPassword = (_question: PasswordQuestion, signal: AbortSignal) => {
        asked.push(signal);
        // As at the end of its LoginGraceTime, which on a busy machine may be over before the question is there.
        hasty.cut();
        return new Promise<string | undefined>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      };
      await expect(hasty.connect({ keyPath: undefined, askPassword, maxRetries: 2 })).rejects.toMatchObject({
        code: 'needs_person',
        message: `127.0.0.1 closed the connection before the person had answered for ${hasty.user}.`,
        hint: expect.stringContaining('Call again') as string,
      });
      expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
      expect(hasty.log.match(/Connection from/g)).toHaveLength(1);
    }
  });

  test('a key and a password, both wanted', async () => {
    await using both = await startSshd({ password: true, config: ['AuthenticationMethods publickey,password'] });
    await using agent = await startAgent([both.newKey('ed25519', { authorized: false }), both.keyPath]);
    const { again } = await works(both.connect({ password: both.password }));
    expect(again).toBeUndefined();
    const env = { SSH_AUTH_SOCK: agent.socket };
    await works(both.connect({ keyPath: undefined, askPassword: async () => both.password }, { env }));
  });
});

describe.runIf(isRoot && existsSync('/etc/pam.d/sshd'))('keyboard-interactive', () => {
  let server: Sshd;
  beforeAll(async () => {
    server = await startSshd({ keyboardInteractive: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('a password that is given answers the one hidden question', async () => {
    await works(server.connect({ keyPath: undefined, password: server.password }));
  });

  test('the person is asked with the words of the server', async () => {
    const questions: PasswordQuestion[] = [];
    const askPassword = async (question: PasswordQuestion) => {
      questions.push(question);
      return server.password;
    };
    await works(server.connect({ keyPath: undefined, askPassword }));
    expect(questions).toMatchObject([
      { kind: 'keyboard-interactive', prompt: expect.stringContaining('Password:') as string },
    ]);
  });

  test('a wrong one', async () => {
    await expect(server.connect({ keyPath: undefined, password: 'wrong' })).rejects.toMatchObject(
      authFailed(/it refused the password, keyboard-interactive; it accepts publickey, keyboard-interactive/),
    );
  });
});
