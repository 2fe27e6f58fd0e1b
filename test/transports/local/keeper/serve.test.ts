import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { leasedTerminals, isAlive } from '../../../support/keeper/keeper.ts';
import { Served } from '../../../support/served.ts';
import { shortest } from '../../../support/shortest.ts';

/** More rounds than this takes, for those who want to be sure: the bar is twenty. */
const rounds = Number(process.env['FAIRLEAD_KEEPER_ROUNDS'] ?? 3);

interface Info {
  readonly terminal: string;
  readonly pid: number;
  readonly state: string;
  readonly name?: string;
  readonly isDefault: boolean;
  readonly exitCode?: number | null;
}

interface Answer {
  readonly text: string;
  readonly cursor: string;
  readonly missedBytes?: number;
  readonly lost?: boolean;
  readonly clipped?: unknown;
  readonly altScreen: boolean;
  readonly screen: { readonly title: string; readonly cursor: object };
}

async function ask<T>(client: Client, name: string, input: object = {}): Promise<T> {
  const result = await client.callTool({ name, arguments: { ...input } });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result.structuredContent as T;
}

const list = async (client: Client): Promise<Info[]> =>
  (await ask<{ terminals: Info[] }>(client, 'terminal_list')).terminals;

/** Offset of a cursor in the output. */
const offsetOf = (cursor: string): number => Number.parseInt(/\.[an]([0-9a-z]+)\./.exec(cursor)?.[1] ?? '', 36);

const identity = ({ terminal, pid, name, isDefault }: Info) => ({ terminal, pid, name, isDefault });

/** Prints numbers, each once, at a pace that one answer holds most of a minute of, and starts no processes for its pauses. */
const script = 'exec 3<> <(:); i=0; while :; do i=$((i+1)); echo "n$i"; ((i % 100)) || read -t 0.2 -u 3; done';
const counting = ['bash', '-c', script];
const numbersIn = (text: string): number[] => [...text.matchAll(/^n(\d+)$/gm)].map(([, digits]) => Number(digits));

describe.runIf(process.platform === 'linux')('terminals outlive the server', () => {
  test(`kill -9 while ten sessions print, ${rounds} times: same ids, pids, screens and offsets, every byte once`, {
    timeout: 60_000 + rounds * 60_000,
  }, async () => {
    await using served = await Served.start(['--port', '0', '--max-sessions', '20', '--session-idle-timeout', '0']);
    let client = await served.connect();
    for (let session = 0; session < 10; session++) {
      await ask(client, 'terminal_open', { argv: counting, name: `counter ${session}` });
    }
    const painted = await ask<Info>(client, 'terminal_open', {
      argv: [
        'sh',
        '-c',
        `stty -echo; seq 1 500; printf '\\033]2;a title\\007\\033[31mred\\033[0m \\342\\224\\214 end'; cat`,
      ],
    });
    const full = await ask<Info>(client, 'terminal_open', {
      argv: ['sh', '-c', `printf 'below\\033[?1049h\\033[5;10Hin the middle\\033[?25l'; exec sleep 1000`],
    });
    const still = [painted.terminal, full.terminal];
    const shows = (terminal: string) => ask<Answer>(client, 'terminal_read', { terminal });
    await expect.poll(async () => (await shows(painted.terminal)).text).toMatch(/red ┌ end$/m);
    await expect
      .poll(() => shows(full.terminal))
      .toMatchObject({ altScreen: true, screen: { cursor: { visible: false } } });

    for (let round = 0; round < rounds; round++) {
      const before = await list(client);
      const shown = await Promise.all(still.map((terminal) => ask<Answer>(client, 'terminal_read', { terminal })));
      const counters = before.filter(({ name }) => name?.startsWith('counter'));
      expect(counters).toHaveLength(10);
      // The server reads all of them itself: what it was killed with must not be lost.
      await expect.poll(() => leasedTerminals(served.child.pid ?? 0)).toBe(before.length);
      const seen = await Promise.all(
        counters.map(async ({ terminal }) => {
          const { cursor, text } = await ask<Answer>(client, 'terminal_read', { terminal });
          // The last line may be half a line.
          return { terminal, cursor, last: numbersIn(text).at(-2) ?? 0 };
        }),
      );
      await served.end('SIGKILL');
      await served.restart();
      await client.close();
      client = await served.connect();

      const after = await list(client);
      expect(after.map(identity)).toEqual(before.map(identity));
      for (const [index, terminal] of still.entries()) {
        const { text, altScreen, screen, cursor } = await ask<Answer>(client, 'terminal_read', { terminal });
        const then = shown[index];
        expect({ text, altScreen, screen }).toEqual({
          text: then?.text,
          altScreen: then?.altScreen,
          screen: then?.screen,
        });
        expect(offsetOf(cursor)).toBe(offsetOf(then?.cursor ?? ''));
      }
      for (const { terminal, cursor, last } of seen) {
        const input = { terminal, view: 'new', cursor, maxBytes: 200_000 };
        let next = await ask<Answer>(client, 'terminal_read', input);
        while (numbersIn(next.text).length <= 40) next = await ask<Answer>(client, 'terminal_read', input);
        const numbers = numbersIn(next.text);
        expect([next.lost, next.missedBytes, next.clipped]).toEqual([undefined, undefined, undefined]);
        // A line in which the cursor stands is told again as a whole.
        const first = numbers[0] ?? 0;
        expect(first === last + 1 || first === last + 2, `${first} after ${last}`).toBe(true);
        expect(numbers).toEqual(numbers.map((_, index) => first + index));
        expect(offsetOf(next.cursor)).toBeGreaterThan(offsetOf(cursor));
      }
    }
    await client.close();
  });

  test('a shell goes on after kill -9: variables, directory, prompt, the last exit code, and typing', async () => {
    await using served = await Served.start();
    const first = await served.connect();
    await ask(first, 'terminal_run', { command: 'kept=42; cd /usr' });
    await ask(first, 'terminal_run', { command: 'sh -c "exit 3"' });
    const [before] = await list(first);
    await first.close();
    await served.end('SIGKILL');
    await served.restart();
    await expect.poll(() => served.err).toContain('Resumed 1 terminal');
    const second = await served.connect();
    expect((await list(second)).map(identity)).toEqual([identity(before as Info)]);
    const last = await ask<{ command: { command: string; exitCode: number } }>(second, 'terminal_read', {
      view: 'command',
    });
    expect(last.command).toMatchObject({ command: 'sh -c "exit 3"', exitCode: 3 });
    const run = await ask<{ exitCode: number; output: string; evidence: string }>(second, 'terminal_run', {
      command: 'echo $kept $PWD',
    });
    expect(run).toMatchObject({ exitCode: 0, output: '42 /usr', evidence: 'mark' });
    await second.close();
  });

  test('an orderly end leaves terminals running and says so; --end ends them', { timeout: 120_000 }, async () => {
    await using served = await Served.start();
    expect(served.out).toContain('its terminals keep running');
    const client = await served.connect();
    const gate = join(served.home, 'gate');
    const program = `echo begun; until [ -e ${gate} ]; do sleep 0.02; done; exit 9`;
    const open = await ask<Info>(client, 'terminal_open', { argv: ['sh', '-c', program] });
    const [shell] = await list(client);
    await client.close();
    await served.end('SIGINT');
    await expect.poll(() => served.err).toContain('Left running: 2 terminals');
    expect([isAlive(open.pid), isAlive(shell?.pid ?? 0)]).toEqual([true, true]);
    // It ends while nobody is there.
    writeFileSync(gate, '');
    await expect.poll(() => isAlive(open.pid)).toBe(false);

    await served.restart();
    const again = await served.connect();
    const ended = async () => (await list(again)).find(({ terminal }) => terminal === open.terminal);
    await expect.poll(ended).toMatchObject({ state: 'exited', exitCode: 9 });
    expect((await ask<Answer>(again, 'terminal_read', { terminal: open.terminal })).text).toContain('begun');
    expect(await served.endTerminals()).toContain('is running and has its terminals');
    await again.close();
    await served.end();
    expect(await served.endTerminals()).toContain('Ended 1 terminal.');
    expect(isAlive(shell?.pid ?? 0)).toBe(false);
    expect(await served.endTerminals()).toContain('Ended 0 terminals.');
  });

  test('--end is done as soon as the terminals are, and at once where there are none', {
    timeout: 120_000,
  }, async () => {
    await using served = await Served.start();
    const timed = async (args: readonly string[], said: string): Promise<number> => {
      const began = performance.now();
      expect(await served.fairlead(args)).toContain(said);
      return performance.now() - began;
    };
    // Beyond what it takes to start the program at all.
    const extra = async (left: string): Promise<number> => {
      const started = await timed(['--version'], '.');
      return (await timed(['serve', '--end'], left)) - started;
    };
    const withTerminal = async (): Promise<number> => {
      if (served.child.exitCode !== null) await served.restart();
      await served.end();
      return await extra('Ended 1 terminal.');
    };
    expect(await shortest(1500, withTerminal)).toBeLessThan(1500);
    expect(await shortest(500, () => extra('Ended 0 terminals.'))).toBeLessThan(500);
  });

  test('a server that is too busy to answer keeps its terminals', async () => {
    await using served = await Served.start();
    const client = await served.connect();
    const [shell] = await list(client);
    served.child.kill('SIGSTOP');
    try {
      expect(await served.endTerminals()).toContain('is running and has its terminals');
    } finally {
      served.child.kill('SIGCONT');
    }
    expect(isAlive(shell?.pid ?? 0)).toBe(true);
    await client.close();
  });

  test('with --keep-terminals=false they end with the server', async () => {
    await using served = await Served.start(['--port', '0', '--keep-terminals=false']);
    expect(served.out).toContain('ends the server and its terminals');
    const client = await served.connect();
    const [shell] = await list(client);
    await client.close();
    await served.end();
    expect(isAlive(shell?.pid ?? 0)).toBe(false);
    expect(served.err).not.toContain('Left running');
  });

  test('a question for a person is still one after a restart', async () => {
    await using served = await Served.start();
    const client = await served.connect();
    const { terminal } = await ask<Info>(client, 'terminal_open', {
      argv: ['sh', '-c', 'stty -echo; printf "Password: "; read p; echo got'],
    });
    await expect
      .poll(async () => (await list(client)).find((one) => one.terminal === terminal)?.state)
      .toBe('needs_person');
    await client.close();
    await served.end('SIGKILL');
    await served.restart();
    const again = await served.connect();
    await expect
      .poll(async () => (await list(again)).find((one) => one.terminal === terminal)?.state)
      .toBe('needs_person');
    await again.close();
  });
});
