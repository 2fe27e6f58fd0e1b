import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { integrate } from '../../src/transports/local/shell-integration/index.ts';
import { installed, plain, ShellSession, type ShellOptions } from './shell-integration-session.ts';

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
      else
        await theirs.until(
          () => seen(theirs) === seen(ours),
          `the same picture after "${line}": ${JSON.stringify(seen(ours))}`,
        );
    }
    if (shell.name === 'fish') expect(columns(theirs)[0]).toBe(columns(ours)[0]);
  });
});

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
    expect(readdirSync(own).toSorted()).toEqual(['env', 'nonce', 'scratch']);
    expect(statSync(join(own, 'nonce')).size).toBe(0);
    for (const name of readdirSync(own)) expect(statSync(join(own, name)).mode & 0o777).toBe(0o600);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    session.launch.cleanup();
    expect(existsSync(own)).toBe(false);
  });
});

describe('R-RPC-160 start-up files', () => {
  it('bash reads the login files for a login shell, else .bashrc', async () => {
    const files = { '.bashrc': 'echo rc\n', '.bash_profile': 'echo profile\n', '.profile': 'echo never\n' };
    await using login = await ShellSession.open({ shell: 'bash', files, login: true });
    await login.prompt();
    expect(login.raw).toContain('profile\r\n');
    expect(login.raw).not.toMatch(/never|rc\r\n/);
    await using plainly = await ShellSession.open({ shell: 'bash', files });
    await plainly.prompt();
    expect(plainly.raw).toContain('rc\r\n');
    expect(plainly.raw).not.toContain('profile\r\n');
  });

  it('R-TERM-101 zsh reads all four files in order and keeps the ZDOTDIR of the user', async () => {
    const files = Object.fromEntries(
      ['.zshenv', '.zprofile', '.zshrc', '.zlogin'].map((name) => [name, `echo "read ${name} $ZDOTDIR"\n`]),
    );
    await using login = await ShellSession.open({ shell: 'zsh', files, login: true });
    await login.prompt();
    expect([...login.raw.matchAll(/read (\S+)/g)].map(([, name]) => name)).toEqual([
      '.zshenv',
      '.zprofile',
      '.zshrc',
      '.zlogin',
    ]);
    expect(login.output(await login.run('echo "[${ZDOTDIR-unset}]"'))).toBe('[unset]\n');

    const zdotdir = join(scratch, 'zdotdir');
    mkdirSync(zdotdir);
    writeFileSync(join(zdotdir, '.zshrc'), 'echo from-zdotdir\n');
    await using own = await ShellSession.open({
      shell: 'zsh',
      env: { ZDOTDIR: zdotdir },
      files: { '.zshrc': 'echo wrong\n' },
    });
    await own.prompt();
    expect(own.raw).toContain('from-zdotdir');
    expect(own.raw).not.toContain('wrong');
    expect(own.output(await own.run('echo "[$ZDOTDIR]"'))).toBe(`[${zdotdir}]\n`);
  });

  it('sh reads the ENV file of the user and keeps it', async () => {
    const env = join(scratch, 'env.sh');
    writeFileSync(env, 'echo from-env; PS1="mine> "\n');
    await using session = await ShellSession.open({ shell: 'dash', env: { ENV: env } });
    await session.prompt();
    expect(session.raw).toContain('from-env');
    expect(session.raw).toContain('mine> ');
    expect(session.output(await session.run('echo "[$ENV]"'))).toBe(`[${env}]\n`);
  });

  it('fish leaves XDG_DATA_DIRS as it was', async () => {
    await using unset = await ShellSession.open({ shell: 'fish' });
    expect(unset.output(await unset.run('set -q XDG_DATA_DIRS; or echo unset'))).toBe('unset\n');
    await using set = await ShellSession.open({ shell: 'fish', env: { XDG_DATA_DIRS: '/usr/share:/opt/x' } });
    expect(set.output(await set.run('env | grep XDG_DATA'))).toBe('XDG_DATA_DIRS=/usr/share:/opt/x\n');
  });

  it('bash called sh gets the ENV file', async () => {
    const sh = join(scratch, 'sh');
    symlinkSync('/bin/bash', sh);
    await using session = await ShellSession.open({ shell: sh });
    expect(await session.run('(exit 6)')).toMatchObject({ exitCode: 6 });
  });

  it('leaves shells with arguments and unknown programs alone', () => {
    const options = { root: join(scratch, 'root'), nonce: 'n' };
    for (const launch of [
      { shell: 'bash', args: ['-c', 'true'], env: { A: '1' } },
      { shell: '/usr/bin/python3', args: [], env: { A: '1' } },
    ]) {
      const { argv, env, kind } = integrate(launch, options);
      expect({ argv, env, kind }).toEqual({ argv: [launch.shell, ...launch.args], env: { A: '1' }, kind: undefined });
    }
    // A state root that cannot be written costs nobody their shell.
    expect(integrate({ shell: 'bash', args: [], env: {} }, { root: ash, nonce: 'n' })).toMatchObject({
      argv: ['bash'],
      kind: undefined,
    });
  });

  it('writes scripts once, 0644, and repairs one that was changed in size', () => {
    const root = join(scratch, 'install');
    const rcfile = (): string => {
      const launch = integrate({ shell: 'bash', args: [], env: {} }, { root, nonce: 'n' });
      launch.cleanup();
      return launch.argv[2] ?? '';
    };
    const path = rcfile();
    expect(statSync(path).mode & 0o777).toBe(0o644);
    const { ino, size } = statSync(path);
    expect(statSync(rcfile()).ino).toBe(ino);
    writeFileSync(path, '');
    expect(statSync(rcfile()).size).toBe(size);
  });
});

describe('bash in particular', () => {
  it('leaves $_, PIPESTATUS, REPLY and the history alone', async () => {
    await using session = await ShellSession.open({ shell: 'bash' });
    await session.run('echo arg');
    expect(session.output(await session.run('echo "$_"'))).toBe('arg\n');
    await session.run('REPLY=mine; false | true | (exit 3)');
    expect(session.output(await session.run('echo "${PIPESTATUS[@]} $REPLY"'))).toBe('1 0 3 mine\n');
    expect(
      session
        .output(await session.run('history'))
        .split('\n')
        .map((line) => line.trim().replace(/^\d+\s+/, ''))
        .filter(Boolean),
    ).toEqual([
      'echo arg',
      'echo "$_"',
      'REPLY=mine; false | true | (exit 3)',
      'echo "${PIPESTATUS[@]} $REPLY"',
      'history',
    ]);
  });

  it('does not claim the text of a command the history did not take', async () => {
    await using session = await ShellSession.open({ shell: 'bash', files: { '.bashrc': 'HISTCONTROL=ignoreboth\n' } });
    expect((await session.run('echo one')).command).toBe('echo one');
    expect((await session.run(' echo two')).command).toBeUndefined();
    expect((await session.run('echo three')).command).toBe('echo three');
  });

  it.each([
    'set -e',
    'set -u',
    'set -eu',
    'set -o noclobber',
    'set -f',
    'set -o posix',
    'shopt -s nocasematch extglob',
    "IFS='x'",
    'alias printf=false local=false',
  ])('works under %s', async (setting) => {
    await using session = await ShellSession.open({ shell: 'bash' });
    await session.run(setting);
    expect(await session.run('! true')).toMatchObject({ exitCode: 1 });
    expect(session.output(await session.run('echo $?'))).toBe('1\n');
    expect(await session.run('true')).toMatchObject({ exitCode: 0, command: 'true' });
  });

  it('stays out of set -x', async () => {
    await using session = await ShellSession.open({ shell: 'bash' });
    await session.run('set -x');
    const from = session.length;
    await session.run('echo traced');
    await session.run('cd /tmp');
    expect(plain(session.slice(from))).toContain('+ echo traced');
    expect(session.slice(from).replaceAll(/\x1b\][^\x07]*\x07/g, '')).not.toContain('__fl');
  });

  it('keeps an array of prompt commands, their view of $? and an exported PS1', async () => {
    const rc = 'PROMPT_COMMAND=(\'printf "[one %s]" "$?"\' \'printf "[two %s]" "$?"\')\nexport PS1="> "\n';
    await using session = await ShellSession.open({ shell: 'bash', files: { '.bashrc': rc } });
    await session.run('(exit 9)');
    expect(session.raw).toContain('[one 9][two 9]');
    const inner = session.output(await session.run('bash --norc -ic "echo \\"\\${PS1@P}\\""'));
    expect(inner).not.toContain('133');
  });

  it('survives a virtual environment that puts words before the prompt and takes them away', async () => {
    await using session = await ShellSession.open({ shell: 'bash', files: { '.bashrc': "PS1='$ '\n" } });
    await session.run('old=$PS1; PS1="(venv) $PS1"');
    const block = await session.run('true');
    expect(session.slice(block.promptFrom ?? 0, block.commandFrom)).toContain('(venv) ');
    await session.run('PS1=$old');
    expect(await session.run('false')).toMatchObject({ exitCode: 1 });
  });

  it('does not signal-trap where the user does', async () => {
    await using session = await ShellSession.open({ shell: 'bash', files: { '.bashrc': "trap 'echo mine' USR1\n" } });
    await session.prompt();
    expect(session.blocks.shell?.['usr1']).toBe('0');
  });
});

describe('zsh in particular', () => {
  it.each([
    'setopt err_exit',
    'setopt no_unset',
    'setopt ksh_arrays',
    'setopt sh_word_split',
    'setopt no_clobber',
    'setopt xtrace',
    'setopt extended_glob null_glob',
    'setopt no_prompt_percent',
  ])('works under %s', async (setting) => {
    await using session = await ShellSession.open({ shell: 'zsh', files: { '.zshrc': '' } });
    await session.run(setting);
    const from = session.length;
    expect(await session.run('! true')).toMatchObject({ exitCode: 1, command: '! true' });
    expect(await session.run('true')).toMatchObject({ exitCode: 0 });
    expect(session.slice(from).replaceAll(/\x1b\][^\x07]*\x07/g, '')).not.toContain('__fl');
  });

  it('keeps the sign for a missing newline as the user has it', async () => {
    await using session = await ShellSession.open({ shell: 'zsh', files: { '.zshrc': 'PROMPT_EOL_MARK=NONL\n' } });
    const block = await session.run('printf x');
    expect(session.output(block)).toBe('x');
    expect(plain(session.slice(block.outputTo ?? 0))).toMatch(/^NONL/);
    await session.run('PROMPT_EOL_MARK=');
    await session.run('true');
    expect(session.output(await session.run('history -1 | cat; echo'))).toContain('true');
  });

  it('leaves the history alone', async () => {
    await using session = await ShellSession.open({ shell: 'zsh', files: { '.zshrc': '' } });
    await session.run('echo one');
    expect(
      session
        .output(await session.run('fc -ln 1'))
        .trim()
        .split('\n'),
    ).toEqual(['echo one']);
  });
});
