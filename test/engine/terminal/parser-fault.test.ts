import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine, EngineOptions } from '../../../src/engine/engine.ts';
import { firstPrompt } from '../../../src/engine/waiting/answered.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { resumeTerminals } from '../../../src/transports/local/keeper/client/resume-terminals.ts';
import { keeperTransport } from '../../../src/transports/local/keeper/client/keeper-transport.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { KeeperHome } from '../../support/keeper/keeper.ts';
import { sshEngine } from '../../support/ssh/home.ts';
import { withSshd } from '../../support/ssh/login.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

/** An emulator with a mistake: it cannot take this word. */
vi.mock(import('../../../src/engine/screen/xterm/core.ts'), async (original) => {
  const core = await original();
  const parse: typeof core.parseBytes = (of, bytes) => {
    if (Buffer.from(bytes).includes('BOOM')) throw new TypeError('what was printed');
    core.parseBytes(of, bytes);
  };
  return { ...core, parseBytes: parse };
});

const size = { cols: 80, rows: 24 };
let folder: string;
let logged: string[];
let log: Partial<EngineOptions>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fl-mistake-'));
  logged = [];
  log = { log: (line) => logged.push(line) };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = ({ screen }: Terminal): string => screen.text({ scope: 'all', wrap: 'join' });
const printed = ({ log: all }: Terminal): string => Buffer.from(all.read(0).bytes).toString();
const localOptions = () => ({
  root: join(folder, '.fairlead'),
  shell: 'bash',
  cwd: folder,
  env: { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' },
  extraEnv: {},
  integration: true,
});

/** A shell prints what the emulator cannot take: it is none the worse for it, and nor is anything but the screen. */
async function survives(terminal: Terminal): Promise<void> {
  await firstPrompt(terminal, limit());
  const say = async (line: string, word: string): Promise<void> => {
    await terminal.input.send(Buffer.from(`${line}\r`), 'test', limit());
    await expect.poll(() => printed(terminal)).toContain(word);
    await terminal.sync(limit());
  };
  await say("echo be'fore'", 'before\r');
  // Nobody waits for it: it is parsed in a turn of its own.
  await say("echo BO''OM", 'BOOM\r');
  {
    using _watching = terminal.feed.parseEagerly();
    await say("echo BO''OM-again", 'BOOM-again');
  }
  await say("echo af'ter'", 'after\r');
  // The prompt comes after what the command printed.
  await expect.poll(() => terminal.state.current).toBe('idle');
  await terminal.sync(limit());
  expect(printed(terminal)).toMatch(/before[\s\S]*BOOM[\s\S]*BOOM-again[\s\S]*after/);
  expect(text(terminal)).toMatch(/^\[fairlead: some output could not be shown; the screen begins anew here\]/);
  expect(text(terminal)).toContain('after');
  expect(logged.length).toBeGreaterThan(1);
  for (const line of logged) {
    expect(line).toMatch(new RegExp(`^incident [0-9a-f]{8} in the screen of terminal ${terminal.id}: TypeError`));
    expect(line).not.toContain('what was printed');
  }
  await terminal.input.send(Buffer.from('exit 7\r'), 'test', limit());
  expect(await terminal.whenEnded).toEqual({ by: 'exit', code: 7 });
}

const open = (engine: Engine, target: string): Promise<Terminal> =>
  engine.open({ target, size, shell: 'bash', principal: 'me' }, limit());

describe('output that our emulator cannot take ends nothing', () => {
  test('in a terminal of this process', async () => {
    await using engine = engineWith(folder, { local: localTransport(localOptions()) }, log);
    await survives(await open(engine, 'local'));
  });

  test.runIf(process.platform === 'linux')('in one of the keeper, and for the next server', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    {
      await using engine = engineWith(folder, { local: keeperTransport(localOptions(), client) }, log);
      await survives(await open(engine, 'local'));
      const left = await open(engine, 'local');
      await firstPrompt(left, limit());
      await left.input.send(Buffer.from("echo BO''OM\r"), 'test', limit());
      await expect.poll(() => printed(left)).toContain('BOOM\r');
      await left.durable.detach();
    }
    await client[Symbol.asyncDispose]();
    await using engine = engineWith(folder, {}, log);
    const terminals = await resumeTerminals(engine, home.client(), limit());
    const alive = terminals.filter(({ ended }) => !ended);
    logged.length = 0;
    for (const terminal of alive) await survives(terminal);
    expect(alive).toHaveLength(1);
  });

  describe('behind SSH', () => {
    let sshd: Sshd;
    withSshd((started) => (sshd = started));
    test('in one on another machine', async () => {
      await using engine = sshEngine(sshd, folder, undefined, {}, log);
      await survives(await open(engine, 'ssh:far'));
    });
  });

  test('in one that is only bytes: floods of it, with little memory, and no more lines in the log than help', async () => {
    const channel = new EchoChannel(size, { echo: false });
    const echo = async () => ({ channel, program: 'echo', capacity: 256 << 10 });
    await using engine = engineWith(folder, { echo }, log);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const line = Buffer.from(`${'x'.repeat(2000)} BOOM\r\n`);
    for (let count = 0; count < 1000; count++) channel.say(line);
    await expect.poll(() => terminal.log.end).toBe(1000 * line.length);
    await terminal.sync(limit());
    channel.say(Buffer.from('the end'));
    await expect.poll(() => terminal.log.end).toBe(1000 * line.length + 7);
    await terminal.sync(limit());
    expect(text(terminal)).toMatch(/the end$/);
    // Row numbers from before mean nothing any more.
    expect(terminal.screen.epoch).toBeGreaterThan(0);
    expect(terminal.screen.baseRow).toBeGreaterThan(0);
    expect(terminal.ended).toBeUndefined();
    expect(logged).toHaveLength(10);
  });

  test('whoever listens to output and makes a mistake ends nothing, either', async () => {
    const channel = new EchoChannel(size, { echo: false });
    await using engine = engineWith(folder, { echo: async () => ({ channel, program: 'echo' }) }, log);
    const terminal = await engine.open({ target: 'echo', size }, limit());
    const heard: number[] = [];
    terminal.output.on(() => {
      throw new RangeError('what was printed');
    });
    terminal.output.on(({ from }) => heard.push(from));
    terminal.screen.events.on(() => {
      throw new RangeError('what was printed');
    });
    channel.say(Buffer.from('one\x07'));
    await expect.poll(() => terminal.log.end).toBe(4);
    await terminal.sync(limit());
    channel.say(Buffer.from('two'));
    await expect.poll(() => heard).toEqual([0, 4]);
    await terminal.sync(limit());
    expect(text(terminal)).toBe('onetwo');
    expect(logged.map((line) => / in (.*) of terminal/.exec(line)?.[1])).toEqual([
      'the output',
      'the screen',
      'the output',
    ]);
  });
});
