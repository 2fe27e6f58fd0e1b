import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';
import { RpcClient } from '../../support/rpc.ts';
import { Served } from '../../support/served.ts';

/** More rounds than this takes, for those who want to be sure: the bar is a hundred. */
const rounds = Number(process.env['FAIRLEAD_CLOSING_ROUNDS'] ?? 2);
const slowly = { timeout: 60_000 + rounds * 20_000 };

const locked = (name: string, work: string): string =>
  `trap 'rm -f ${name}.lock' EXIT\ntouch ${name}.lock\n${work}\ntouch went-on\n`;

const scripts = {
  sleeps: locked('sleeps', 'sleep 1000'),
  loops: locked('loops', 'while :; do sleep 0.01; done'),
  pipes: locked('pipes', 'sleep 1000 | cat'),
  outer: locked('outer', 'bash inner.sh'),
  inner: locked('inner', 'sleep 1000'),
  behind: locked('behind', 'sleep 1000'),
  deeper: locked('deeper', 'sleep 1000'),
};

/** What is typed, one line for each terminal, and the lock files that tell whether its EXIT traps ran. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'bash sleeps.sh; touch went-on': ['sleeps'],
  'bash loops.sh': ['loops'],
  'bash pipes.sh': ['pipes'],
  'bash outer.sh; touch went-on': ['outer', 'inner'],
  "trap 'rm -f prompt.lock' EXIT; touch prompt.lock": ['prompt'],
  "trap 'rm -f shell.lock' EXIT; touch shell.lock; bash behind.sh & sleep 1000; touch went-on": ['shell', 'behind'],
  // A shell in a shell passes the hang-up on to its own jobs.
  "bash --norc -ic 'bash deeper.sh; touch went-on'; touch went-on": ['deeper'],
};
const locks = Object.values(lines).flat();

type Call = (name: string, input: object) => Promise<Record<string, unknown>>;

/** Seven terminals, with a script at work in each. */
async function openAll(folder: string, call: Call): Promise<string[]> {
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(folder, `${name}.sh`), text);
  const opened = Object.keys(lines).map(async (text) => {
    const { sessionId } = await call('createSession', { cwd: folder });
    await call('type', { text, submit: true, sessionId });
    return String(sessionId);
  });
  const ids = await Promise.all(opened);
  await expect.poll(() => locks.filter((name) => !existsSync(join(folder, `${name}.lock`)))).toEqual([]);
  return ids;
}

/** Processes of the terminals of this home. */
function processesOf(home: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, 'latin1');
      const isDead = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return /^\d+$/.test(pid) && !isDead && env.includes(`HOME=${home}\0`) && env.includes('FAIRLEAD_SESSION=');
    } catch {
      return false;
    }
  });
}

function expectTidy(folder: string): void {
  expect(
    locks.filter((name) => existsSync(join(folder, `${name}.lock`))),
    'EXIT traps that did not run',
  ).toEqual([]);
  expect(existsSync(join(folder, 'went-on')), 'a shell went on with its next command').toBe(false);
}

/** A server has to be gone in 2 s: from here on its shells may no longer have waited for their jobs. */
const hurriedMs = 900;

/** From now on. False when the machine was too busy to run the traps in time: that proves nothing. */
function judging(folder: string): () => boolean {
  const began = performance.now();
  return () => {
    const isLate = performance.now() - began > hurriedMs;
    if (isLate && locks.some((name) => existsSync(join(folder, `${name}.lock`)))) return false;
    expectTidy(folder);
    return true;
  };
}

async function inTime(close: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !(await close()); tries++) expect(tries, 'closings that took too long').toBeLessThan(5);
}

const callOf =
  (mcp: Mcp): Call =>
  (name, input) =>
    mcp.facts(name, input);

describe.runIf(process.platform === 'linux').each(Array.from({ length: rounds }, (_, round) => round + 1))(
  'EXIT traps run and nothing survives, round %i:',
  () => {
    test.each(['stdin', 'SIGTERM'] as const)('the end of fairlead mcp by %s (R-TERM-140)', slowly, async (how) => {
      await inTime(async () => {
        await using mcp = await Mcp.start({ args: ['--max-sessions', '20'] });
        await openAll(mcp.home, callOf(mcp));
        const exited = once(mcp.child, 'exit');
        const judge = judging(mcp.home);
        if (how === 'stdin') mcp.child.stdin.end();
        else mcp.child.kill(how);
        expect(await exited).toEqual([0, null]);
        const isJudged = judge();
        await expect.poll(() => processesOf(mcp.home)).toEqual([]);
        return isJudged;
      });
    });

    test.each([
      ['terminal_close', 'terminal'],
      ['destroySession', 'sessionId'],
    ])('%s', slowly, async (tool, parameter) => {
      await using mcp = await Mcp.start({ args: ['--max-sessions', '20'] });
      // Waits for the default terminal, which stays.
      await mcp.facts('listSessions');
      const before = processesOf(mcp.home);
      const ids = await openAll(mcp.home, callOf(mcp));
      await Promise.all(ids.map((id) => mcp.facts(tool, { [parameter]: id })));
      expectTidy(mcp.home);
      expect(processesOf(mcp.home)).toEqual(before);
    });

    test('session.destroy', slowly, async () => {
      await using served = await Served.start(['--port', '0', '--max-sessions', '20']);
      const before = processesOf(served.home);
      await using client = await callServed(served);
      await openAll(served.home, client.call);
      const { mcp_port: port, auth_token: token } = recordOf(served);
      using rpc = await RpcClient.connect(port, token);
      const { sessions } = await rpc.call('session.list');
      for (const { id, is_default: isDefault } of sessions)
        if (!isDefault && id !== 0) await rpc.call('session.destroy', { id });
      expectTidy(served.home);
      expect(processesOf(served.home)).toEqual(before);
    });

    test('serve --end', slowly, async () => {
      await using served = await Served.start(['--port', '0', '--max-sessions', '20']);
      await using client = await callServed(served);
      await openAll(served.home, client.call);
      await served.end();
      expect(await served.endTerminals()).toBe('Ended 8 terminals.\n');
      expectTidy(served.home);
      expect(processesOf(served.home)).toEqual([]);
    });

    test('SIGTERM of serve --keep-terminals=false', slowly, async () => {
      await inTime(async () => {
        await using served = await Served.start(['--port', '0', '--max-sessions', '20', '--keep-terminals=false']);
        await using client = await callServed(served);
        await openAll(served.home, client.call);
        const judge = judging(served.home);
        await served.end();
        const isJudged = judge();
        await expect.poll(() => processesOf(served.home)).toEqual([]);
        return isJudged;
      });
    });
  },
);

async function callServed(served: Served): Promise<AsyncDisposable & { readonly call: Call }> {
  const client = await served.connect();
  return {
    call: async (name, input) => {
      const result = await client.callTool({ name, arguments: { ...input } });
      if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
      return result.structuredContent as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function recordOf(served: Served): { mcp_port: number; auth_token: string } {
  const file = /auth_token in (\S+)/.exec(served.out)?.[1] ?? '';
  return JSON.parse(readFileSync(file, 'utf8')) as { mcp_port: number; auth_token: string };
}
