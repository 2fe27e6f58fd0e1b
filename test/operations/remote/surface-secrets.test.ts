import { engineWith } from '../../support/engine.ts';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { sshBook } from '../../../src/operations/remote/index.ts';
import { Ssh, ssh } from '../../../src/transports/ssh/index.ts';
import { defaultSshSettings } from '../../../src/transports/ssh/settings.ts';
import { contents, filesBelow } from '../../support/files-below.ts';
import { doors } from '../../support/ssh/door.ts';
import { isRoot, nobodysPort, startSshd } from '../../support/ssh/sshd.ts';

/** The files below a folder that have a text in their name or in themselves. */
const files = (folder: string, text: string): string[] =>
  [...filesBelow(folder)].flatMap(([path, bytes]) => {
    const name = relative(folder, path);
    return name.includes(text) || bytes.includes(text) ? [name] : [];
  });

/** Those, and every process of this machine that may be read: where a text is. */
function places(folder: string, text: string): string[] {
  const found = files(folder, text);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const file of ['cmdline', 'environ']) {
      if (contents(join('/proc', pid, file)).includes(text)) found.push(`${pid} ${file}`);
    }
  }
  return found;
}

/** What a recording has of the input. */
const typedIn = (cast: string): string =>
  cast
    .split('\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line) as readonly [number, string, string])
    .flatMap(([, kind, text]) => (kind === 'i' ? [text] : []))
    .join('');

const unique = (): string => randomBytes(9).toString('hex');

test.skipIf(!isRoot).each(['stdio', 'http'] as const)(
  '9.1: a password is in no answer, log, recording or file, nor in a process list (%s)',
  async (kind) => {
    await using sshd = await startSshd({ password: true });
    const { address, user: username, password } = sshd;
    const passphrase = `phrase-${unique()}`;
    const encrypted = sshd.newKey('ed25519', { passphrase });
    await using door = await doors[kind]({ args: ['--record=always'] });
    const answers: string[] = [];
    const status = async (name: string, input: object, meta = {}): Promise<string> => {
      const answer = await door.call(name, input, meta);
      answers.push(JSON.stringify(answer));
      const { status: word, code } = answer.structuredContent as Record<string, string>;
      return code ?? word ?? '';
    };
    const place = { address, username, reuse: 'force_new' };
    const dead = `127.0.0.1:${nobodysPort}`;

    expect(await status('ssh_connect', { ...place, password }, { idempotency_key: 'k' })).toBe('ok');
    expect(await status('ssh_connect', { ...place, password }, { idempotency_key: 'k' })).toBe('ok');
    expect(await status('ssh_connect', { ...place, password: `${password}x` }, { idempotency_key: 'k' })).toBe(
      'IDEMPOTENCY_KEY_MISMATCH',
    );
    expect(await status('ssh_connect', { ...place, password: `${password}x` })).toBe('AUTH_FAILED');
    expect(await status('ssh_connect', { ...place, address: dead, password, max_retries: 0 })).toBe(
      'CONNECTION_FAILED',
    );
    expect(await status('ssh_connect', { ...place, password: { secret: password } })).toBe('INVALID_ARGUMENT');
    expect(await status('ssh_connect', { ...place, password, port: password, reuse: password })).toBe(
      'INVALID_ARGUMENT',
    );
    // There is no argument for a passphrase; a model may send one all the same.
    expect(await status('ssh_connect', { ...place, key_path: encrypted, passphrase })).toBe('AUTH_KEY_PARSE');
    expect(await status('ssh_run', { address, username, password, command: 'sleep 0.2; echo ran' })).toBe('completed');
    expect(await status('ssh_sessions', {})).toBe('ok');
    const [first] = answers;
    const { session_id } = (JSON.parse(first ?? '') as { structuredContent: { session_id: string } }).structuredContent;
    const opened = await door.call('ssh_shell_open', { session_id });
    const { shell_id } = opened.structuredContent as { shell_id: string };
    expect(await status('ssh_shell_write', { shell_id, input: 'echo recorded-$((40+2))\n' })).toBe('ok');
    expect(await status('ssh_shell_wait_for', { shell_id, patterns: ['recorded-42'], timeout_secs: 20 })).toBe(
      'matched',
    );
    const during = [password, passphrase].flatMap((secret) => places(door.home, secret));
    expect(await status('ssh_disconnect', { session_id })).toBe('ok');

    expect(during).toEqual([]);
    for (const secret of [password, passphrase]) {
      expect(answers.filter((answer) => answer.includes(secret))).toEqual([]);
      expect(door.said()).not.toContain(secret);
      expect(places(door.home, secret)).toEqual([]);
    }
    // The search does find what is there: the recording of the shell, the record of the host key, the program itself.
    // A recording gets its name when it is complete, a moment after the end of its shell.
    const recorded = (): string[] => files(door.home, 'recorded-42');
    await expect.poll(recorded, { timeout: 20_000 }).toEqual([expect.stringMatching(/\.cast$/)]);
    expect(files(door.home, `]:${sshd.port} `)).toEqual([expect.stringMatching(/known_hosts$/)]);
    expect(places(door.home, 'fairlead.js')).toContainEqual(expect.stringMatching(/cmdline$/));
  },
);

test.each(['stdio', 'http'] as const)(
  'a secret a model types all the same, where nothing is echoed, is in no answer, audit, log or recording (%s)',
  async (kind) => {
    await using sshd = await startSshd();
    const secret = `typed-${unique()}`;
    await using door = await doors[kind]({ args: ['--record=always'] });
    const answers: string[] = [];
    const facts = async (name: string, input: object): Promise<Record<string, string>> => {
      const answer = await door.call(name, input);
      answers.push(JSON.stringify(answer));
      return answer.structuredContent as Record<string, string>;
    };
    const { session_id } = await facts('ssh_connect', sshd.login);
    const { shell_id } = await facts('ssh_shell_open', { session_id });
    // What is typed is recorded, too, where somebody asked for that.
    const recorded = await door.call('startRecording', { sessionId: shell_id, input: true });
    expect(recorded.isError ?? false).toBe(false);
    const prompt = `read -rsp 'sec''ret: ' x; echo "got-\${#x}"\n`;
    expect(await facts('ssh_shell_write', { shell_id, input: prompt })).toMatchObject({ status: 'ok' });
    const wait = (text: string) => facts('ssh_shell_wait_for', { shell_id, patterns: [text], timeout_secs: 20 });
    expect(await wait('secret: ')).toMatchObject({ status: 'matched' });
    expect(await facts('ssh_shell_write', { shell_id, input: `${secret}\n` })).toMatchObject({ status: 'ok' });
    expect(await wait(`got-${secret.length}`)).toMatchObject({ status: 'matched' });
    await facts('ssh_shell_read', { shell_id, clear: false });
    await facts('terminal_read', { terminal: shell_id });
    const during = places(door.home, secret);
    expect(await facts('ssh_disconnect', { session_id })).toMatchObject({ status: 'ok' });

    // A recording gets its name when it is complete, a moment after the end of its shell.
    const casts = (): string[] => files(door.home, 'got-').filter((name) => name.endsWith('.cast'));
    await expect.poll(casts, { timeout: 20_000 }).toHaveLength(2);
    expect(during).toEqual([]);
    expect(answers.filter((answer) => answer.includes(secret))).toEqual([]);
    expect(door.said()).not.toContain(secret);
    expect(places(door.home, secret)).toEqual([]);
    // The search does find what is there: in the audit trail and, where input is recorded, in what was typed.
    if (kind === 'http') expect(places(door.home, 'ssh.shellWrite')).toContainEqual(expect.stringMatching(/audit/));
    const typed = casts()
      .map((name) => typedIn(contents(join(door.home, name)).toString('latin1')))
      .find((text) => text !== '');
    expect(typed).toContain('echo "got-');
  },
);

test.skipIf(!isRoot)('9.1: the audit has neither password nor command, and two principals share nothing', async () => {
  await using sshd = await startSshd({ password: true });
  const { connect, run } = sshBook.nouns['ssh'] as Readonly<Record<'connect' | 'run', AnyOperation>>;
  const settings = { settings: defaultSshSettings, connector: sshd.connector(), clock: systemClock };
  await using engine = engineWith(sshd.home, {}, { parts: [[ssh, () => new Ssh(settings)]] });
  const as = (principal: string) => ({
    engine,
    caller: { name: principal, principal, origin: 'mcp' as const, may: () => true },
    signal: AbortSignal.timeout(20_000),
    key: { value: 'the same key' },
  });
  const { address, user: username, password } = sshd;
  const input = { address, username, password, reuse: 'force_new' };
  const ada = await call(connect, input, as('ada'));
  expect(await call(connect, input, as('ada'))).toBe(ada);
  const bob = await call(connect, input, as('bob'));
  expect(bob.session_id).not.toBe(ada.session_id);
  await call(run, { ...sshd.login, command: 'echo a-private-command' }, as('ada'));
  await expect(call(connect, { ...input, password: `${password}x` }, as('eve'))).rejects.toMatchObject({
    data: { wire: 'AUTH_FAILED' },
  });
  const audit = JSON.stringify(engine.audit.entries());
  expect(engine.audit.entries()).toHaveLength(5);
  expect(audit).toContain('ssh.connect');
  expect(audit).not.toContain(password);
  // What was run is what an audit is for; what was typed or shown is not in it.
  expect(audit).toContain('echo a-private-command');
});
