import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerSize, textOf } from '../../support/both-halves.ts';
import { Mcp, type ToolResult } from '../../support/mcp-client.ts';
import { program } from '../../support/served.ts';

// Two clients do ten tasks. One sees only the structure of an answer (Claude Code, Codex), one only its text (Gemini). What to call
// next, with which handle, and what to tell the person, each takes from the half it sees: where that half is silent it is stuck.

type Input = Readonly<Record<string, unknown>>;

/** What a client sees of an answer. */
interface Seen {
  readonly half: string;
  /** What to do next, in the words of the answer. */
  readonly next: string;
}

class Client implements AsyncDisposable {
  readonly #mcp: Mcp;
  readonly #see: (answer: ToolResult) => Seen;
  /** The largest answer so far, both halves together. */
  largest = 0;

  constructor(mcp: Mcp, see: (answer: ToolResult) => Seen) {
    this.#mcp = mcp;
    this.#see = see;
  }

  get home(): string {
    return this.#mcp.home;
  }

  async call(tool: string, input: Input = {}): Promise<Seen> {
    const answer = await this.#mcp.call(tool, input);
    this.largest = Math.max(this.largest, answerSize(answer));
    return this.#see(answer);
  }

  /** The call that an answer names, with the arguments it gives; `more` is what only the client knows. */
  async follow(seen: Seen, tool: string, more: Input = {}): Promise<Seen> {
    expect(seen.next, `no next step names ${tool}: ${seen.half.slice(0, 500)}`).toContain(tool);
    const [words = ''] = seen.next.slice(seen.next.indexOf(tool)).split(/, or |\n/);
    const given = [...words.matchAll(/\b(terminal|rest|cursor|view|from|fromCol)=([\w.:-]*\w)/g)];
    const numbers = ['from', 'fromCol'];
    const named = given.map(([, name = '', value = '']) => [name, numbers.includes(name) ? Number(value) : value]);
    return await this.call(tool, { ...Object.fromEntries(named), ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mcp[Symbol.asyncDispose]();
  }
}

const halves: Readonly<Record<string, (answer: ToolResult) => Seen>> = {
  structure({ structuredContent }) {
    const { next, error, person, input } = structuredContent as {
      next?: string;
      error?: { hint?: string };
      person?: { hint: string };
      input?: { hint: string };
    };
    const hints = [person?.hint, input?.hint, error?.hint, next].filter((hint) => hint !== undefined);
    return { half: JSON.stringify(structuredContent), next: hints.join('\n') };
  },
  text(answer) {
    // What programs print is no advice.
    const half = textOf(answer);
    return { half, next: half.replace(/^<output (\w+)>\n[^]*^<\/output \1>$/m, '') };
  },
};

/** A person at another terminal who runs the command line that the client passes on, and types the answer. */
async function person(commandLine: string, answer: string, home: string): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, FAIRLEAD_HOME: join(home, '.fairlead') };
  const child = spawn('/bin/sh', ['-c', commandLine], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(`${answer}\n`);
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, commandLine).toBe(0);
}

const task = (name: string, work: (client: Client) => Promise<void>): readonly [string, typeof work] => [name, work];

const tasks = [
  task('run the tests and name the failure in 5,000 lines', async (client) => {
    const script = `for i in $(seq 1 5000); do [ $i = 2718 ] && echo "test_$i FAI""LED" || echo "test_$i passed"; done; exit 1`;
    await writeFile(join(client.home, 'tests.sh'), script);
    let seen = await client.call('terminal_run', { command: 'sh tests.sh' });
    expect(seen.half).toMatch(/exit code 1|"exitCode":1/);
    // The failure is in the part that was left out: page through it by the handles alone.
    for (let pages = 0; !seen.half.includes('test_2718 FAILED') && pages < 60; pages++) {
      seen = await client.follow(seen, 'terminal_read');
    }
    expect(seen.half).toContain('test_2718 FAILED');
  }),
  task('wait for a build that takes longer than the first call', async (client) => {
    const build = 'while [ ! -e go ]; do sleep 0.05; done; echo built';
    let seen = await client.call('terminal_run', { command: build, timeoutMs: 200 });
    await writeFile(join(client.home, 'go'), '');
    for (let calls = 0; !seen.half.includes('built') || !/exit code 0|"exitCode":0/.test(seen.half); calls++) {
      expect(calls).toBeLessThan(50);
      seen = await client.follow(seen, 'terminal_run');
    }
  }),
  task('a password that only the person knows', async (client) => {
    const command = `read -rsp "Pass""word: " secret; echo; echo "$secret" | sha256sum > digest; echo thank you`;
    const seen = await client.call('terminal_run', { command, timeoutMs: 600_000 });
    const line = /run: (.+?)(?:"|$)/m.exec(seen.next)?.[1];
    expect(line, `nothing to tell the person: ${seen.half}`).toBeDefined();
    expect(seen.next).toContain('Never send it yourself');
    await person((line ?? '').replace(/^fairlead /, `${process.execPath} ${program} `), 'hunter2', client.home);
    const after = await client.follow(seen, 'terminal_run');
    expect(after.half).toContain('thank you');
    expect(after.half).not.toContain('hunter2');
    const digest = createHash('sha256').update('hunter2\n').digest('hex');
    expect(await readFile(join(client.home, 'digest'), 'utf8')).toContain(digest);
  }),
  task('answer three questions of an installer', async (client) => {
    const script =
      'printf "Install to [/opt]? "; read a; printf "Continue? [y/N] "; read b; printf "Your name: "; read c; echo "$a|$b|$c" > answers; echo inst""alled';
    await writeFile(join(client.home, 'install.sh'), script);
    let seen = await client.call('terminal_run', { command: 'sh install.sh', timeoutMs: 600_000 });
    for (const answer of ['/srv', 'y', 'ada']) {
      expect(seen.next, seen.half).toContain('terminal_send');
      const sent = await client.call('terminal_send', { text: answer });
      expect(sent.half).toContain('terminal_wait');
      seen = await client.call('terminal_run', { timeoutMs: 600_000 });
    }
    expect(await readFile(join(client.home, 'answers'), 'utf8')).toBe('/srv|y|ada\n');
  }),
  task('leave a pager', async (client) => {
    const seen = await client.call('terminal_run', { command: 'seq 1 500 | more', timeoutMs: 600_000 });
    expect(seen.next).toMatch(/terminal_send keys \["q"\]/);
    const sent = await client.call('terminal_send', { keys: ['q'] });
    const shell = await client.follow(sent, 'terminal_wait', { prompt: true });
    expect(shell.half).toMatch(/prompt after|"hit":"prompt"/);
  }),
  task('watch a log for a line, by the cursor of the last answer', async (client) => {
    await writeFile(
      join(client.home, 'log.sh'),
      'for i in 1 2 3; do echo "INFO $i"; sleep 0.1; done; echo "ERROR disk fu""ll"; sleep 600',
    );
    const sent = await client.call('terminal_send', { text: 'sh log.sh' });
    const seen = await client.follow(sent, 'terminal_wait', { regex: '^ERROR .*' });
    expect(seen.half).toContain('ERROR disk full');
    const nothing = await client.call('terminal_wait', { text: 'never comes', timeoutMs: 50 });
    const again = await client.follow(nothing, 'terminal_wait', { text: 'never comes', timeoutMs: 50 });
    const stopped = await client.call('terminal_send', { keys: ['Ctrl+C'] });
    expect((await client.follow(stopped, 'terminal_wait', { prompt: true })).half).toMatch(
      /prompt after|"hit":"prompt"/,
    );
    expect(again.next).toContain('terminal_wait');
  }),
  task('two jobs in two terminals, one by its name', async (client) => {
    const opened = await client.call('terminal_open', { name: 'second job' });
    expect(opened.half).toContain('second job');
    const seen = await client.call('terminal_run', { terminal: 'second job', command: 'sleep 600', timeoutMs: 100 });
    const running = await client.follow(seen, 'terminal_run', { timeoutMs: 50 });
    expect(running.half).toContain('sleep 600');
    expect((await client.call('terminal_run', { command: 'echo first job' })).half).toContain('first job');
    await client.call('terminal_close', { terminal: 'second job' });
  }),
  task('recover from a terminal that is not there', async (client) => {
    const wrong = await client.call('terminal_run', { terminal: 'zzzzz', command: 'true' });
    const list = await client.follow(wrong, 'terminal_list');
    const id = /\b(?=\w*[a-f])[0-9a-f]{5}\b/.exec(list.half)?.[0];
    const seen = await client.call('terminal_run', { terminal: id, command: 'echo reco""vered' });
    expect(seen.half).toContain('recovered');
    const ended = await client.call('terminal_run', { terminal: id, command: 'exit 3' });
    expect(ended.half).toMatch(/exit code 3|"exitCode":3/);
    const fresh = await client.follow(ended, 'terminal_open');
    expect(fresh.half).toMatch(/idle|starting/);
  }),
  task('find every match, page by page', async (client) => {
    await client.call('terminal_run', { command: 'for i in $(seq 1 400); do echo "row $i needle"; done' });
    let seen = await client.call('terminal_find', { pattern: 'needle', scope: 'all' });
    const rows = new Set<string>();
    const take = (): void => [...seen.half.matchAll(/row (\d+) needle/g)].forEach(([, row = '']) => rows.add(row));
    for (take(); seen.next.includes('More matches'); take())
      seen = await client.follow(seen, 'terminal_find', { pattern: 'needle' });
    expect(rows.size).toBe(400);
  }),
  task('finish a command with an open quote, and see only what is new', async (client) => {
    const open = await client.call('terminal_run', { command: 'echo "half' });
    expect(open.next).toContain('Send what was dropped again');
    const read = await client.call('terminal_read');
    await client.call('terminal_run', { command: 'echo "who""le"' });
    const fresh = await client.follow(read, 'terminal_read');
    expect(fresh.half).toContain('whole');
  }),
] as const;

describe.each(Object.keys(halves))('a client that sees only the %s', (half) => {
  test('does ten tasks without a dead end, in answers of at most 10 KiB', { timeout: 240_000 }, async () => {
    expect(tasks).toHaveLength(10);
    for (const [name, work] of tasks) {
      await using client = new Client(await Mcp.start(), halves[half] as (answer: ToolResult) => Seen);
      await work(client).catch((error: unknown) => {
        throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      });
      expect(client.largest, name).toBeLessThanOrEqual(10 << 10);
    }
  });
});
