import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyLine, typeKeys } from '../../src/engine/input/typed-line.ts';
import { ShellSession } from '../support/shells/integration-session.ts';

const bash = { shell: 'bash', env: { EDITOR: 'true', VISUAL: 'true' } };
const zsh = { shell: 'zsh', files: { '.zshrc': 'bindkey -e\n' } };
const viZsh = { shell: 'zsh', files: { '.zshrc': 'bindkey -v\n' } };
const completing = { shell: 'zsh', files: { '.zshrc': 'autoload -Uz compinit; compinit -u; bindkey -e\n' } };
const viBash = { ...bash, files: { '.bashrc': 'set -o vi\n' } };

/** Found by trying every key, alone and behind Escape and Ctrl+X, in shells as they are installed. */
test.each([
  { by: 'bash, Ctrl+O', shell: bash, keys: ['touch M', '\x0f'] },
  { by: 'bash, Ctrl+X Ctrl+E', shell: bash, keys: ['touch M', '\x18\x05'] },
  { by: 'bash, Esc Ctrl+E', shell: bash, keys: ['echo $(touch M)', '\x1b\x05'] },
  { by: 'bash, Esc-1 Esc-#', shell: bash, keys: ['#touch M', '\x1b1', '\x1b#'] },
  { by: 'bash in vi mode, Esc v', shell: viBash, keys: ['touch M', '\x1b', 'v'] },
  { by: 'zsh, Ctrl+O', shell: zsh, keys: ['touch M', '\x0f'] },
  { by: 'zsh, Esc-a', shell: zsh, keys: ['touch M', '\x1ba'] },
  { by: 'zsh, Esc and a', shell: zsh, keys: ['touch M', '\x1b', 'a'] },
  { by: 'zsh, Esc-A', shell: zsh, keys: ['touch M', '\x1bA'] },
  { by: 'zsh, Tab', shell: zsh, keys: ['echo $(touch M)', '\t'] },
  { by: 'zsh in vi mode, Ctrl+G', shell: viZsh, keys: ['echo $(touch M)', '\x07'] },
  { by: 'zsh in vi mode, Esc #', shell: viZsh, keys: ['echo $(touch M)', '\x1b', '#'] },
  { by: 'zsh, Ctrl+D', shell: zsh, keys: ['echo $(touch M)', '\x04'] },
  { by: 'zsh, Esc Ctrl+D', shell: zsh, keys: ['echo $(touch M)', '\x1b\x04'] },
  { by: 'zsh, Ctrl+X *', shell: zsh, keys: ['echo $(touch M)', '\x18*'] },
  { by: 'zsh, Ctrl+X g', shell: zsh, keys: ['echo $(touch M)', '\x18g'] },
  { by: 'zsh with completions, Ctrl+X e', shell: completing, keys: ['echo $(touch M)', '\x18e'] },
  { by: 'zsh with completions, Ctrl+X d', shell: completing, keys: ['echo $(touch M)', '\x18d'] },
  { by: 'zsh with completions, Ctrl+X m', shell: completing, keys: ['echo $(touch M)', '\x18m'] },
])('R-RPC-101 scope input: what $by runs without Enter is judged as a line', async ({ shell, keys }) => {
  let line = emptyLine;
  const entered: (string | undefined)[] = [];
  for (const one of keys) {
    const next = typeKeys(line, one, true);
    entered.push(...next.entered);
    line = next.line;
  }
  expect(entered.length).toBeGreaterThan(0);
  await using session = await ShellSession.open(shell);
  await session.prompt();
  for (const one of keys) await session.type(one);
  await expect.poll(() => existsSync(join(session.home, 'M')), { timeout: 15_000 }).toBe(true);
});
