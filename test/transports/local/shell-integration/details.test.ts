import { describe, expect, it } from 'vitest';
import { plain, ShellSession } from '../../../support/shells/integration-session.ts';

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
    await using session = await ShellSession.open({
      shell: 'bash',
      files: { '.bashrc': "trap 'echo mine' USR1 WINCH\n" },
    });
    await session.prompt();
    expect(session.blocks.shell).toMatchObject({ usr1: '0', winch: '' });
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
