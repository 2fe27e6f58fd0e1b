import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { run } from '../src/engine/run/run.ts';
import type { Terminal } from '../src/engine/terminal.ts';
import { limit, shellHome } from './support/engine.ts';

const home = shellHome({ '.zshrc': '' });
afterAll(() => home[Symbol.asyncDispose]());

const rounds = Number(process.env['FAIRLEAD_TEST_ROUNDS'] ?? 15);
const start = (terminal: Terminal, command: string, timeoutMs = 15_000) =>
  run(terminal, { command, timeoutMs, by: 'test' }, limit());

test.each(['bash', 'zsh', 'fish', 'dash', 'ash'])(
  'a command run right after Ctrl+C in %s is told of as it went (R-RPC-041)',
  { timeout: 120_000 },
  async (shell) => {
    await using terminal = await home.open(shell);
    const file = join(home.home, `after-${shell}`);
    const wrong: unknown[] = [];
    let unsure = 0;
    for (let round = 0; round < rounds; round++) {
      rmSync(file, { force: true });
      await terminal.send(Uint8Array.of(3), 'other', limit());
      const { state, exitCode, output, note } = await start(terminal, `touch ${file}; echo h`);
      if (exitCode === 0 && output === 'h' && existsSync(file)) continue;
      // Ctrl+C may hit a shell in the middle of its own prompt; then nobody can tell, and the answer must say just that.
      if (exitCode === null && /not known/.test(note ?? '')) unsure++;
      else wrong.push({ round, state, exitCode, output, note });
    }
    expect(wrong).toEqual([]);
    expect(unsure).toBeLessThanOrEqual(Math.ceil(rounds / 3));
  },
);
