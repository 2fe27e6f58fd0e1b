import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ShellOptions, ShellSession } from '../../../support/shells/integration-session.ts';

const scratch = mkdtempSync(join(tmpdir(), 'fairlead-nonce-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const ash = join(scratch, 'ash');
symlinkSync('/usr/bin/busybox', ash);
const bashAsSh = join(scratch, 'sh');
symlinkSync('/usr/bin/bash', bashAsSh);

interface Case extends ShellOptions {
  readonly name: string;
  /** Entered at the prompt. */
  readonly lines?: readonly string[];
  /** Behind these on one line, before the shell shows another prompt. */
  readonly atOnce?: string;
  /** False: nothing of ours runs between its commands, so a name stays marked as it was; its children still see nothing. */
  readonly unmarked?: false;
}

/** Exports every variable that the shell knows, ours by name. */
const exportAll: Readonly<Record<'bash' | 'zsh' | 'fish', string>> = {
  bash: 'for name in $(compgen -v); do declare -x "$name"; done 2>/dev/null',
  zsh: 'for name in ${(k)parameters}; do typeset -gx $name; done 2>/dev/null',
  fish: 'for name in (set -n); set -gx $name $$name; end 2>/dev/null',
};

const exportOurs = 'typeset -gx ${(k)parameters[(I)__fl_*]} 2>/dev/null';

const cases: readonly Case[] = [
  { name: 'bash, set -a', shell: 'bash', lines: ['set -a', 'true'] },
  { name: 'bash, set -o allexport', shell: 'bash', lines: ['set -o allexport', 'true'] },
  { name: 'bash, set -a in .bashrc', shell: 'bash', files: { '.bashrc': 'set -a\n' } },
  { name: 'bash, set -a in the profile', shell: 'bash', login: true, files: { '.bash_profile': 'set -a\n' } },
  { name: 'bash, allexport inherited', shell: 'bash', env: { SHELLOPTS: 'allexport' } },
  { name: 'bash, every name exported', shell: 'bash', lines: [exportAll.bash] },
  { name: 'bash, every name exported on the same line', shell: 'bash', atOnce: exportAll.bash },
  { name: 'bash, set -a and a prompt command', shell: 'bash', files: { '.bashrc': 'set -a\nPROMPT_COMMAND="true"\n' } },
  { name: 'bash called sh, set -a', shell: bashAsSh, lines: ['set -a', 'true'] },
  { name: 'bash called sh, allexport inherited', shell: bashAsSh, env: { SHELLOPTS: 'allexport:posix' } },
  { name: 'bash called sh, every name exported', shell: bashAsSh, atOnce: exportAll.bash, unmarked: false },
  { name: 'dash, set -a', shell: 'dash', lines: ['set -a', 'true'] },
  { name: 'dash, set -a in the file of ENV', shell: 'dash', files: { rc: 'set -a\n' }, env: { ENV: './rc' } },
  { name: 'busybox ash, set -a', shell: ash, lines: ['set -a', 'true'] },
  { name: 'busybox ash, set -a in the file of ENV', shell: ash, files: { rc: 'set -a\n' }, env: { ENV: './rc' } },
  { name: 'zsh, setopt allexport', shell: 'zsh', files: { '.zshrc': '' }, lines: ['setopt allexport', 'true'] },
  { name: 'zsh, allexport in .zshenv', shell: 'zsh', files: { '.zshenv': 'setopt allexport\n', '.zshrc': '' } },
  { name: 'zsh, allexport in .zshrc', shell: 'zsh', files: { '.zshrc': 'setopt allexport\nPROMPT_EOL_MARK=x\n' } },
  { name: 'zsh, an exported sign', shell: 'zsh', files: { '.zshrc': 'export PROMPT_EOL_MARK=x\n' } },
  { name: 'zsh, every name exported', shell: 'zsh', files: { '.zshrc': '' }, lines: [exportAll.zsh] },
  { name: 'zsh, our names exported at once', shell: 'zsh', files: { '.zshrc': '' }, atOnce: exportOurs },
  { name: 'fish, every name exported', shell: 'fish', lines: [exportAll.fish] },
  { name: 'fish, every name exported on the same line', shell: 'fish', atOnce: exportAll.fish },
];

describe('the nonce of the marks reaches no child of the shell (decision 0007)', () => {
  it.each(cases)('$name', async (shell) => {
    await using session = await ShellSession.open(shell);
    for (const line of shell.lines ?? []) await session.run(line);
    const before = shell.atOnce === undefined ? '' : `${shell.atOnce}; `;
    const looked = await session.run(`${before}env >seen.env; cat /proc/self/environ >seen.proc; echo looked`);
    expect(session.output(looked)).toBe('looked\n');
    const listing = shell.shell === 'fish' ? 'set -x' : 'export -p';
    await session.run(`${listing} >seen.list`);
    const nonce = /;fl=([0-9a-f]{16})/.exec(session.raw)?.[1] ?? 'none';
    expect(nonce).not.toBe('none');
    for (const name of ['seen.env', 'seen.proc', ...(shell.unmarked === false ? [] : ['seen.list'])]) {
      const seen = readFileSync(join(session.home, name), 'utf8');
      expect(seen).toContain('PATH');
      expect(seen).not.toContain(nonce);
    }
    // And marks are believed as before.
    expect(await session.run('sh -c "exit 42"')).toMatchObject({ exitCode: 42, trusted: true });
  });

  it('allexport stays as the user has set it', async () => {
    for (const shell of ['bash', 'zsh']) {
      await using session = await ShellSession.open({ shell, files: { '.zshrc': '' } });
      await session.run('set -a');
      await session.run('mine=1');
      expect(session.output(await session.run('env | grep ^mine'))).toBe('mine=1\n');
      await session.run('set +a');
      await session.run('other=1');
      expect(session.output(await session.run('env | grep -c ^other'))).toBe('0\n');
    }
  });

  it.each(['SHELLOPTS', 'rc'])('allexport from the start (%s) holds for the files of the user', async (from) => {
    const options = from === 'rc' ? {} : { env: { SHELLOPTS: 'allexport' } };
    const text = from === 'rc' ? 'set -a\nmine=1\n' : 'mine=1\n';
    await using session = await ShellSession.open({ shell: 'bash', files: { '.bashrc': text }, ...options });
    expect(session.output(await session.run('env | grep ^mine; echo $-'))).toMatch(/^mine=1\n\w*a/);
  });

  it('the exported environment that is asked for holds none of ours', async () => {
    await using session = await ShellSession.open({ shell: 'bash' });
    await session.run(exportAll.bash);
    session.launch.exchange?.follow();
    await session.run('true');
    const told = session.launch.exchange?.read()?.variables;
    expect(told?.get('HOME')).toBe(session.home);
    expect([...(told?.keys() ?? [])].filter((name) => name.startsWith('__fl'))).toEqual([]);
  });
});
