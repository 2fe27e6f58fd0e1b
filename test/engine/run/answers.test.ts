import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

interface Unfinished {
  readonly command: string;
  readonly runningMs: number;
  readonly hint: string;
}
interface Run {
  readonly terminal: string;
  readonly state: string;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly cwd?: string;
  readonly restarted?: boolean;
  readonly note?: string;
}

const run = (mcp: Mcp, command: string, more: object = {}): Promise<Run> =>
  mcp.facts<Run>('terminal_run', { command, timeoutMs: 60_000, ...more });

describe('where a command left the shell', () => {
  test('after exit the next run says that it has a new shell, and where that is', async () => {
    await using mcp = await Mcp.start();
    const before = await run(mcp, 'cd / && lost=1');
    expect(before).toMatchObject({ cwd: '/' });
    expect(before).not.toHaveProperty('restarted');
    expect(await run(mcp, 'exit 5')).toMatchObject({ state: 'exited', exitCode: 5 });
    const after = await run(mcp, 'echo "[$lost]"');
    expect(after).toMatchObject({ state: 'done', restarted: true, cwd: mcp.home });
    expect(after.note).toMatch(/new shell/);
    expect(after.terminal).not.toBe(before.terminal);
    expect(await run(mcp, 'true')).not.toHaveProperty('restarted');
    await run(mcp, 'exit 0');
    const words = await mcp.text('terminal_run', { command: 'pwd' });
    expect(words).toMatch(/new shell/);
    expect(words).toContain(`in ${mcp.home}`);
  });

  test('input to the new shell is told of, too', async () => {
    await using mcp = await Mcp.start();
    await run(mcp, 'exit 5');
    expect(await mcp.text('terminal_send', { text: 'true' })).toMatch(/new shell/);
  });

  test.each(['bash', 'zsh', 'fish', 'dash'])('every answer of %s tells its directory', async (shell) => {
    await using mcp = await Mcp.start();
    const { terminal } = await mcp.facts<{ terminal: string }>('terminal_open', { shell });
    expect(await run(mcp, 'true', { terminal })).toMatchObject({ cwd: mcp.home });
    execFileSync('mkdir', ['-p', join(mcp.home, 'a b', 'c')]);
    for (const [command, folder] of [
      ['cd "a b"', 'a b'],
      ['cd c; false', 'a b/c'],
      ['cd ..', 'a b'],
      ['cd /nowhere-at-all', 'a b'],
    ] as const) {
      expect(await run(mcp, command, { terminal })).toMatchObject({ state: 'done', cwd: join(mcp.home, folder) });
    }
    expect(await mcp.text('terminal_run', { command: 'true', terminal })).toContain(join(mcp.home, 'a b'));
    execFileSync('mkfifo', [join(mcp.home, 'gate')]);
    // The directory of the shell, not of what it runs.
    const command = `sh -c 'cd / && exec cat "$1"' sh '${join(mcp.home, 'gate')}'`;
    expect(await run(mcp, command, { terminal, timeoutMs: 500 })).toMatchObject({
      state: 'running',
      cwd: join(mcp.home, 'a b'),
    });
    const over = mcp.facts<Run>('terminal_run', { terminal, timeoutMs: 60_000 });
    await writeFile(join(mcp.home, 'gate'), '');
    expect(await over).toMatchObject({ state: 'done', cwd: join(mcp.home, 'a b') });
  });

  test('a nested shell has a directory of its own', async () => {
    await using mcp = await Mcp.start();
    await run(mcp, 'bash --norc');
    // What tells the end of a command there is a process of its own, in the foreground for a moment.
    for (const cwd of Array.from({ length: 20 }, (_, round) => ['/usr', '/'][round % 2])) {
      expect(await run(mcp, `cd ${cwd}`)).toMatchObject({ state: 'done', cwd });
    }
    await run(mcp, 'exit');
    expect(await run(mcp, 'true')).toMatchObject({ cwd: mcp.home });
  });
});

test('how long a finished command took does not change when it is asked again', async () => {
  await using mcp = await Mcp.start();
  const { durationMs } = await run(mcp, 'sleep 0.2');
  expect(durationMs).toBeGreaterThanOrEqual(200);
  for (let round = 0; round < 3; round++) {
    await mcp.request('ping');
    expect(await mcp.facts<Run>('terminal_run', {})).toMatchObject({ state: 'done', durationMs });
  }
});

describe('a call that was cancelled', () => {
  /** Starts a command that waits for a gate, cancels the call once it runs, and lets the test go on from there. */
  async function cancelled(mcp: Mcp, command = 'cat gate; (exit 7)'): Promise<string> {
    execFileSync('mkfifo', [join(mcp.home, 'gate')]);
    await run(mcp, 'true');
    const id = mcp.lines.length + 1000;
    mcp.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'terminal_run', arguments: { command } } });
    const running = async (): Promise<unknown> =>
      (await mcp.facts<{ terminals: { foreground?: string }[] }>('terminal_list')).terminals[0]?.foreground;
    await expect.poll(running, { timeout: 30_000 }).toBe('cat');
    // While a call waits for it, nothing is unfinished.
    expect(JSON.stringify(await mcp.facts('terminal_read', {}))).not.toContain('unfinished');
    mcp.notify('notifications/cancelled', { requestId: id });
    return command;
  }
  const unfinished = (command: string) => ({
    command,
    runningMs: expect.any(Number),
    hint: expect.stringMatching(/terminal_run without command.*Ctrl\+C/),
  });

  test('the next calls tell that its command still runs, since when, and what to do', async () => {
    await using mcp = await Mcp.start();
    const command = await cancelled(mcp);
    const read = await mcp.facts<{ unfinished?: Unfinished }>('terminal_read', {});
    expect(read.unfinished).toEqual(unfinished(command));
    expect(await mcp.text('terminal_read', {})).toMatch(/`cat gate; \(exit 7\)` still runs .* cancelled.*terminal_run/);
    const { terminals } = await mcp.facts<{ terminals: { unfinished?: Unfinished }[] }>('terminal_list');
    expect(terminals[0]?.unfinished).toEqual(unfinished(command));
    expect(await mcp.text('terminal_list')).toMatch(/`cat gate; \(exit 7\)` still runs/);
    const sent = await mcp.facts<{ unfinished?: Unfinished }>('terminal_send', { text: 'x', mode: 'raw' });
    expect(sent.unfinished).toEqual(unfinished(command));
    const refused = await mcp.call('terminal_run', { command: 'echo no' });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toMatch(/`cat gate; \(exit 7\)` still runs .* cancelled.*Ctrl\+C/s);
  });

  test('of a long command only the beginning is told', async () => {
    await using mcp = await Mcp.start();
    await cancelled(mcp, `cat gate # ${'x'.repeat(3000)}`);
    const refused = await mcp.call('terminal_run', { command: 'echo no' });
    expect(refused.structuredContent).toMatchObject({ error: { command: expect.stringMatching(/^cat gate # x+…$/) } });
    const sent = await mcp.call('terminal_send', { text: 'x', mode: 'raw' });
    for (const answer of [refused, sent]) expect(JSON.stringify(answer).length).toBeLessThan(2500);
  });

  test('who goes on waiting gets its end, and nothing is told after that', async () => {
    await using mcp = await Mcp.start();
    await cancelled(mcp);
    const over = mcp.facts<Run>('terminal_run', { timeoutMs: 60_000 });
    await mcp.request('ping');
    await writeFile(join(mcp.home, 'gate'), '');
    expect(await over).toMatchObject({ state: 'done', exitCode: 7 });
    expect(JSON.stringify(await mcp.facts('terminal_read', {}))).not.toContain('unfinished');
    expect(await run(mcp, 'true')).toMatchObject({ state: 'done', exitCode: 0 });
  });
});
