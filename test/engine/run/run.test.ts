import { afterAll, expect, test } from 'vitest';
import { follow, runCommand } from '../../../src/engine/run/run.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { limit, shellHome } from '../../support/engine.ts';

const home = shellHome();
afterAll(() => home[Symbol.asyncDispose]());

const start = (terminal: Terminal, command: string, timeoutMs = 15_000) =>
  runCommand(terminal, { command, timeoutMs, by: 'test' }, limit());
const send = (terminal: Terminal, text: string): Promise<void> =>
  terminal.input.send(Buffer.from(text), 'other', limit());

test('a busy terminal refuses, and says what runs and what to do (R-RPC-045)', async () => {
  await using terminal = await home.open('bash');
  await send(terminal, 'sleep 20\r');
  // Not before: until then Ctrl+C would hit the shell.
  await expect.poll(() => terminal.process?.foreground()?.name).toBe('sleep');
  await expect(start(terminal, 'echo no')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('sleep'),
    hint: expect.stringContaining('Ctrl+C'),
  });
  await send(terminal, '\x03');
  expect(await start(terminal, 'echo yes')).toMatchObject({ state: 'done', exitCode: 0, output: 'yes' });
});

test('a program with the whole screen refuses', async () => {
  await using terminal = await home.open('bash');
  expect(await start(terminal, `printf '\\033[?1049h'; sleep 20`)).toMatchObject({
    state: 'running',
    evidence: 'foreground',
    note: expect.stringContaining('whole screen'),
  });
  await expect(start(terminal, 'echo no')).rejects.toMatchObject({ code: 'conflict' });
});

test('of two calls at the same time one waits and the other is refused (R-RPC-045)', async () => {
  await using terminal = await home.open('bash');
  const first = start(terminal, 'sleep 0.2; echo one');
  await expect(start(terminal, 'echo two')).rejects.toMatchObject({ code: 'conflict' });
  expect(await first).toMatchObject({ exitCode: 0, output: 'one' });
  expect(await start(terminal, 'echo two')).toMatchObject({ exitCode: 0, output: 'two' });
});

test('text that somebody has begun to type is not run with the command', async () => {
  await using terminal = await home.open('bash');
  await send(terminal, 'rm -r ');
  await awaitCondition(terminal, { conditions: [{ type: 'text', text: 'rm -r' }], timeoutMs: 15_000 }, limit());
  await expect(start(terminal, 'echo no')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('rm -r'),
  });
  await send(terminal, '\x15');
  await awaitCondition(terminal, { conditions: [{ type: 'gone', text: 'rm -r' }], timeoutMs: 15_000 }, limit());
  expect(await start(terminal, 'echo yes')).toMatchObject({ exitCode: 0, output: 'yes' });
});

test.each(['bash', 'dash'])('a password prompt in %s is a matter for a person, within a second', async (shell) => {
  await using terminal = await home.open(shell);
  const times: number[] = [];
  // The quickest of several: on a busy machine each step may take longer, the wait of ours is there every time.
  for (let round = 0; round < 5 && !times.some((ms) => ms < 2000); round++) {
    const asked = await start(terminal, `printf 'Password: '; stty -echo; read x; stty echo; echo; echo "got \${#x}"`);
    expect(asked).toMatchObject({
      state: 'needs_person',
      exitCode: null,
      asks: { kind: 'password', needs: 'person', secret: true },
    });
    times.push(asked.durationMs);
    const answered = follow(terminal, { timeoutMs: 15_000 }, limit());
    await send(terminal, 'hunter2\r');
    expect(await answered).toMatchObject({ state: 'done', exitCode: 0, output: expect.stringContaining('got 7') });
  }
  expect(Math.min(...times)).toBeLessThan(2000);
});

test('a wait that is cancelled leaves the command running, and it can be followed', async () => {
  await using terminal = await home.open('bash');
  const leaving = new AbortController();
  const begun = deferred();
  using _block = terminal.blocks.events.on(({ type }) => {
    if (type === 'started') begun.resolve();
  });
  const waiting = runCommand(
    terminal,
    { command: 'sleep 0.5; echo later', timeoutMs: 15_000, by: 'test' },
    leaving.signal,
  );
  await begun.promise;
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  expect(await follow(terminal, { timeoutMs: 15_000 }, limit())).toMatchObject({ exitCode: 0, output: 'later' });
  expect(await follow(terminal, { timeoutMs: 15_000 }, limit())).toMatchObject({ exitCode: 0, output: 'later' });
});

test('nothing to follow is said', async () => {
  await using terminal = await home.open('dash');
  await expect(follow(terminal, { timeoutMs: 100 }, limit())).rejects.toMatchObject({ code: 'not_found' });
});

test('a command longer than any is refused before anything is typed', async () => {
  await using terminal = await home.open('dash');
  const { end } = terminal.log;
  await expect(start(terminal, 'x'.repeat(300_000))).rejects.toMatchObject({ code: 'too_large' });
  expect(terminal.log.end).toBe(end);
  expect(await start(terminal, 'echo yes')).toMatchObject({ output: 'yes' });
});

test('output of 100,000 lines is whole, and its place in the log is told', async () => {
  await using terminal = await home.open('bash');
  const { output, missedBytes, outputFrom, outputTo } = await start(terminal, 'seq 100000');
  expect(output.split('\n')).toHaveLength(100_000);
  expect(missedBytes).toBe(0);
  expect(Buffer.from(terminal.log.read(outputFrom, outputTo).bytes).toString()).toMatch(
    /^1\r\n2\r\n.*99999\r\n100000\r\n/s,
  );
});

test('nothing listens to a terminal when its command is over', async () => {
  await using terminal = await home.open('bash');
  await start(terminal, 'echo one');
  const before = [terminal.output.size, terminal.blocks.events.size, terminal.state.changed.size];
  for (const command of ['true', 'echo "open', 'echo )', 'sleep 0.5']) await start(terminal, command);
  expect([terminal.output.size, terminal.blocks.events.size, terminal.state.changed.size]).toEqual(before);
});

test('of a command only the newest is kept, for as long as a terminal lives', { timeout: 180_000 }, async () => {
  await using terminal = await home.open('bash');
  const collect = await collector();
  const listening = (): number[] => [terminal.blocks.events.size, terminal.output.size];
  const before = listening();
  for (let round = 0; round < 300; round++) await start(terminal, 'true');
  const growth: number[] = [];
  for (let part = 0; part < 3; part++) {
    for (let round = 0; round < 300; round++) await start(terminal, 'true');
    growth.push(heapAfter(collect));
  }
  // A block is kept for each of the last 1000 commands; a run kept with its watch takes over 5 KiB.
  expect((growth[2] ?? 0) - (growth[0] ?? 0)).toBeLessThan(600 * 2500);
  expect(listening()).toEqual(before);
});

test('a control character that no shell takes as text is refused by name', async () => {
  await using terminal = await home.open('bash');
  const { end } = terminal.log;
  for (const [command, name] of [
    ['echo \0', 'U+0000'],
    ['echo \x03', 'U+0003'],
    ['a\x1b[201~', 'U+001B'],
  ] as const) {
    await expect(start(terminal, command)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(name),
    });
  }
  expect(terminal.log.end).toBe(end);
  expect(await start(terminal, 'echo a\tb\necho c')).toMatchObject({ output: 'a b\nc' });
});

test.each(['bash', 'dash'])(
  'a script of %s that prints what looks like a prompt is given no command',
  async (shell) => {
    await using terminal = await home.open('bash');
    const script = `${shell} -c 'printf "cost: 5\\$ "; read x; echo "got $x"; exit 9'`;
    const first = await start(terminal, script, 1000);
    expect(first).toMatchObject({ state: 'running', evidence: 'none' });
    await awaitCondition(terminal, { conditions: [{ type: 'text', text: 'cost: 5$' }], timeoutMs: 15_000 }, limit());
    await expect(start(terminal, 'echo hi')).rejects.toMatchObject({ code: 'conflict' });
    await send(terminal, 'y\r');
    expect(await follow(terminal, { timeoutMs: 15_000 }, limit())).toMatchObject({
      exitCode: 9,
      output: expect.stringContaining('got y'),
    });
  },
);

test('a shell that becomes a program that ends is over with the terminal', async () => {
  await using terminal = await home.open('bash');
  await start(terminal, 'exec sh');
  expect(await start(terminal, 'exec sleep 0.3')).toMatchObject({ state: 'exited', exitCode: 0, evidence: 'child' });
});

test.each(['PROMPT_COMMAND=true', 'unset PROMPT_COMMAND'])(
  'after %s bash is told to print how it went',
  async (off) => {
    await using terminal = await home.open('bash');
    await start(terminal, off);
    for (const code of [3, 0, 7]) {
      expect(await start(terminal, `echo ${code}; (exit ${code})`)).toMatchObject({
        state: 'done',
        exitCode: code,
        output: `${code}`,
        evidence: 'marker',
        note: expect.stringContaining('no longer'),
      });
    }
  },
);

test('true in bash takes at most twice what the shell needs', async () => {
  await using terminal = await home.open('bash');
  const prompt = (): Promise<unknown> =>
    awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 5000 }, limit());
  const byHand = async (): Promise<void> => {
    const done = deferred();
    using _block = terminal.blocks.events.on((event) => {
      if (event.type === 'prompt') done.resolve();
    });
    await send(terminal, 'true\r');
    await done.promise;
  };
  const times: { byHand: number[]; run: number[] } = { byHand: [], run: [] };
  for (let round = 0; round < 100; round++) {
    await prompt();
    times.byHand.push(await timed(byHand));
    await prompt();
    times.run.push(await timed(() => start(terminal, 'true')));
  }
  expect(median(times.run) / median(times.byHand)).toBeLessThan(2);
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** What stays when everything is collected that can be: what was just let go of may take another round. */
function heapAfter(collect: () => void): number {
  const sizes = Array.from({ length: 3 }, () => {
    collect();
    return process.memoryUsage().heapUsed;
  });
  return Math.min(...sizes);
}

async function collector(): Promise<() => void> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
