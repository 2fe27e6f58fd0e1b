import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { mark, nonce, openWire } from '../../support/reading.ts';
import { limit, shellHome } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

const home = shellHome({ '.zshrc': '' });
afterAll(() => home[Symbol.asyncDispose]());

const rounds = Number(process.env['FAIRLEAD_TEST_ROUNDS'] ?? 15);
const start = (terminal: Terminal, command: string, timeoutMs = 15_000) =>
  runCommand(terminal, { command, timeoutMs, by: 'test' }, limit());

test.each(['bash', 'zsh', 'fish', 'dash', 'ash'])(
  'a command run right after Ctrl+C in %s is told of as it went (R-RPC-041)',
  { timeout: 120_000 },
  async (shell) => {
    await using terminal = await home.open(shell);
    const file = join(home.home, `after-${shell}`);
    const wrong: unknown[] = [];
    let unsure = 0;
    for (let round = 0; round < rounds; round++) {
      rmSync(file, { force: true });
      await terminal.input.send(Uint8Array.of(3), 'other', limit());
      const { state, exitCode, output, note } = await start(terminal, `touch ${file}; echo h`);
      if (exitCode === 0 && output === 'h' && existsSync(file)) continue;
      // Ctrl+C may hit a shell in the middle of its own prompt; then nobody can tell, and the answer must say just that.
      if (exitCode === null && /not known/.test(note ?? '')) unsure++;
      else wrong.push({ round, state, exitCode, output, note });
    }
    expect(wrong).toEqual([]);
    expect(unsure).toBeLessThanOrEqual(Math.ceil(rounds / 3));
  },
);

const several = 'echo a\nfor i in 1 2; do\necho $i\ndone\nfalse';

test.each(['bash', 'zsh'])(
  'several lines after a line that Ctrl+C dropped in %s have their own output and exit code (R-RPC-043)',
  { timeout: 120_000 },
  async (shell) => {
    await using terminal = await home.open(shell);
    const shown = async (): Promise<string> => {
      await terminal.sync(limit());
      return terminal.screen.text({ scope: 'viewport', wrap: 'join' });
    };
    let unsure = 0;
    for (let round = 0; round < 5; round++) {
      await terminal.input.send(Buffer.from('half a line'), 'other', limit());
      await expect.poll(shown, { timeout: 10_000 }).toMatch(/half a line$/);
      const typed = terminal.log.end;
      await terminal.input.send(Uint8Array.of(3), 'other', limit());
      await expect.poll(() => terminal.blocks.promptAt, { timeout: 10_000 }).toBeGreaterThan(typed);
      const result = await start(terminal, several);
      if (result.exitCode === null && /not known/.test(result.note ?? '')) unsure++;
      else expect(result).toMatchObject({ state: 'done', output: 'a\n1\n2', exitCode: 1 });
    }
    expect(unsure).toBeLessThanOrEqual(2);
  },
);

test('a Ctrl+C that is shown is no unfinished text: the command waits for the prompt after it', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock });
  const { channel, terminal } = wire;
  const prompt = (n: number): string => `${mark('A', `;n=${n}`)}$ ${mark('B', `;n=${n}`)}`;
  const typed = (): string => Buffer.concat(channel.written).toString();
  await wire.say(prompt(0));
  await terminal.input.send(Uint8Array.of(3), 'other', limit());
  // A shell on a busy machine: long after anybody waits for an answer.
  clock.advance(2000);
  await wire.say('^C');
  const running = start(terminal, 'echo h');
  for (let turns = 0; turns < 10; turns++) await turn();
  expect(typed()).toBe('\x03');
  await wire.say(`\r\n${prompt(1)}`);
  await expect.poll(typed).toBe('\x03echo h\r');
  await wire.say(`echo h\r\n${mark('C', ';n=1')}h\r\n${mark('D', ';0;n=1')}${prompt(2)}`);
  expect(await running).toMatchObject({ exitCode: 0, output: 'h' });
});

test.each([
  ['a line that was continued', 'echo a \\\n b; false', 'echo a  b\\x3b false'],
  ['history', 'echo !!; false', 'echo true\\x3b false'],
])('after Ctrl+C a command told of in other words is the one that was typed: %s', async (_name, command, told) => {
  const clock = new ManualClock();
  await using wire = openWire({ clock });
  const { channel, terminal } = wire;
  const prompt = (n: number): string => `${mark('A', `;n=${n}`)}$ ${mark('B', `;n=${n}`)}`;
  await wire.say(prompt(0));
  await terminal.input.send(Uint8Array.of(3), 'other', limit());
  const running = start(terminal, command);
  for (let turns = 0; turns < 10; turns++) await turn();
  clock.advance(1000);
  await expect.poll(() => Buffer.concat(channel.written).toString()).toMatch(/false\S*\r$/);
  await wire.say(
    `typed\r\n\x1b]633;E;${told};fl=${nonce}\x07${mark('C', ';n=0')}a\r\n${mark('D', ';1;n=0')}${prompt(1)}`,
  );
  expect(await running).toMatchObject({ state: 'done', exitCode: 1, output: 'a' });
});

test('what the shell ran instead of the command is not taken for it', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock });
  const { channel, terminal } = wire;
  const prompt = (n: number): string => `${mark('A', `;n=${n}`)}$ ${mark('B', `;n=${n}`)}`;
  const typed = (): string => Buffer.concat(channel.written).toString();
  await wire.say(prompt(0));
  await terminal.input.send(Uint8Array.of(3), 'other', limit());
  const running = start(terminal, 'touch f; echo h');
  // Nothing is typed while the shell may still be throwing input away, however long it is silent.
  clock.advance(900);
  for (let turns = 0; turns < 10; turns++) await turn();
  expect(typed()).toBe('\x03');
  clock.advance(100);
  await expect.poll(typed).toBe('\x03touch f; echo h\r');
  const ran = `\x1b]633;E;ouch f\\x3b echo h;fl=${nonce}\x07${mark('C', ';n=0')}ouch: not found\r\nh\r\n`;
  await wire.say(`ouch f; echo h\r\n${ran}${mark('D', ';0;n=0')}${prompt(1)}`);
  expect(await running).toMatchObject({
    exitCode: null,
    output: 'ouch: not found\nh',
    confidence: 'low',
    note: expect.stringContaining('what it did is not known'),
  });
});
