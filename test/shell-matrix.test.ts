import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow, run, type RunResult } from '../src/engine/run/run.ts';
import type { Terminal } from '../src/engine/terminal.ts';
import { type Condition, wait } from '../src/engine/wait/wait.ts';
import { type Column, columns, type Shape, shapes, type Step, stepsFor } from './shell-matrix.ts';
import { shellMatrixPage } from './shell-matrix-page.ts';
import { limit, type ShellHome, shellHome } from './support/engine.ts';
import { sshHome } from './support/ssh-home.ts';

// Rebuilds both prompts before every command, prints an empty line first, and looks at the status itself.
const theme = `
theme_precmd() { local s=$?; print; PROMPT="%F{green}~%f [$s]"$'\\n'"%# "; RPROMPT="%F{red}right%f"; }
precmd_functions+=(theme_precmd)
`;

const program = (column: Column): string => column.split(/[ ,]/)[0] ?? '';

async function open(home: ShellHome, column: Column): Promise<Terminal> {
  return await home.open(program(column), { integration: column !== 'bash, plain' });
}

const homeFor = async (column: Column, files: Readonly<Record<string, string>> = {}): Promise<ShellHome> =>
  column.endsWith('over ssh') ? await sshHome() : shellHome(files);

async function take(terminal: Terminal, step: Step): Promise<void> {
  const running = run(terminal, { command: step.run, timeoutMs: 15_000, by: 'test' }, limit());
  await Promise.all([running, meanwhile(terminal, step)]);
  const result = await running;
  if (!step.expect) return;
  const { state = 'done', exit, text } = step.expect;
  const told = { state: result.state, exit: result.exitCode, text: result.output };
  if (typeof text === 'string') expect(told).toEqual({ state, exit, text });
  else expect(told).toEqual({ state, exit, text: expect.stringMatching(text) });
  honest(result);
}

/** Nothing of ours in the text, and no claim without evidence. */
function honest(result: RunResult): void {
  expect(result.output).not.toMatch(/7461;[\w-]{12}/);
  if (result.exitCode !== null) expect(['child', 'mark', 'marker']).toContain(result.evidence);
  if (result.state === 'done' && result.exitCode === null) expect(result.note).toBeTruthy();
}

/** What another call does at the same time: once the command printed what is waited for, and then is quiet. */
async function meanwhile(terminal: Terminal, step: Step): Promise<void> {
  if (!step.meanwhile) return;
  const since = terminal.log.end;
  const until = (condition: Condition) =>
    wait(terminal, { conditions: [condition], timeoutMs: 15_000, since }, limit());
  if (step.meanwhile.after !== undefined) await until({ type: 'regex', pattern: `^${step.meanwhile.after}$` });
  // An interrupt between two commands of a list may be lost on a shell that is about to start the second.
  await until({ type: 'quiet', ms: 200 });
  await step.meanwhile.does(terminal);
}

describe.each(columns)('%s', (column) => {
  let home: ShellHome;
  let shared: Terminal;
  beforeAll(async () => {
    home = await homeFor(column, { '.zshrc': column === 'zsh + theme' ? theme : '' });
    shared = await open(home, column);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  const cells = shapes.flatMap((shape): [string, Shape, readonly Step[]][] => {
    const steps = stepsFor(shape, column);
    return steps === null ? [] : [[shape.name, shape, steps]];
  });
  test.each(cells)('%s', async (_, shape, steps) => {
    if (!shape.own) {
      for (const step of steps) await take(shared, step);
      return;
    }
    await using terminal = await open(home, column);
    for (const step of steps) await take(terminal, step);
  });
});

test('docs/guide/shell-matrix.md says the same (npx vitest run test/shell-matrix.test.ts -u)', async () => {
  await expect(shellMatrixPage()).toMatchFileSnapshot('../docs/guide/shell-matrix.md');
});

test('a command that was still running is followed to its end (R-RPC-044)', async () => {
  for (const column of columns.filter((one) => !one.startsWith('zsh'))) {
    await using home = await homeFor(column);
    await using terminal = await open(home, column);
    const first = await run(
      terminal,
      { command: 'echo a; sleep 0.6; echo b; sh -c "exit 3"', timeoutMs: 200, by: 'test' },
      limit(),
    );
    expect(first).toMatchObject({ state: 'running', exitCode: null, output: 'a' });
    const rest = await follow(terminal, { timeoutMs: 15_000 }, limit());
    expect(rest).toMatchObject({ state: 'done', exitCode: 3, output: 'a\nb', outputFrom: first.outputFrom });
  }
});
