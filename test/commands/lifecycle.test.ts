import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { cpuTimerOf } from '../support/clocks/cpu-timer.ts';
import { Mcp } from '../support/mcp-client.ts';
import { runDelay } from '../support/clocks/run-delay.ts';
import { shortest } from '../support/shortest.ts';

const program = join(import.meta.dirname, '..', '..', 'bin', 'fairlead.js');

/** Processes whose environment says they live in a terminal of this server. */
function children(home: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const env = readFileSync(`/proc/${pid}/environ`, 'latin1');
        return env.includes(`HOME=${home}\0`) && env.includes('FAIRLEAD_SESSION=');
      } catch {
        return false;
      }
    });
}

async function busyServer(): Promise<Mcp> {
  const mcp = await Mcp.start();
  await mcp.call('createSession');
  await mcp.call('type', { text: "trap '' HUP TERM; (trap '' HUP TERM; sleep 1000) & sleep 1000", submit: true });
  // The traps come before them.
  await expect.poll(() => children(mcp.home).filter(isSleep)).toHaveLength(2);
  return mcp;
}

/** With some megabytes on its screen. */
async function longScreen(): Promise<Mcp> {
  const mcp = await Mcp.start({ args: ['--scrollback', '100000', '--cols', '200'] });
  const text = 'yes "$(head -c 180 /dev/zero | tr \'\\0\' x)" | head -30000; echo the end';
  await mcp.call('type', { text, submit: true });
  await mcp.prompt();
  return mcp;
}

/** Megabytes are printed for each of several tries. */
const slowly = { timeout: 180_000 };

function isSleep(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n';
  } catch {
    return false;
  }
}

/** It exits with 0, in so many ms on a machine of its own, and nothing that it started stays. */
async function gone(mcp: Mcp, end: () => unknown): Promise<number> {
  const exited = once(mcp.child, 'exit');
  const delayed = runDelay(mcp.child.pid ?? 0);
  const started = performance.now();
  end();
  const [code] = await exited;
  const ms = performance.now() - started - delayed();
  expect(code).toBe(0);
  await expect.poll(() => children(mcp.home)).toEqual([]);
  return ms;
}

describe('R-TERM-140: the end', () => {
  const limitMs = 2000;

  test('stdin closed: exit 0 within 2 s, and no process stays, not even one that ignores signals', async () => {
    const ended = async (): Promise<number> => {
      await using mcp = await busyServer();
      return await gone(mcp, () => mcp.child.stdin.end());
    };
    expect(await shortest(limitMs, ended)).toBeLessThan(limitMs);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s: the same', async (signal) => {
    const ended = async (): Promise<number> => {
      await using mcp = await busyServer();
      return await gone(mcp, () => mcp.child.kill(signal));
    };
    expect(await shortest(limitMs, ended)).toBeLessThan(limitMs);
  });

  test('stdin closed while a call waits: exit within 2 s', async () => {
    const ended = async (): Promise<number> => {
      await using mcp = await Mcp.start();
      const waiting = mcp
        .request('tools/call', { name: 'getContent', arguments: { waitFor: 'never', timeoutMs: 30_000 } })
        .catch(() => {});
      await mcp.request('ping');
      const ms = await gone(mcp, () => mcp.child.stdin.end());
      await waiting;
      return ms;
    };
    expect(await shortest(limitMs, ended)).toBeLessThan(limitMs);
  });

  test('a client that dies in the middle of a call leaves no process and no unfinished recording behind', async () => {
    await using mcp = await busyServer();
    const { path } = await mcp.facts<{ path: string }>('startRecording');
    mcp.send({
      jsonrpc: '2.0',
      id: 900,
      method: 'tools/call',
      params: { name: 'getContent', arguments: { waitFor: 'never', timeoutMs: 30_000 } },
    });
    await mcp.request('ping');
    await gone(mcp, () => {
      mcp.child.stdout.destroy();
      mcp.child.stdin.destroy();
    });
    expect(existsSync(path)).toBe(true);
  });

  test('a terminal that is being closed when stdin closes: the call is answered', async () => {
    const ended = async (): Promise<number> => {
      await using mcp = await busyServer();
      const { sessions } = await mcp.facts<{ sessions: { sessionId: string }[] }>('listSessions');
      const closing = mcp.request('tools/call', {
        name: 'terminal_close',
        arguments: { terminal: sessions[0]?.sessionId },
      });
      await mcp.request('ping');
      const ms = await gone(mcp, () => mcp.child.stdin.end());
      expect((await closing).result).toBeDefined();
      return ms;
    };
    expect(await shortest(limitMs, ended)).toBeLessThan(limitMs);
  });

  /** For a client that does not read its answers. */
  async function unreadServer(): Promise<Mcp> {
    const mcp = await longScreen();
    mcp.child.stdout.removeAllListeners('data').pause();
    return mcp;
  }

  /** It takes no more, and is not busy with what it took. */
  async function full({ child }: Mcp): Promise<boolean> {
    for (;;) {
      const spent = cpuTimerOf(child.pid ?? 0);
      if ((await Promise.race([once(child.stdin, 'drain'), delay(1000, 'full')])) !== 'full') return false;
      if (spent() < 100) return true;
    }
  }

  const readAll = { method: 'tools/call', params: { name: 'getContent', arguments: {} } };

  test('a client that is gone with more than 64 MiB unread: exit within 2 s, and no shell stays', slowly, async () => {
    const ended = async (): Promise<number> => {
      await using mcp = await unreadServer();
      for (let id = 100; id < 110; id++) mcp.send({ jsonrpc: '2.0', id, ...readAll });
      // Blank lines are taken as long as anything is.
      const { stdin } = mcp.child;
      while (stdin.write('\n'.repeat(1 << 20)) || !(await full(mcp)));
      return await gone(mcp, () => stdin.destroy());
    };
    expect(await shortest(limitMs, ended)).toBeLessThan(limitMs);
  });

  test('SIGTERM with a hundred long reads in flight: exit within 2 s', slowly, async () => {
    const ended = async (): Promise<number> => {
      await using mcp = await unreadServer();
      for (let id = 100; id < 200; id++) mcp.send({ jsonrpc: '2.0', id, ...readAll });
      await once(mcp.child.stdout, 'readable');
      return await gone(mcp, () => mcp.child.kill('SIGTERM'));
    };
    expect(await shortest(limitMs, ended)).toBeLessThan(limitMs);
  });

  test('R-TERM-142: an answer that nobody reads to its end: stderr says that it was cut off', slowly, async () => {
    await using mcp = await unreadServer();
    mcp.send({ jsonrpc: '2.0', id: 100, ...readAll });
    await expect.poll(() => mcp.child.stdout.readableLength).toBeGreaterThan(0);
    mcp.child.stdin.end();
    expect(await once(mcp.child, 'exit')).toEqual([0, null]);
    await expect
      .poll(() => mcp.stderr)
      .toMatch(/The last answers were cut off: of [1-9]\d{5,} bytes not all were read/);
  });

  test('R-TERM-141: a signal during start-up leaves no orphan', async () => {
    for (let round = 0; round < 10; round++) {
      const home = await mkdtemp(join(tmpdir(), 'fairlead-start-'));
      const child = spawn(process.execPath, [program, 'mcp'], {
        env: { PATH: process.env['PATH'] ?? '', HOME: home, SHELL: '/bin/bash' },
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      // Spread over the whole start: from before main to after the shell is up.
      await new Promise((resolve) => setTimeout(resolve, round * 40));
      child.kill('SIGTERM');
      await once(child, 'exit');
      await expect.poll(() => children(home)).toEqual([]);
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test('started through a package runner that swallows signals: the end of stdin is enough', async () => {
    const home = await mkdtemp(join(tmpdir(), 'fairlead-runner-'));
    const runner = spawn('sh', ['-c', `${process.execPath} ${program} mcp; true`], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, SHELL: '/bin/bash' },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    await expect.poll(() => children(home).length).toBeGreaterThan(0);
    runner.kill('SIGKILL');
    runner.stdin?.destroy();
    await expect.poll(() => children(home)).toEqual([]);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });
});

test('R-TERM-142: an answer of 5 MB arrives whole although stdin closes right behind the call', slowly, async () => {
  const read = async (): Promise<string | undefined> => {
    await using mcp = await longScreen();
    const answer = mcp.request('tools/call', { name: 'getContent', arguments: {} }).catch(() => undefined);
    mcp.child.stdin.end();
    const [content] = ((await answer)?.result?.['content'] ?? []) as { text: string }[];
    expect((await mcp.end()).code).toBe(0);
    return content?.text;
  };
  // A machine that is busy with others may not get that far in the two seconds that an end may take.
  let text: string | undefined;
  for (let tries = 0; tries < 3 && text === undefined; tries++) text = await read();
  expect(text?.length).toBeGreaterThan(5 << 20);
  expect(text).toContain('\nthe end');
});

test('R-TERM-010: only JSON-RPC reaches stdout, whatever comes in', async () => {
  await using mcp = await Mcp.start();
  for (const line of [
    '',
    'garbage',
    '[]',
    '{}',
    '"text"',
    '{"jsonrpc":"2.0","id":50,"method":"no/such"}',
    '{"jsonrpc":"2.0","id":{},"method":1}',
    '\u0000\u0001',
  ]) {
    mcp.send(line);
  }
  await mcp.call('type', { text: 'console.log broken; printf "\\033[31m"', submit: true });
  await mcp.text('getContent');
  expect(await mcp.run('echo still here')).toMatchObject({ content: 'still here' });
  await mcp.end();
  expect(mcp.lines.length).toBeGreaterThan(4);
  for (const line of mcp.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

describe('R-TERM-012: the command line', () => {
  const run = (...args: string[]) => {
    try {
      return {
        code: 0,
        out: execFileSync(process.execPath, [program, ...args], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
        err: '',
      };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { code: status, out: stdout, err: stderr };
    }
  };

  test.each([
    [['mcp', '--nonsense'], 'Unknown option --nonsense.'],
    [['mcp', '--cols', 'many'], '--cols: "many" is not a whole number'],
    [['mcp', '--cols=0'], '--cols: "0" must be at least 2'],
    [['mcp', '--record=sometimes'], '--record: "sometimes" must be always, on-failure or off'],
    [['mpc'], 'There is no command "mpc". Did you mean mcp?'],
    [['mcp', '--toolsets', 'nonsense'], 'Unknown toolset: nonsense.'],
  ])('%j exits 2 and names the fault', (args, message) => {
    const { code, out, err } = run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  test('help and version', () => {
    expect(run('--version').out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run().out).toMatch(/Commands\n {2}mcp /);
    const { code, out } = run('mcp', '--help');
    expect(code).toBe(0);
    expect(out).toContain('--max-sessions <n>');
    expect(out).not.toContain('\x1b');
  });
});

test.runIf(existsSync('/dev/shm'))('what a killed server left behind is removed by the next one', async () => {
  const left = (pid: number): string[] => readdirSync('/dev/shm').filter((name) => name.startsWith(`fairlead-${pid}-`));
  await using killed = await Mcp.start({ env: { XDG_RUNTIME_DIR: '' } });
  const pid = killed.child.pid ?? 0;
  await killed.text('getContent');
  expect(left(pid)).toHaveLength(1);
  killed.child.kill('SIGKILL');
  await killed.end();
  await using next = await Mcp.start({ env: { XDG_RUNTIME_DIR: '' } });
  await next.text('getContent');
  await expect.poll(() => left(pid)).toEqual([]);
});
