import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessView } from '../../../src/engine/terminal/channel.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { ManualClock } from '../../support/clocks/manual.ts';

const size = { cols: 80, rows: 24 };
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'fl-late-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that can be looked at, and counts how often it is. */
class Program extends EchoChannel {
  looks = 0;
  reads = false;
  readonly process: ProcessView = {
    pid: 1,
    foreground: () => ({ pid: 1, name: 'installer', isLeader: false }),
    cwd: () => undefined,
    inputMode: () => 'lines' as const,
    reads: () => {
      this.looks++;
      return this.reads;
    },
  };
}

async function printed(text: string) {
  const clock = new ManualClock();
  const channel = new Program(size, { echo: false });
  const engine = engineWith(folder, { echo: async () => ({ channel, program: 'installer' }) }, { clock });
  const terminal = await engine.open({ target: 'echo', size }, limit());
  channel.say(Buffer.from(text));
  await expect.poll(() => terminal.log.end).toBe(text.length);
  /** Time passes as it does in a program that waits: what a look finds is known before the next. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 250) {
      clock.advance(Math.min(left, 250));
      await terminal.sync(limit());
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { clock, channel, terminal, pass, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
}

test('a question is noticed when the program begins to read, minutes later', async () => {
  await using at = await printed('Continue? [y/N] ');
  await at.pass(120_000);
  expect(at.terminal.person.prompts.current).toBeUndefined();
  at.channel.reads = true;
  await at.pass(10_000);
  expect(at.terminal.person.prompts.current).toMatchObject({ kind: 'yes_no' });
  expect(at.terminal.state.current).toBe('needs_input');
});

test('the looks become rare, and none is spent on what can be no question', async () => {
  await using asking = await printed('Continue? [y/N] ');
  await asking.pass(20_000);
  const early = asking.channel.looks;
  // A look asks at most twice.
  expect(early).toBeGreaterThan(10);
  expect(early).toBeLessThan(50);
  await asking.pass(100_000);
  expect(asking.channel.looks - early).toBeLessThan(30);
  await using working = await printed('Compiling 12 of 100');
  await working.pass(60_000);
  expect(working.channel.looks).toBe(0);
});

test('a look is no use of the terminal: it counts as idle meanwhile (R-TERM-033)', async () => {
  await using at = await printed('Continue? [y/N] ');
  const used = at.terminal.usage.lastAt;
  const early = at.channel.looks;
  for (let second = 0; second < 60; second++) {
    at.clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(at.channel.looks).toBeGreaterThan(early);
  expect(at.terminal.usage.lastAt).toBe(used);
});
