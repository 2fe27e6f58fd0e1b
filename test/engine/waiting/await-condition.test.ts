import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { type Condition, awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { mark, openWire } from '../../support/reading.ts';
import { limit, shellHome } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

const home = shellHome();
afterAll(() => home[Symbol.asyncDispose]());

const enter = (terminal: Terminal, line: string): Promise<void> =>
  terminal.input.send(Buffer.from(`${line}\r`), 'test', limit());

const until = (terminal: Terminal, conditions: readonly Condition[], timeoutMs = 18_000, since?: number) =>
  awaitCondition(terminal, { conditions, timeoutMs, since }, limit());

test('text, by whichever condition comes first, with the line it stands in', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, 'sleep 0.1; printf "one\\n  two %s  \\nthree\\n" 22');
  const before = performance.now();
  const found = await until(terminal, [
    { type: 'text', text: 'never' },
    { type: 'regex', pattern: '^ +two (\\d+)' },
  ]);
  expect(found).toMatchObject({ hit: 1, match: { text: '  two 22', line: expect.stringContaining('two 22') } });
  expect(found.elapsedMs).toBeLessThanOrEqual(Math.ceil(performance.now() - before));
});

test('what was printed between the input and the wait counts, what was there before does not', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, 'echo fir""st');
  expect(await until(terminal, [{ type: 'text', text: 'first' }])).toMatchObject({ hit: 0 });
  await until(terminal, [{ type: 'prompt' }]);
  expect(await until(terminal, [{ type: 'text', text: 'first' }])).toMatchObject({ hit: 0 });
  await enter(terminal, 'echo sec""ond');
  await until(terminal, [{ type: 'command' }]);
  const stale = await until(terminal, [{ type: 'text', text: 'first' }], 200);
  expect(stale.hit).toBeUndefined();
  expect(await until(terminal, [{ type: 'text', text: 'second' }])).toMatchObject({ hit: 0 });
});

test('the echo of a command is not what it prints, whenever the wait begins', async () => {
  await using terminal = await home.open('bash');
  for (const early of [true, false]) {
    await enter(terminal, 'sleep 0.3; echo needle');
    if (!early) await until(terminal, [{ type: 'quiet', ms: 100 }]);
    const { hit, match } = await until(terminal, [{ type: 'text', text: 'needle' }]);
    // The echo stands in a line with the prompt and the rest of the command.
    expect({ hit, match }).toEqual({ hit: 0, match: { text: 'needle', line: 'needle' } });
    await until(terminal, [{ type: 'prompt' }]);
  }
  await enter(terminal, 'echo needle )');
  expect(await until(terminal, [{ type: 'regex', pattern: 'syntax error' }])).toMatchObject({ hit: 0 });
  await until(terminal, [{ type: 'prompt' }]);
  await terminal.input.send(Buffer.from('half'), 'test', limit());
  expect(await until(terminal, [{ type: 'text', text: 'half' }])).toMatchObject({ hit: 0 });
});

test('a question for a person ends a wait that asks for it', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, `sleep 0.2; printf 'Pass''word: '; stty -echo; read x; stty echo`);
  const asked = await until(terminal, [{ type: 'text', text: 'never' }, { type: 'person' }]);
  expect(asked).toMatchObject({ hit: 1, state: 'needs_person' });
});

test('a line that scrolls past in a flood is seen', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, 'seq 200000; echo nee""dle; seq 400000');
  expect(await until(terminal, [{ type: 'regex', pattern: '^needle$' }])).toMatchObject({
    hit: 0,
    match: { line: 'needle' },
  });
});

test('text that a program puts together on the screen', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, `printf '\\033[?1049h\\033[5;7HReady\\033[5;1HNot'; sleep 0.2; printf '\\033[5;5H'; sleep 20`);
  expect(await until(terminal, [{ type: 'text', text: 'Not   Ready' }])).toMatchObject({ hit: 0 });
});

test('text that has gone from the screen', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, `printf 'Loa''ding'; sleep 0.2; printf '\\r\\033[Kdone'; sleep 20`);
  await until(terminal, [{ type: 'text', text: 'Loading' }]);
  expect(await until(terminal, [{ type: 'gone', text: 'Loading' }])).toMatchObject({ hit: 0 });
});

const turns = async (): Promise<void> => {
  for (let count = 0; count < 10; count++) await turn();
};

/** A wait on a wire: its far end takes as much time as the test says. */
async function slowly(trusted: boolean, conditions: readonly Condition[]) {
  const clock = new ManualClock();
  const wire = openWire({ clock, trusted });
  onTestFinished(() => wire[Symbol.asyncDispose]());
  await wire.say(trusted ? `${mark('A', ';n=0')}$ ${mark('B', ';n=0')}` : '$ ');
  await enter(wire.terminal, 'echo needle');
  const found = until(wire.terminal, conditions);
  const pass = async (ms: number): Promise<void> => {
    await turns();
    clock.advance(ms);
    await turns();
  };
  return { wire, found, pass };
}

test('the echo of a line that a busy shell has yet to take is not what it prints', async () => {
  const { wire, found, pass } = await slowly(true, [{ type: 'text', text: 'needle' }]);
  await wire.say('echo needle');
  await pass(2000);
  await wire.say(`\r\n${mark('C', ';n=0')}a needle\r\n`);
  expect(await found).toMatchObject({ hit: 0, match: { line: 'a needle' } });
});

test('the prompt that a line was entered at is not the one after it, however slow the shell', async () => {
  const { wire, found, pass } = await slowly(false, [{ type: 'prompt' }]);
  await pass(2000);
  await wire.say('echo needle\r\nneedle\r\n$ ');
  await pass(150);
  const { hit, offset } = await found;
  expect({ hit, offset }).toEqual({ hit: 0, offset: wire.terminal.log.end });
});

test('quiet: no output for so long, however long it took', async () => {
  const clock = new ManualClock();
  await using wire = openWire({ clock });
  let over = false;
  const quiet = until(wire.terminal, [{ type: 'quiet', ms: 250 }]).finally(() => {
    over = true;
  });
  for (let count = 1; count <= 6; count++) {
    await turns();
    clock.advance(249);
    await wire.say(`${count}\r\n`);
  }
  await turns();
  clock.advance(249);
  await turns();
  expect(over).toBe(false);
  clock.advance(1);
  expect(await quiet).toMatchObject({ hit: 0, elapsedMs: 7 * 249 + 1 });
});

test('quiet in a real shell', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done; sleep 20');
  expect(await until(terminal, [{ type: 'quiet', ms: 250 }])).toMatchObject({ hit: 0 });
  expect(terminal.clock.monotonic() - (terminal.usage.lastOutputMs ?? 0)).toBeGreaterThanOrEqual(250);
});

test('the end of a command with its exit code, of the program, and a prompt', async () => {
  await using terminal = await home.open('bash');
  await enter(terminal, 'sleep 0.1; (exit 7)');
  expect(await until(terminal, [{ type: 'exit' }, { type: 'command' }])).toMatchObject({ hit: 1, exitCode: 7 });
  // The command is over before its prompt is drawn, and a prompt drawn after the input is what the next wait is for.
  await until(terminal, [{ type: 'prompt' }]);
  await enter(terminal, 'sleep 0.1');
  expect(await until(terminal, [{ type: 'prompt' }])).toMatchObject({ hit: 0, state: 'idle' });
  await enter(terminal, 'exit');
  expect(await until(terminal, [{ type: 'text', text: 'never' }, { type: 'exit' }])).toMatchObject({
    hit: 1,
    state: 'exited',
  });
});

test.each(['dash', 'bash'])('a prompt of %s without integration', async (shell) => {
  await using terminal = await home.open(shell, { integration: false });
  await enter(terminal, 'sleep 0.3; echo x');
  expect(await until(terminal, [{ type: 'prompt' }])).toMatchObject({ hit: 0 });
  expect(Buffer.from(terminal.log.read(0).bytes).toString()).toMatch(/[\r\n]x\r\n/);
});

test('the time limit is an answer, and a cancelled wait ends at once', async () => {
  await using terminal = await home.open('dash');
  const late = await until(terminal, [{ type: 'text', text: 'never' }], 50);
  expect(late).toMatchObject({ hit: undefined, state: 'idle' });
  const before = [terminal.output.size, terminal.blocks.events.size];
  const leaving = new AbortController();
  const waiting = awaitCondition(terminal, { conditions: [{ type: 'exit' }], timeoutMs: 20_000 }, leaving.signal);
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  expect([terminal.output.size, terminal.blocks.events.size]).toEqual(before);
});

test('conditions that make no sense are refused', async () => {
  await using terminal = await home.open('dash');
  await expect(until(terminal, [])).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(until(terminal, [{ type: 'text', text: '' }])).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(until(terminal, [{ type: 'regex', pattern: '(' }])).rejects.toMatchObject({ code: 'invalid_input' });
});
