import { afterAll, expect, test } from 'vitest';
import { type RunResult, runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { limit, shellHome } from '../../support/engine.ts';

// What commands do to the hooks that report commands (R-RPC-041, R-RPC-042).

const home = shellHome();
afterAll(() => home[Symbol.asyncDispose]());

const start = (terminal: Terminal, command: string): Promise<RunResult> =>
  runCommand(terminal, { command, timeoutMs: 15_000, by: 'test' }, limit());

test.each([
  'PROMPT_COMMAND=true',
  'PROMPT_COMMAND=',
  'PROMPT_COMMAND=()',
  'unset PROMPT_COMMAND',
  "PROMPT_COMMAND='(exit 9)'",
  "PROMPT_COMMAND=('(exit 9)' true)",
  "PS1='> '; PROMPT_COMMAND=true",
])('bash tells the exit code of %s itself, and where it is then', async (off) => {
  await using terminal = await home.open('bash');
  expect(await start(terminal, `${off}; cd /; echo out; (exit 5)`)).toMatchObject({
    state: 'done',
    exitCode: 5,
    output: 'out',
    evidence: 'mark',
    note: expect.stringContaining('its prompt told'),
  });
  expect(terminal.place.cwd).toBe('/');
  for (const code of [3, 0]) {
    const result = await start(terminal, `cd /usr; echo ${code}; (exit ${code})`);
    expect(result).toMatchObject({ state: 'done', exitCode: code, output: `${code}`, evidence: 'marker' });
  }
  await expect.poll(() => terminal.place.cwd).toBe('/usr');
});

test('bash reports by its hooks again when they are back', async () => {
  await using terminal = await home.open('bash');
  await start(terminal, 'kept=("${PROMPT_COMMAND[@]}"); PROMPT_COMMAND=()');
  expect(await start(terminal, 'PROMPT_COMMAND=("${kept[@]}")')).toMatchObject({ exitCode: 0, evidence: 'marker' });
  const { note, ...result } = await start(terminal, '(exit 4)');
  expect(result).toMatchObject({ exitCode: 4, evidence: 'mark', confidence: 'certain' });
  expect(note).toBeUndefined();
});

test.each([
  'preexec_functions=()',
  'precmd_functions=()',
  'precmd_functions=(); preexec_functions=()',
  'unset precmd_functions preexec_functions',
  'fails() { local x=$((1/0)) }; preexec_functions=(fails $preexec_functions)',
])('zsh after %s: what ran is not said to have been refused', async (off) => {
  await using terminal = await home.open('zsh');
  expect(await start(terminal, `${off}; (exit 5)`)).toMatchObject({ state: 'done', exitCode: 5 });
  for (const code of [3, 0]) {
    const result = await start(terminal, `echo ${code}; (exit ${code})`);
    expect(result).toMatchObject({ state: 'done', exitCode: code, evidence: 'mark', confidence: 'certain' });
    expect(result.output.split('\n').at(-1)).toBe(`${code}`);
  }
  expect(await start(terminal, 'cd /usr')).toMatchObject({ exitCode: 0 });
  await expect.poll(() => terminal.place.cwd).toBe('/usr');
  expect(await start(terminal, 'echo )')).toMatchObject({
    exitCode: null,
    output: expect.stringContaining('parse error'),
    note: expect.stringContaining('did not run it'),
  });
});

test('zsh whose hooks cannot come back is told to print how it went', async () => {
  await using terminal = await home.open('zsh');
  expect(await start(terminal, 'typeset -r preexec_functions=(); (exit 5)')).toMatchObject({ exitCode: 5 });
  for (const code of [3, 0]) {
    expect(await start(terminal, `echo ${code}; (exit ${code})`)).toMatchObject({
      state: 'done',
      exitCode: code,
      output: `${code}`,
      evidence: 'marker',
      note: expect.stringContaining('no longer'),
    });
  }
});
