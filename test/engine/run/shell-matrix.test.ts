import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow, runCommand, type RunResult } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { type Column, columns, type Shape, shapes, type Step, stepsFor } from '../../support/shells/matrix.ts';
import { shellMatrixPage } from '../../support/shells/matrix-page.ts';
import { limit, type ShellHome, shellHome } from '../../support/engine.ts';
import { sshHome } from '../../support/ssh/home.ts';

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
  const since = terminal.log.end;
  const running = runCommand(terminal, { command: step.run, timeoutMs: 60_000, by: 'test' }, limit(70_000));
  await Promise.all([running, meanwhile(terminal, step, since)]);
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

/** What another call does at the same time: once the command has begun, or printed what is waited for. */
async function meanwhile(terminal: Terminal, step: Step, since: number): Promise<void> {
  if (!step.meanwhile) return;
  const { after } = step.meanwhile;
  const printed = (): string => Buffer.from(terminal.log.read(since).bytes).toString();
  // A shell without marks is told to print one when it begins.
  const hasBegun = (): boolean =>
    terminal.blocks.marked ? (terminal.blocks.last?.outputFrom ?? -1) >= since : printed().includes('\x1b]7461;');
  await expect.poll(() => (after === undefined ? hasBegun() : printed().includes(after)), { interval: 5 }).toBe(true);
  // A shell that reads by itself may take its time to begin.
  if (after === undefined)
    await awaitCondition(terminal, { conditions: [{ type: 'quiet', ms: 200 }], timeoutMs: 15_000, since }, limit());
  await step.meanwhile.does(terminal);
}

/** Nobody waits for it unless the machine is busy: 100 MB through SSH, or nine shells one after the other. */
const slow = { timeout: 120_000 };

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
  test.each(cells)('%s', slow, async (_, shape, steps) => {
    if (!shape.own) {
      for (const step of steps) await take(shared, step);
      return;
    }
    await using terminal = await open(home, column);
    for (const step of steps) await take(terminal, step);
  });
});

test('docs/guide/shell-matrix.md says the same (npx vitest run test/engine/run/shell-matrix.test.ts -u)', async () => {
  await expect(shellMatrixPage()).toMatchFileSnapshot('../../../docs/guide/shell-matrix.md');
});

test('a command that was still running is followed to its end (R-RPC-044)', slow, async () => {
  for (const column of columns.filter((one) => !one.startsWith('zsh'))) {
    await using home = await homeFor(column);
    await using terminal = await open(home, column);
    const go = join(home.home, 'go');
    const command = `echo a; sh -c 'until [ -e ${go} ]; do sleep 0.05; done'; echo b; sh -c "exit 3"`;
    let first = await runCommand(terminal, { command, timeoutMs: 200, by: 'test' }, limit());
    while (first.output === '') first = await follow(terminal, { timeoutMs: 200 }, limit());
    expect(first).toMatchObject({ state: 'running', exitCode: null, output: 'a' });
    writeFileSync(go, '');
    const rest = await follow(terminal, { timeoutMs: 15_000 }, limit());
    expect(rest).toMatchObject({ state: 'done', exitCode: 3, output: 'a\nb', outputFrom: first.outputFrom });
  }
});
