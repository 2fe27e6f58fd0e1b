import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Foreground, ProcessView } from '../../../src/engine/terminal/channel.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { engineWith, limit, shellHome } from '../../support/engine.ts';

const size = { cols: 80, rows: 24 };
const shell: Foreground = { pid: 1, name: 'dash', isLeader: true };
const editor: Foreground = { pid: 2, name: 'vi', isLeader: false };

/** A far side without marks whose foreground program the test chooses, and which counts how often it is asked. */
class Unmarked extends EchoChannel {
  front = shell;
  asked = 0;
  readonly process: ProcessView = {
    pid: 1,
    foreground: () => {
      this.asked++;
      return this.front;
    },
    cwd: () => undefined,
    inputMode: () => 'lines',
  };
}

interface Scene extends AsyncDisposable {
  readonly terminal: Terminal;
  readonly channel: Unmarked;
  readonly clock: ManualClock;
  readonly logged: string[];
  readonly say: (text: string) => Promise<void>;
  /** Time passes, and what became due meanwhile is done. */
  readonly pass: (ms: number) => Promise<void>;
}

async function scene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'fl-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const channel = new Unmarked(size, { echo: false });
  const clock = new ManualClock();
  const logged: string[] = [];
  const engine = engineWith(
    folder,
    { echo: async () => ({ channel, program: 'dash' }) },
    { clock, log: (line) => logged.push(line) },
  );
  const terminal = await engine.open({ target: 'echo', size }, limit());
  return {
    terminal,
    channel,
    clock,
    logged,
    async say(text) {
      const end = terminal.log.end + Buffer.byteLength(text);
      channel.say(text);
      await expect.poll(() => terminal.log.end).toBe(end);
    },
    async pass(ms) {
      for (let left = ms; left > 0; left -= 10) {
        clock.advance(Math.min(left, 10));
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

test('a shell without marks pushes running and idle', async () => {
  await using home = shellHome();
  const terminal = await home.open('dash', { integration: false });
  const states: string[] = [];
  terminal.state.changed.on((state) => states.push(state));
  const go = join(home.home, 'go');
  await terminal.input.send(Buffer.from(`mkfifo ${go}; cat ${go}\r`), 'test', limit());
  await expect.poll(() => states.at(-1), { timeout: 10_000 }).toBe('running');
  await terminal.input.send(Buffer.from('\x03'), 'test', limit());
  await expect.poll(() => states.at(-1), { timeout: 10_000 }).toBe('idle');
});

test('the state is pushed soon after output and after input, without marks', async () => {
  await using at = await scene();
  const states: string[] = [];
  at.terminal.state.changed.on((state) => states.push(state));
  await at.say('$ ');
  expect(states).toEqual(['idle']);
  await at.terminal.input.send(Buffer.from('vi\r'), 'test', limit());
  await at.pass(30);
  at.channel.front = editor;
  await at.pass(100);
  expect(states).toEqual(['idle', 'running']);
  at.channel.front = shell;
  await at.say('$ ');
  await at.pass(30);
  expect(states).toEqual(['idle', 'running', 'idle']);
});

test('a program that starts late is still found', async () => {
  await using at = await scene();
  await at.say('$ ');
  await at.terminal.input.send(Buffer.from('vi\r'), 'test', limit());
  await at.pass(2500);
  at.channel.front = editor;
  const states: string[] = [];
  at.terminal.state.changed.on((state) => states.push(state));
  await at.pass(1000);
  expect(states).toEqual(['running']);
});

test('while nothing happens the foreground program is not asked for, and in a flood only now and then', async () => {
  await using at = await scene();
  await at.say('$ ');
  await at.pass(10_000);
  const quiet = at.channel.asked;
  await at.pass(60_000);
  expect(at.channel.asked).toBe(quiet);
  for (let line = 0; line < 200; line++) {
    await at.say('more\r\n');
    await at.pass(10);
  }
  // Two seconds, and the prompt detector looks, too.
  expect(at.channel.asked - quiet).toBeGreaterThan(10);
  expect(at.channel.asked - quiet).toBeLessThan(40);
});

test('a listener that throws is logged and keeps no change from the others', async () => {
  await using at = await scene();
  at.terminal.state.changed.on(() => {
    throw new Error('mine');
  });
  const states: string[] = [];
  at.terminal.state.changed.on((state) => states.push(state));
  await at.say('$ ');
  expect(states).toEqual(['idle']);
  expect(at.logged).toMatchObject([/incident .* in the state of terminal/]);
});

test('the title is pushed: that of the program, else the name of what runs', async () => {
  await using at = await scene();
  const titles: string[] = [];
  at.terminal.state.title.changed.on((title) => titles.push(title));
  await at.say('$ ');
  expect(titles).toEqual(['dash']);
  at.channel.front = editor;
  await at.say('hello');
  await at.pass(30);
  expect(titles).toEqual(['dash', 'vi']);
  await at.say('\x1b]2;notes.txt\x07');
  await at.pass(100);
  expect(titles).toEqual(['dash', 'vi', 'notes.txt']);
  const before = at.channel.asked;
  expect(at.terminal.state.title.current).toBe('notes.txt');
  expect(at.channel.asked).toBe(before);
});

test('a title that comes back after a time without listeners is pushed', async () => {
  await using at = await scene();
  const first = at.terminal.state.title.changed.on(() => {});
  await at.say('\x1b]2;one\x07');
  await at.pass(100);
  first[Symbol.dispose]();
  await at.say('\x1b]2;two\x07');
  await at.pass(100);
  const titles: string[] = [];
  at.terminal.state.title.changed.on((title) => titles.push(title));
  await at.say('\x1b]2;one\x07');
  await at.pass(100);
  expect(titles).toEqual(['one']);
});
