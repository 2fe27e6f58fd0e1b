import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { installed, plain, ShellSession, type ShellOptions } from '../../../support/shells/integration-session.ts';

const scratch = mkdtempSync(join(tmpdir(), 'fairlead-shells-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const ash = join(scratch, 'ash');
symlinkSync('/usr/bin/busybox', ash);

// Rebuilds both prompts before every prompt, prints an empty line first, and looks at the status itself.
const zshFramework = `
zle-line-init() { : }
zle -N zle-line-init
theme_precmd() { local s=$?; print; PROMPT="%F{green}~%f [$s]"$'\\n'"%# "; RPROMPT="%F{red}right%f"; }
precmd_functions+=(theme_precmd)
`;
const bashFramework = `
theme() { local s=$?; PS1="\\[\\e[32m\\]~\\[\\e[0m\\] [$s]\\n\\$ "; }
PROMPT_COMMAND=theme
`;

interface Shell extends ShellOptions {
  readonly name: string;
  readonly program: string;
  /** The shell announces where output starts and what the command was. */
  readonly full: boolean;
  readonly status: string;
}

const all: readonly Shell[] = [
  { name: 'bash', program: 'bash', shell: 'bash', files: { '.bashrc': "PS1='here\\$ '\n" }, full: true, status: '$?' },
  {
    name: 'bash with a prompt framework',
    program: 'bash',
    shell: 'bash',
    files: { '.bashrc': bashFramework },
    full: true,
    status: '$?',
  },
  { name: 'zsh', program: 'zsh', shell: 'zsh', files: { '.zshrc': "PROMPT='here%# '\n" }, full: true, status: '$?' },
  {
    name: 'zsh with a prompt framework',
    program: 'zsh',
    shell: 'zsh',
    files: { '.zshrc': zshFramework },
    full: true,
    status: '$?',
  },
  { name: 'fish', program: 'fish', shell: 'fish', full: true, status: '$status' },
  { name: 'dash', program: 'dash', shell: 'dash', full: false, status: '$?' },
  { name: 'busybox ash', program: 'busybox', shell: ash, full: false, status: '$?' },
];
const shells = all.filter(({ program }) => installed(program));

it('tests the shells this machine should have', () => {
  expect(shells.map(({ name }) => name)).toEqual(all.map(({ name }) => name));
});

describe.each(shells)('R-RPC-161 $name', (shell) => {
  it('tells commands, their output, exit codes and directories', async () => {
    await using session = await ShellSession.open(shell);
    const hi = await session.run('echo hi');
    expect(hi).toMatchObject({
      command: 'echo hi',
      exitCode: 0,
      trusted: true,
      cwd: session.home,
      inferredStart: !shell.full,
    });
    expect(session.output(hi)).toBe('hi\n');
    expect(await session.run('false')).toMatchObject({ exitCode: 1 });
    expect(await session.run('sh -c "exit 42"')).toMatchObject({ exitCode: 42 });
    // Our hooks ran in between, and the status is still the user's.
    expect(session.output(await session.run(`echo ${shell.status}`))).toBe('42\n');
    expect(session.output(await session.run('printf "no newline"'))).toBe('no newline');
    await session.run('cd /tmp');
    expect(await session.run('true')).toMatchObject({ exitCode: 0, cwd: '/tmp' });
    expect(await session.run('no_such_command_here')).toMatchObject({ exitCode: 127 });
    expect(session.events.filter(({ type }) => type === 'started')).toHaveLength(8);
  });

  it('starts no block for empty lines, and ends one at Ctrl-C', async () => {
    await using session = await ShellSession.open(shell);
    await session.prompt();
    const first = session.blocks.promptAt ?? 0;
    await session.type('\r');
    await session.until(() => (session.blocks.promptAt ?? 0) > first, 'the second prompt');
    expect(session.blocks.list).toHaveLength(0);
    await session.type(`sh -c 'echo rea""dy; exec sleep 100'\r`);
    await session.until(() => session.raw.includes('ready'), 'the command to start');
    // fish gives it the terminal when it has started, perhaps after its first words.
    await expect.poll(() => session.channel.process?.foreground()?.name).toBe('sleep');
    await session.type('\x03');
    await session.until(() => session.blocks.last?.endedAt !== undefined, 'the end');
    expect(session.blocks.last?.exitCode).toBe(130);
  });

  it('believes no program that prints marks', async () => {
    await using session = await ShellSession.open(shell);
    const block = await session.run(`printf 'a\\033]133;D;9\\007\\033]133;A\\007b\\033]133;D;9;fl=guess;n=1\\007c\\n'`);
    expect(block.exitCode).toBe(0);
    expect(session.output(block)).toBe('abc\n');
    expect(session.blocks.list).toHaveLength(1);
  });

  it('keeps the nonce and its own variables from other programs', async () => {
    await using session = await ShellSession.open(shell);
    const env = session.output(await session.run('env'));
    expect(env).toContain('HOME=');
    expect(env).not.toMatch(/__fl|FAIRLEAD|shell-integration/);
    const pid = session.blocks.shell?.['pid'] ?? '';
    const nonce = /;fl=([0-9a-f]{16})/.exec(session.raw)?.[1] ?? 'none';
    const atStart = session.output(await session.run(`tr '\\0' '\\n' </proc/${pid}/environ`));
    expect(atStart).toContain('HOME=');
    expect(atStart).not.toContain(nonce);
  });

  it('is not there in a shell started by hand, whose prompts do not end the command', async () => {
    await using session = await ShellSession.open(shell);
    await session.prompt();
    const program = shell.name === 'busybox ash' ? ash : shell.program;
    await session.type(`${program}\r`);
    await session.until(() => session.blocks.state === 'running', 'the inner shell');
    const from = session.length;
    await session.type('echo in""ner\r');
    await session.until(() => session.slice(from).includes('inner'), 'the inner output');
    expect(session.blocks.state).toBe('running');
    expect(session.marks.filter(({ trusted, from: at }) => trusted && at >= from)).toEqual([]);
    await session.type('exit 3\r');
    await session.until(() => session.blocks.last?.endedAt !== undefined, 'the end of the inner shell');
    expect(session.blocks.last?.exitCode).toBe(3);
    expect(session.blocks.list).toHaveLength(1);
  });

  it('follows a command of several lines and knows when it is unfinished', async () => {
    await using session = await ShellSession.open(shell);
    await session.prompt();
    await session.type('echo "one\r');
    if (shell.name !== 'fish') {
      await session.until(() => session.blocks.incomplete, 'the continuation prompt');
      expect(session.blocks.list).toHaveLength(0);
    }
    await session.type('two"\r');
    await session.until(() => session.blocks.last?.endedAt !== undefined, 'the end');
    await session.prompt();
    expect(session.blocks.list).toHaveLength(1);
    expect(session.output(session.blocks.list[0] ?? expect.unreachable())).toBe('one\ntwo\n');
    if (shell.full) expect(session.blocks.last?.command).toBe('echo "one\ntwo"');
  });

  it('takes long command lines and text that looks like ours', async () => {
    await using session = await ShellSession.open(shell);
    const filler = 'x'.repeat(600);
    const line = `printf '%s\\n' 'a;b\\x3b%41 é' ${filler}`;
    const block = await session.run(line);
    expect(session.output(block)).toBe(`a;b\\x3b%41 é\n${filler}\n`);
    if (shell.full) expect(block.command).toBe(line);
    // Without a line editor the kernel takes no more than 4,095 bytes at once.
    if (!shell.full) return;
    const long = `: '${'é'.repeat(3000)}'`;
    const { exitCode, command } = await session.run(long);
    expect(exitCode).toBe(0);
    expect(long.startsWith(command ?? 'none')).toBe(true);
    expect(command?.length).toBeGreaterThan(900);
  });

  it('tells directories with blanks and other characters', async () => {
    await using session = await ShellSession.open(shell);
    const odd = join(session.home, 'a b;é%20');
    mkdirSync(odd);
    await session.run(`cd '${odd}'`);
    expect(session.blocks.cwd).toBe(odd);
  });

  it('ends with the shell', async () => {
    await using session = await ShellSession.open(shell);
    await session.prompt();
    await session.type('exit 5\r');
    expect(await session.channel.ended).toEqual({ by: 'exit', code: 5 });
    session.blocks.end(session.length);
    expect(session.blocks.list).toHaveLength(1);
    expect(session.blocks.last?.endedAt).toBeDefined();
    expect(session.blocks.state).toBe('unknown');
  });

  it('changes nothing that is seen', async () => {
    await using ours = await ShellSession.open(shell);
    await using theirs = await ShellSession.open({ ...shell, integration: false });
    await ours.prompt();
    const steps = ['', 'echo one', 'false', 'printf two', 'echo three'];
    for (const line of steps) {
      if (line !== '') await ours.run(line);
      if (line !== '') await theirs.type(`${line}\r`);
      // fish draws in pieces, when it has time; that it puts the cursor where it should is compared below.
      if (shell.name === 'fish') await theirs.until(() => theirs.raw.includes(columns(ours)[0] ?? ''), 'the prompt');
      // Either of them may be the last to draw.
      else await expect.poll(() => difference(ours, theirs), { message: `after ${line}` }).toBeUndefined();
    }
    if (shell.name === 'fish') expect(columns(theirs)[0]).toBe(columns(ours)[0]);
  });
});

const difference = (ours: ShellSession, theirs: ShellSession) =>
  seen(ours) === seen(theirs) ? undefined : { ours: seen(ours), theirs: seen(theirs) };
const seen = (session: ShellSession): string => plain(session.raw).replaceAll(session.home, '~').trimEnd();
const columns = (session: ShellSession): string[] => session.raw.match(/\r\x1b\[\d+C/g) ?? [];

describe.each(shells)('R-RPC-030 environment of $name', (shell) => {
  it('takes changes and shows what is exported', async () => {
    await using session = await ShellSession.open(shell);
    await session.prompt();
    const exchange = session.launch.exchange ?? expect.unreachable();
    exchange.follow();
    exchange.queue({ FL_ONE: `it's "one"\\ $HOME\nline`, HOME_GONE: null });
    exchange.queue({ FL_TWO: 'zwei' });
    const usr1 = session.blocks.shell?.['usr1'] === '1';
    if (usr1) process.kill(Number(session.blocks.shell?.['pid']), 'SIGUSR1');
    // In effect for the very next command.
    expect(session.output(await session.run('echo $FL_TWO; env | grep -c FL_ONE'))).toBe('zwei\n1\n');
    if (usr1 && !shell.full) process.kill(Number(session.blocks.shell?.['pid']), 'SIGUSR1');
    await session.run('true');
    const snapshot = exchange.read();
    expect(snapshot?.variables.get('FL_ONE')).toBe(`it's "one"\\ $HOME\nline`);
    expect(snapshot?.variables.get('FL_TWO')).toBe('zwei');
    expect(snapshot?.variables.get('HOME')).toBe(session.home);
    expect(snapshot?.asOf).toBeGreaterThan(0);
    expect([...(snapshot?.variables.keys() ?? [])].filter((name) => /^(__fl|FAIRLEAD)/.test(name))).toEqual([]);
    const own = session.launch.session ?? expect.unreachable();
    expect(readdirSync(own).toSorted()).toEqual(['env', 'nonce', 'queued', 'scratch']);
    expect(statSync(join(own, 'nonce')).size).toBe(0);
    for (const name of readdirSync(own)) expect(statSync(join(own, name)).mode & 0o777).toBe(0o600);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    session.launch.cleanup();
    expect(existsSync(own)).toBe(false);
  });
});
