import { afterAll, expect, test } from 'vitest';
import { follow, type RunResult, runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { awaitCondition } from '../../../src/engine/waiting/await-condition.ts';
import { limit, shellHome } from '../../support/engine.ts';

const poem = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? `line ${at}` : '')).join('\n');
const debugged = 'x = 1\nx = 2\n';
const home = shellHome({ 'poem.txt': poem, 'debugged.py': debugged });
afterAll(() => home[Symbol.asyncDispose]());

/** Far longer than any of these programs needs to draw: an answer that comes at this limit tells of no program. */
const start = (terminal: Terminal, command: string): Promise<RunResult> =>
  runCommand(terminal, { command, timeoutMs: 60_000, by: 'test' }, limit(70_000));

test.each([
  ['top', /^top - .*load average/, 'q'],
  ['top -d 0.1', /^top - .*load average/, 'q'],
  ['htop', /PID USER/, 'q'],
  ['vim -u NONE poem.txt', /^line 0\nline 2\n/, ':q!\r'],
])(
  '%s answers with its screen, without blank rows, and how to leave it',
  { timeout: 90_000 },
  async (command, shown, keys) => {
    await using terminal = await home.open('bash');
    const result = await start(terminal, command);
    const name = command.split(' ')[0] ?? '';
    expect(result).toMatchObject({ state: 'running', evidence: 'foreground', output: expect.stringMatching(shown) });
    expect(result.durationMs).toBeLessThan(50_000);
    expect(result.note).toMatch(new RegExp(`^${name} has taken the whole screen.*leave it with`));
    const rows = result.output.split('\n');
    expect(rows.filter((row) => row.trim() === '')).toEqual([]);
    expect(rows.length).toBeLessThanOrEqual(24);
    const left = follow(terminal, { timeoutMs: 30_000 }, limit(40_000));
    await terminal.input.send(Buffer.from(keys), 'test', limit());
    expect(await left).toMatchObject({ state: 'done', exitCode: 0 });
  },
);

test('less answers with its screen and the keys it takes', async () => {
  await using terminal = await home.open('bash');
  const result = await start(terminal, 'less poem.txt');
  expect(result).toMatchObject({
    output: expect.stringMatching(/^line 0\nline 2\n/),
    note: expect.stringContaining('q'),
  });
  expect(result.output.split('\n').filter((row) => row.trim() === '')).toEqual([]);
});

test('a wait for the shell is not over at the prompt of a debugger', { timeout: 60_000 }, async () => {
  await using terminal = await home.open('bash');
  await terminal.input.send(Buffer.from('python3 -m pdb debugged.py\r'), 'test', limit());
  await awaitCondition(terminal, { conditions: [{ type: 'text', text: '(Pdb)' }], timeoutMs: 20_000 }, limit(30_000));
  const prompt = [{ type: 'prompt' }, { type: 'quiet', ms: 1000 }] as const;
  expect(await awaitCondition(terminal, { conditions: prompt, timeoutMs: 20_000 }, limit(30_000))).toMatchObject({
    hit: 1,
  });
  const back = awaitCondition(
    terminal,
    { conditions: [{ type: 'prompt' }], timeoutMs: 20_000, since: 0 },
    limit(30_000),
  );
  await terminal.input.send(Buffer.from('q\r'), 'test', limit());
  expect(await back).toMatchObject({ hit: 0, state: 'idle' });
});

test('nor at words that only look like one, but at the prompt of a shell within the shell', {
  timeout: 60_000,
}, async () => {
  await using terminal = await home.open('bash');
  await terminal.input.send(Buffer.from("printf '(Pdb) '; sleep 20\r"), 'test', limit());
  await awaitCondition(terminal, { conditions: [{ type: 'text', text: '(Pdb) ' }], timeoutMs: 20_000 }, limit(30_000));
  const prompt = [{ type: 'prompt' }, { type: 'quiet', ms: 1000 }] as const;
  expect(await awaitCondition(terminal, { conditions: prompt, timeoutMs: 20_000 }, limit(30_000))).toMatchObject({
    hit: 1,
  });
  await terminal.input.send(Uint8Array.of(3), 'test', limit());
  await awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 20_000 }, limit(30_000));
  await terminal.input.send(Buffer.from('dash\r'), 'test', limit());
  expect(
    await awaitCondition(terminal, { conditions: [{ type: 'prompt' }], timeoutMs: 20_000 }, limit(30_000)),
  ).toMatchObject({
    hit: 0,
    state: 'running',
  });
});
