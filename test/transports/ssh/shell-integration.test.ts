import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Blocks } from '../../../src/engine/terminal/blocks.ts';
import { MarkScanner } from '../../../src/engine/terminal/marks.ts';
import { abortable } from '../../../src/system/abortable.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { firstCommand, type RemoteLaunch } from '../../../src/transports/ssh/open/integration.ts';
import { begin, type HandshakeResult } from '../../../src/transports/ssh/open/integration-start.ts';
import type { SshProcess } from '../../../src/transports/ssh/link/link.ts';
import { farShell } from '../../support/ssh/far-shell.ts';

const limit = (): AbortSignal => AbortSignal.timeout(20_000);

let home: string;
type Begun = HandshakeResult & { readonly process: SshProcess };
const open: Begun[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fairlead-far-'));
  mkdirSync(join(home, 'run'));
  symlinkSync('/usr/bin/busybox', join(home, 'ash'));
  file('.hushlogin', '');
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.process[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

function file(name: string, text: string): void {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), text);
}

function launchOf(changes: Partial<RemoteLaunch> = {}): RemoteLaunch {
  return {
    token: randomBytes(9).toString('base64url'),
    nonce: 'abcdef0123456789',
    folder: `fairlead-${randomBytes(12).toString('hex')}`,
    env: { FAIRLEAD: '1', FAIRLEAD_SESSION: 't_12345678' },
    integration: true,
    ...changes,
  };
}

const path = (shell: string): string => (shell === 'ash' ? join(home, 'ash') : `/usr/bin/${shell}`);

/** As a server would start it for a user with this login shell. */
async function start(shell: string, launch: RemoteLaunch, env: Readonly<Record<string, string>> = {}): Promise<Begun> {
  const variables = { HOME: home, SHELL: path(shell), LANG: 'C.UTF-8', XDG_RUNTIME_DIR: join(home, 'run'), ...env };
  const process = await farShell([path(shell), '-c', firstCommand(launch.token)], variables);
  return await begunOn(process, launch);
}

async function begunOn(process: SshProcess, launch: RemoteLaunch, patienceMs?: number): Promise<Begun> {
  const begun = { ...(await begin(process, launch, limit(), patienceMs)), process };
  open.push(begun);
  return begun;
}

/** Reads what it prints, and its marks, up to a condition. */
class Reader {
  readonly blocks = new Blocks({ clock: systemClock, trustOnly: true });
  readonly #begun: Begun;
  readonly #marks = new MarkScanner({ nonce: 'abcdef0123456789' });
  readonly #output: AsyncIterator<Uint8Array>;
  text = '';
  #at = 0;

  constructor(begun: Begun) {
    if (begun.as === 'nothing') throw new Error('nothing was started');
    this.#begun = begun;
    this.#output = begun.output[Symbol.asyncIterator]();
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const deadline = AbortSignal.timeout(15_000);
    while (!holds()) {
      const chunk = await abortable(this.#output.next(), deadline).catch(() => undefined);
      if (chunk?.done !== false) throw new Error(`no ${what}: ${JSON.stringify(this.text)}`);
      for (const mark of this.#marks.scan(chunk.value, this.#at)) this.blocks.accept(mark);
      this.#at += chunk.value.length;
      this.text += Buffer.from(chunk.value).toString('utf8');
    }
  }

  async prompt(): Promise<void> {
    await this.until(() => this.blocks.promptAt !== undefined, 'a prompt');
  }

  /** Runs a line; what came out up to the next prompt. */
  async run(line: string): Promise<{ readonly code: number | undefined; readonly text: string }> {
    await this.prompt();
    const { cycle } = this.blocks;
    const from = this.text.length;
    await this.#begun.process.write(Buffer.from(`${line}\r`));
    await this.until(() => this.blocks.cycle > cycle && this.blocks.promptAt !== undefined, `the end of ${line}`);
    return { code: this.blocks.last?.exitCode, text: this.text.slice(from) };
  }
}

const shells = ['bash', 'zsh', 'fish', 'dash', 'ash'] as const;

describe.each(shells)('%s', (shell) => {
  test('tells by marks what it does, and no file of ours is left', async () => {
    const begun = await start(shell, launchOf());
    expect(begun).toMatchObject({ as: 'asked', marked: true, loginShell: path(shell) });
    const reader = new Reader(begun);
    expect(await reader.run('sh -c "exit 7"')).toMatchObject({ code: 7 });
    expect(await reader.run('echo a-$FAIRLEAD-$FAIRLEAD_SESSION-b')).toMatchObject({
      code: 0,
      text: expect.stringContaining('a-1-t_12345678-b'),
    });
    expect(readdirSync(join(home, 'run'))).toEqual([]);
    // Nothing of how it was done is seen by what runs in it.
    const variables = (await reader.run('env')).text;
    expect(variables).not.toMatch(/FAIRLEAD_(?:DIR|INTEGRATION|ENV|SHELL|ZDOTDIR|XDG)|abcdef0123456789=/);
    expect(variables).not.toContain(`${join(home, 'run')}/`);
    expect(begun.as === 'asked' && reader.text).not.toContain('7461;');
  });

  test('the terminal is as a login finds it: it echoes, and Ctrl-C works', async () => {
    const reader = new Reader(await start(shell, launchOf()));
    const { text } = await reader.run('stty -a');
    expect(text).toMatch(/ echo\b/);
    expect(text).toMatch(/\bicanon/);
    expect(text).toMatch(/\bopost/);
  });

  test('files of a login are read, and where they leave the environment is kept', async () => {
    file('.profile', 'export FROM_LOGIN=profile\n');
    file('.zprofile', 'export FROM_LOGIN=profile\n');
    file('.config/fish/config.fish', 'status is-login; and set -gx FROM_LOGIN profile\n');
    const reader = new Reader(await start(shell, launchOf()));
    expect((await reader.run('echo "[$FROM_LOGIN]"')).text).toContain('[profile]');
  });
});

test.each([...shells, 'tcsh'])('a user whose login shell is %s may ask for another one', async (login) => {
  const begun = await start(login, launchOf({ shell: 'dash', cwd: '/', env: { A: `it's "$HOME" \\ !\n2` } }));
  expect(begun).toMatchObject({ as: 'asked', marked: true });
  const reader = new Reader(begun);
  expect((await reader.run('pwd; printf "[%s]" "$A"')).text.replaceAll('\r', '')).toContain(
    `/\n[it's "$HOME" \\ !\n2]`,
  );
});

test('a shell we have no script for is started as it is', async () => {
  const begun = await start('tcsh', launchOf());
  expect(begun).toMatchObject({ as: 'asked', marked: false });
  const reader = new Reader(begun);
  await reader.until(() => /[>%#] $/.test(reader.text), 'a prompt');
});

test('a program instead of a shell', async () => {
  const begun = await start('bash', launchOf({ argv: ['printf', '<%s>', 'a b', `c'd`] }));
  const reader = new Reader(begun);
  await reader.until(() => reader.text.includes(`<a b><c'd>`), 'the output');
  expect(begun.as !== 'nothing' && (await begun.process.ended)).toEqual({ by: 'exit', code: 0 });
});

test.each([
  ['fish', {}, 'echo "<$FISH_VERSION>"; exit 4', /<\d/],
  ['tcsh', {}, 'echo "<$tcsh>"; exit 4', /<\d/],
  ['bash', { shell: 'dash' }, `echo "<$0>it's"; exit 4`, /dash>it's/],
])('R-RPC-023: a command goes through the shell there: login %s, %j', async (login, changes, command, shown) => {
  const begun = await start(login, launchOf({ command, ...changes }));
  const reader = new Reader(begun);
  await reader.until(() => shown.test(reader.text), 'the output');
  expect(begun.as !== 'nothing' && (await begun.process.ended)).toEqual({ by: 'exit', code: 4 });
});

test.each([
  [{ cwd: '/no/such folder' }, 'The far side has no folder /no/such folder.'],
  [{ shell: 'no-such-shell' }, 'The far side has no program no-such-shell.'],
  [{ argv: ['no-such-program'] as const }, 'The far side has no program no-such-program.'],
])('what is not there is said: %j', async (changes, message) => {
  await expect(start('bash', launchOf(changes))).rejects.toMatchObject({ code: 'invalid_input', message });
});

test('noise of start-up files is not shown, and the message of the day is', async () => {
  rmSync(join(home, '.hushlogin'));
  file('.zshenv', 'echo noise\n');
  const begun = await start('zsh', launchOf({ shell: 'dash' }));
  const reader = new Reader(begun);
  await reader.prompt();
  expect(reader.text).not.toContain('noise');
  if (existsSync('/etc/motd')) expect(reader.text).toContain('Debian');
});

test('a shell whose files are read elsewhere works without marks, and the scripts go all the same', async () => {
  file('.profile', 'ENV=; export ENV; PS1="mine> "\n');
  const reader = new Reader(await start('dash', launchOf()));
  await reader.until(() => reader.text.includes('mine> '), 'a prompt');
  await expect.poll(() => readdirSync(join(home, 'run')), { timeout: 60_000, interval: 250 }).toEqual([]);
}, 90_000);

test('no place for the scripts: the shell starts as it is', async () => {
  // An unwritable home, and names that are taken everywhere else.
  const launch = launchOf();
  const places = ['/dev/shm', '/tmp', join(home, 'run')].map((place) => join(place, launch.folder));
  for (const place of places) mkdirSync(place);
  try {
    const begun = await start('bash', launch, { TMPDIR: join(home, 'run') });
    expect(begun).toMatchObject({ as: 'asked', marked: false });
  } finally {
    for (const place of places) rmSync(place, { recursive: true });
  }
});

test('a machine that cannot run it, and says so: nothing was started', async () => {
  const launch = launchOf();
  const process = await farShell(['/bin/sh', '-c', `echo "Unknown command: exec"; exit 1`], { HOME: home });
  expect(await begin(process, launch, limit())).toEqual({ as: 'nothing' });
});

test('a forced command keeps the terminal, and nothing it said is lost', async () => {
  const launch = launchOf();
  const process = await farShell(['/bin/sh', '-c', 'yes menu | head -c 300000; read x; echo "chose $x"'], {
    HOME: home,
  });
  const begun = await begunOn(process, launch);
  expect(begun.as).toBe('other');
  const reader = new Reader(begun);
  await process.write(Buffer.from('3\r'));
  await reader.until(() => reader.text.includes('chose 3'), 'the answer');
  expect(reader.text.startsWith('menu\r\nmenu')).toBe(true);
  expect(reader.text.replace(/[^m]/g, '').length).toBe(60_000);
});

test('a command that asks something first, and then lets ours run: a plain login', async () => {
  const launch = launchOf();
  const asking = `printf "Passcode: "; read x; ${firstCommand(launch.token)}`;
  const process = await farShell(['/bin/bash', '-c', asking], { HOME: home, SHELL: '/bin/dash', PS1: 'plain> ' });
  const begun = await begunOn(process, launch, 500);
  expect(begun.as).toBe('other');
  const reader = new Reader(begun);
  await reader.until(() => reader.text.includes('Passcode: '), 'the question');
  await process.write(Buffer.from('1\r'));
  await reader.until(() => /[$#>] $/.test(reader.text), 'a prompt');
  await process.write(Buffer.from('echo works-$((40 + 2))\r'));
  await reader.until(() => reader.text.includes('works-42\r\n'), 'the output');
});

test('an abort while the far side is silent ends the wait and the process', async () => {
  const process = await farShell(['/bin/sh', '-c', 'sleep 60'], { HOME: home });
  await expect(begin(process, launchOf(), AbortSignal.timeout(100))).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(await process.ended).toMatchObject({ by: 'signal' });
});
