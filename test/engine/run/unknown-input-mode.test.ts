import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { typesUnseen } from '../../../src/engine/call/audit/command-detail.ts';
import { drawsItsInput } from '../../../src/engine/input/submit.ts';
import { readsKeys } from '../../../src/engine/run/deaf.ts';
import { type RunResult, runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { portablePty } from '../../../src/transports/local/index.ts';
import type { PtyHost } from '../../../src/transports/local/transport.ts';
import { limit, shellHome } from '../../support/engine.ts';

// The driver of macOS and Windows sees the processes but not the terminal's settings: whether a program reads lines, keys or a
// password is unknown, and only what it shows tells.

const open = await portablePty();
const portable: PtyHost = { open: async (target, size) => open(target, size) };
const home = shellHome({}, portable);
afterAll(() => home[Symbol.asyncDispose]());

async function eventually(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { timeout: 15_000, interval: 20 }).toBe(true);
}
const printed = (terminal: Terminal, text: string): Promise<void> =>
  eventually(() => Buffer.from(terminal.log.read(0).bytes).includes(text));
const run = (terminal: Terminal, command: string, timeoutMs = 10_000): Promise<RunResult> =>
  runCommand(terminal, { command, timeoutMs, by: 'test' }, limit());

test('a question of a builtin is no prompt of the shell: nothing of ours is typed as its answer', async () => {
  await using terminal = await home.open('bash', { integration: false });
  const typed: string[] = [];
  using _typing = terminal.input.events.on(({ bytes }) => void typed.push(Buffer.from(bytes).toString()));
  const asked = await run(terminal, 'read -p "Ihr Name> " who; echo "got=$who="', 3000);
  expect(asked.state).not.toBe('done');
  expect(typed).toHaveLength(1);
  await terminal.input.send(Buffer.from('anna\r'), 'test', limit());
  await printed(terminal, 'got=anna=');
});

test('a shell that prints in its start-up files and has shown no prompt is starting, not idle', async () => {
  await using slow = shellHome({ '.bashrc': 'mkfifo ~/gate\necho welcome\nread -r x < ~/gate\n' }, portable);
  await using terminal = await slow.begin('bash');
  await printed(terminal, 'welcome');
  expect(terminal.state.current).toBe('starting');
  writeFileSync(join(slow.home, 'gate'), 'go\n');
  await eventually(() => terminal.state.current === 'idle');
});

test('a program that reads lines is typed at as one, and a silent one is not taken for a deaf shell', async () => {
  await using terminal = await home.open('bash');
  await terminal.input.send(Buffer.from('cat\r'), 'test', limit());
  await eventually(() => terminal.process?.foreground()?.name === 'cat');
  await terminal.sync(limit());
  expect(drawsItsInput(terminal)).toBe(false);
  expect(readsKeys(terminal)).toBe(false);
});

test('marked commands run, and a program with a prompt of its own is found by what it shows', async () => {
  await using terminal = await home.open('bash');
  expect(await run(terminal, 'echo a; (exit 3)')).toMatchObject({ state: 'done', exitCode: 3, evidence: 'mark' });
  const node = await run(terminal, 'node -i');
  expect(node).toMatchObject({ state: 'running', note: expect.stringContaining('at a prompt of its own') });
  expect(await run(terminal, '6 * 7')).toMatchObject({ output: expect.stringContaining('42') });
});

test('an unmarked shell runs one command after the other', async () => {
  await using terminal = await home.open('bash', { integration: false });
  expect(await run(terminal, 'cd /; (exit 4)')).toMatchObject({ state: 'done', exitCode: 4, evidence: 'marker' });
  expect(await run(terminal, 'pwd')).toMatchObject({ state: 'done', exitCode: 0, output: '/' });
});

test('what is typed at a password prompt stays out of the audit trail, and a question stands until its line is entered', async () => {
  await using terminal = await home.open('bash');
  await terminal.input.send(Buffer.from('read -sp "Password: " x\r'), 'test', limit());
  await eventually(() => terminal.person.prompts.current?.kind === 'password');
  expect(typesUnseen(terminal)).toBe(true);
  await terminal.input.send(Buffer.from('s'), 'test', limit());
  expect(terminal.person.prompts.current?.kind).toBe('password');
  await terminal.input.send(Buffer.from('\r'), 'test', limit());
  await eventually(() => terminal.state.current === 'idle');
  expect(typesUnseen(terminal)).toBe(false);
});
