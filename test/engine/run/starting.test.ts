import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { type RunResult, runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { mark, openWire } from '../../support/reading.ts';
import { limit, type LocalShellHome, shellHome } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

// A shell that is still reading its start-up files: the time limit of the call is the only one.

const never = new AbortController().signal;
const request = { command: 'true', timeoutMs: 30_000, by: 'test' };
const promptOf = (n: number): string => `${mark('A', `;n=${n}`)}$ ${mark('B', `;n=${n}`)}`;
const prompt = promptOf(1);

/** The start-up file goes on when the file `go` is there. */
const gate = 'echo loading; until [ -e ~/go ]; do sleep 0.05; done\n';
const homes: LocalShellHome[] = [];
afterAll(async () => {
  for (const home of homes) await home[Symbol.asyncDispose]();
});

function gated(files: Readonly<Record<string, string>>): LocalShellHome & { readonly go: () => void } {
  const home = shellHome(files);
  homes.push(home);
  return { ...home, go: () => writeFileSync(join(home.home, 'go'), '') };
}

const start = (terminal: Terminal, command: string, timeoutMs = 20_000): Promise<RunResult> =>
  runCommand(terminal, { command, timeoutMs, by: 'test' }, limit(30_000));

async function turns(): Promise<void> {
  for (let at = 0; at < 10; at++) await turn();
}

test('the first prompt is waited for as long as timeoutMs says, whatever is printed before it', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock });
  const said: string[] = [];
  const result = runCommand(wire.terminal, request, never, (message) => said.push(message));
  await wire.say('loading modules\r\n');
  for (let ms = 0; ms < 8000; ms += 500) {
    clock.advance(500);
    await turns();
  }
  expect(wire.channel.written).toHaveLength(0);
  expect(said).toEqual(['Starting for 5 s']);
  await wire.say(prompt);
  await expect.poll(() => Buffer.concat(wire.channel.written).toString()).toBe('true\r');
  await wire.say(`true\r\n${mark('C', ';n=1')}${mark('D', ';0;n=1')}${promptOf(2)}`);
  expect(await result).toMatchObject({ state: 'done', exitCode: 0 });
});

test('the wait for the prompt and the command share the time of the call', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock });
  const result = runCommand(wire.terminal, { ...request, timeoutMs: 10_000 }, never);
  await turns();
  clock.advance(9000);
  await wire.say(prompt);
  await expect.poll(() => wire.channel.written.length).toBe(1);
  await wire.say(`true\r\n${mark('C', ';n=1')}`);
  clock.advance(1000);
  expect(await result).toMatchObject({ state: 'running' });
});

test.each([
  ['bash', { '.bashrc': gate }],
  ['zsh', { '.zshrc': gate }],
  ['fish', { '.config/fish/config.fish': 'echo loading; while not test -e ~/go; sleep 0.05; end\n' }],
])(
  '%s: when the time is up before the first prompt, that is the answer, and nothing was typed',
  async (shell, files) => {
    const home = gated(files);
    await using terminal = await home.begin(shell);
    await expect.poll(() => terminal.log.end, { timeout: 15_000 }).toBeGreaterThan(0);
    const early = await start(terminal, 'echo ran >> ~/out; cat ~/out', 1500);
    expect(early).toMatchObject({
      state: 'starting',
      exitCode: null,
      output: expect.stringContaining('loading'),
      note: expect.stringMatching(/first prompt.*not typed.*again/),
    });
    expect(terminal.state.current).not.toBe('idle');
    const waiting = start(terminal, 'echo ran >> ~/out; cat ~/out');
    home.go();
    expect(await waiting).toMatchObject({ state: 'done', exitCode: 0, output: 'ran', evidence: 'mark' });
  },
);

test('a password that a start-up file asks for is a matter for a person, and the command was not typed', async () => {
  const home = gated({ '.bashrc': 'read -rsp "Password: " x; echo "got ${#x}"\n' });
  await using terminal = await home.begin('bash');
  expect(await start(terminal, 'echo yes')).toMatchObject({
    state: 'needs_person',
    asks: { kind: 'password', secret: true },
    note: expect.stringMatching(/not typed.*after the answer/),
  });
  await terminal.input.send(Buffer.from('hunter2\r'), 'person', limit());
  await expect.poll(() => terminal.blocks.promptAt, { timeout: 15_000 }).toBeDefined();
  expect(await start(terminal, 'echo yes')).toMatchObject({ state: 'done', exitCode: 0, output: 'yes' });
});

test('a shell that its start-up file replaced by another is used as it is', async () => {
  const home = gated({ '.bashrc': 'PS1="plain> " exec dash\n' });
  await using terminal = await home.begin('bash');
  expect(await start(terminal, 'echo $0; (exit 3)')).toMatchObject({ state: 'done', exitCode: 3, output: 'dash' });
});
