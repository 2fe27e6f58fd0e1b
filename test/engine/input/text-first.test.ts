import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairleadError } from '../../../src/contract/errors.ts';
import { submit } from '../../../src/engine/input/submit.ts';
import { Terminal } from '../../../src/engine/terminal/terminal.ts';
import type { JudgeTyped } from '../../../src/engine/input/typed-line.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { typeText } from '../../../src/engine/input/typing.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import type { InputMode } from '../../../src/engine/shells/input-mode.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { keys, never, screenText, Workplace } from '../../support/prompt-desk.ts';
import { mark, openWire } from '../../support/reading.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

interface Far {
  readonly mode?: InputMode;
  readonly judge?: () => JudgeTyped | undefined;
  readonly flush?: () => Promise<void>;
  readonly write?: (bytes: Uint8Array) => Promise<void>;
  readonly clock?: Clock;
}

/** A terminal with a program in it that is no shell, and what was told of and written. */
function open({ mode = 'raw', judge, flush, write, clock = systemClock }: Far) {
  const channel = new EchoChannel({ cols: 80, rows: 24 }, { echo: false });
  const program = { pid: 7, name: 'program', isLeader: true };
  const process = { pid: 7, foreground: () => program, cwd: () => undefined, inputMode: () => mode };
  const terminal = new Terminal({
    id: 't_test',
    number: 1,
    name: undefined,
    program: 'program',
    channel: Object.assign(channel, { process, ...(flush && { flush }), ...(write && { write }) }),
    size: { cols: 80, rows: 24 },
    scrollback: 100,
    clock,
    nonce: undefined,
    judgeTyped: judge,
    release: () => {},
  });
  const told: string[] = [];
  terminal.input.events.on(({ bytes }) => told.push(Buffer.from(bytes).toString()));
  const written = (): string[] => channel.written.map((bytes) => Buffer.from(bytes).toString());
  const say = (text: string): void => channel.say(text);
  return { terminal, told, written, say, [Symbol.asyncDispose]: () => terminal[Symbol.asyncDispose]() };
}

const line = { text: 'hello', mode: 'enter', by: 'test' } as const;

test('a program that reads lines gets the text, and Enter right after it', async () => {
  // What it prints is not waited for.
  const flush = (): Promise<void> => new Promise(() => {});
  await using far = open({ mode: 'lines', flush });
  expect(await submit(far.terminal, line, never)).toEqual({
    submitted: 'unknown',
    wrapped: false,
    bytes: 6,
    enters: 1,
  });
  expect(far.written()).toEqual(['hello', '\r']);
});

test('text of several lines goes as one: its first line may be the end of the program', async () => {
  await using far = open({ mode: 'lines' });
  await typeText(far.terminal, 'exit\nnever read', keys, never);
  expect(far.written()).toEqual(['exit\nnever read\r']);
});

test('a call that is cancelled between text and Enter tells of no Enter', async () => {
  const looking = deferred();
  const looked = deferred();
  let slow = false;
  const flush = async (): Promise<void> => {
    if (!slow) return;
    looking.resolve();
    await looked.promise;
    // What it had printed by then: it takes no pastes any more.
    far.say('\x1b[?2004l');
  };
  await using far = open({ mode: 'lines', flush });
  far.say('\x1b[?2004h');
  await far.terminal.sync(never);
  slow = true;
  const hangUp = new AbortController();
  const typing = typeText(far.terminal, 'hello', keys, hangUp.signal);
  await looking.promise;
  hangUp.abort();
  looked.resolve();
  await expect(typing).rejects.toMatchObject({ code: 'cancelled' });
  await far.terminal.input.whenIdle;
  expect(far.told).toEqual(['hello']);
  expect(far.terminal.input.last?.entered).toBe(false);
});

test('Enter alone counts as typing from the moment it is asked for', async () => {
  for (const paste of [false, true]) {
    await using far = open({ mode: 'lines' });
    const typing = typeText(far.terminal, '', { ...keys, paste }, never);
    expect(far.terminal.input.isBusy).toBe(true);
    await typing;
    expect(far.written()).toEqual(['\r']);
  }
});

test('a line of which nobody knows how much arrived is not entered (R-RPC-100)', async () => {
  const refusal = new FairleadError('not_permitted', 'Refused.');
  const judge: JudgeTyped = (entered) => (entered === undefined || entered.includes('rm -rf') ? refusal : undefined);
  for (const asked of [judge, undefined]) {
    const stuck = deferred();
    let judging: JudgeTyped | undefined = asked;
    await using far = open({
      mode: 'lines',
      judge: () => judging,
      write: () => stuck.promise,
    });
    const hangUp = new AbortController();
    const typing = far.terminal.input.send(Buffer.from('rm '), 'test', hangUp.signal);
    hangUp.abort();
    await expect(typing).rejects.toMatchObject({ code: 'cancelled' });
    stuck.resolve();
    judging = judge;
    await expect(far.terminal.input.send(Buffer.from('-rf x\r'), 'test', never)).rejects.toBe(refusal);
  }
});

test('a line is told of as one where it is judged, and by the words it was judged in (R-RPC-100)', async () => {
  await using far = open({ mode: 'lines', judge: () => () => undefined });
  await typeText(far.terminal, 'echo a\u0085b', { ...keys, as: 'command' }, never);
  await typeText(far.terminal, 'echo fine', { ...keys, as: 'command' }, never);
  expect(far.written()).toEqual(['echo a\u0085b\r', 'echo fine\r']);
  expect(far.told).toEqual(far.written());
});

test('what was printed since Ctrl+C makes it the past, and a line taken is a line taken', async () => {
  const wire = openWire({ reads: () => true });
  await using _wire = wire;
  const { terminal } = wire;
  const type = (text: string): Promise<void> => terminal.input.send(Buffer.from(text), 'test', never);
  await wire.say(`${mark('A', ';n=0')}$ ${mark('B', ';n=0')}vim\r\n${mark('C', ';n=0')}`);
  await type('\x03');
  await type('ihello');
  await wire.say('hello');
  await type(':wq\r');
  expect(terminal.input.last?.ahead).toBe(false);
  await type('\x03');
  await type('one\r');
  expect(terminal.input.last?.ahead).toBe(true);
  await type('two\r');
  expect(terminal.input.last?.ahead).toBe(false);
});

test('where nobody can tell who reads, the echo of Ctrl+C does not make it the past', async () => {
  await using wire = openWire();
  const type = (text: string): Promise<void> => wire.terminal.input.send(Buffer.from(text), 'test', never);
  await wire.say(`${mark('A', ';n=0')}$ ${mark('B', ';n=0')}cat\r\n${mark('C', ';n=0')}`);
  await type('\x03');
  await type('ls');
  await wire.say('^C\r\n');
  await type('\r');
  expect(wire.terminal.input.last?.ahead).toBe(true);
});

test('a program that shows nothing of the text gets one Enter, whatever it makes of it', async () => {
  await using far = open({});
  far.say('\x1b[?2004hPassword: ');
  await far.terminal.sync(never);
  expect(await submit(far.terminal, line, never)).toMatchObject({ submitted: 'unknown', enters: 1 });
  expect(far.written()).toEqual(['hello', '\r']);
});

test.each(['', '\x1b[?2004h'])(
  'a silent program that reads keys (%j) is not waited for longer than 2 s',
  async (modes) => {
    const clock = new ManualClock();
    await using far = open({ clock });
    far.say(`${modes}ready`);
    await far.terminal.sync(never);
    const began = clock.monotonic();
    let over = false;
    const sent = submit(far.terminal, line, never).finally(() => {
      over = true;
    });
    while (!over && clock.monotonic() - began < 10_000) {
      for (let turns = 0; turns < 10; turns++) await turn();
      if (!over) clock.advance(10);
    }
    expect(await sent).toMatchObject({ submitted: 'unknown', enters: 1 });
    // The text is given a second to be shown, and Enter comes after it (R-HUB-092).
    expect(clock.monotonic() - began).toBeGreaterThanOrEqual(1000);
    expect(clock.monotonic() - began).toBeLessThanOrEqual(2000);
    expect(far.written()).toEqual(['hello', '\r']);
  },
);

test.each([
  ['keys', ''],
  ['keys, and asks for marked pastes', '\\x1b[?2004h'],
])('a password prompt that reads %s gets its Enter once, at once', async (_reads, before) => {
  await using place = await Workplace.open();
  const terminal = await place.shell();
  const source = [
    'process.stdin.setRawMode(true)',
    `process.stdout.write("${before}Password: ")`,
    'let read = ""',
    'process.stdin.on("data", (bytes) => { read += bytes; if (read.includes("\\r")) setTimeout(done, 100) })',
    'const done = () => { console.log("\\r\\nread " + read.length + " keys, " + read.split("\\r").length + " parts\\r"); process.exit() }',
  ].join('; ');
  await typeText(terminal, `${process.execPath} -e '${source}'`, keys, never);
  await expect.poll(() => terminal.person.prompts.current?.secret).toBe(true);
  const sent = await submit(terminal, { ...line, text: 'hunter22' }, never);
  expect(sent).toEqual({ submitted: 'unknown', wrapped: false, bytes: 9, enters: 1 });
  await expect.poll(() => screenText(terminal)).toContain('read 9 keys, 2 parts');
});
