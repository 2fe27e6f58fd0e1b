import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCommand } from '../../../src/engine/run/run.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { limit } from '../engine.ts';
import { queries } from './queries.ts';

const asker = new URL('../../fixtures/ask-all.mjs', import.meta.url).pathname;

/** Asks in raw mode, and ends without having read anything. */
const leave = 'stty raw -echo; cat "$1"; stty sane\n';
/** The same, with time for an answer to arrive. */
const linger = 'stty raw -echo; cat "$1"; sleep 0.3; stty sane\n';

/** Files to print and programs to ask with, in `folder`. */
export function prepare(folder: string): void {
  for (const [at, { ask }] of queries.entries()) writeFileSync(join(folder, `q${at}`), ask, 'latin1');
  writeFileSync(join(folder, 'all'), queries.map(({ ask }) => ask).join(''), 'latin1');
  writeFileSync(join(folder, 'asks.json'), JSON.stringify(queries.map(({ ask }) => ask)));
  writeFileSync(join(folder, 'leave.sh'), leave);
  writeFileSync(join(folder, 'linger.sh'), linger);
}

/** Runs a line, and proves that the shell got exactly that line. */
export async function runs(terminal: Terminal, command: string): Promise<string> {
  const result = await runCommand(terminal, { command, timeoutMs: 30_000, by: 'test' }, limit(40_000));
  expect(result).toMatchObject({ state: 'done', exitCode: 0, evidence: 'mark' });
  // A byte of an answer would stand in the line that the shell tells of.
  expect(lineOf(terminal)).toBe(withoutBlanks(command));
  return result.output;
}

/** The newest line as the shell took it; as it was echoed where the shell does not tell. */
function lineOf({ blocks: { last }, log }: Terminal): string {
  const echoed = Buffer.from(log.read(last?.commandFrom ?? 0, last?.outputFrom).bytes).toString('latin1');
  return withoutBlanks(last?.command ?? echoed.replace(/\x1b\][^\x07]*\x07|\x1b\[[?\d;]*[a-zA-Z]/g, ''));
}

/** A long line is wrapped. */
const withoutBlanks = (line: string): string => line.replace(/\s/g, '');

export async function clean(terminal: Terminal): Promise<void> {
  expect(await runs(terminal, 'echo clean')).toBe('clean');
}

/** Every kind, printed by a program that has ended when the answer is there: the next line shows what became of it. */
export async function askEach(terminal: Terminal, folder: string, program: string): Promise<void> {
  for (const at of queries.keys()) await runs(terminal, `${program} ${join(folder, `q${at}`)}`);
  await clean(terminal);
}

/** Every kind, asked by a program that waits for the answer: what it was told. */
export async function askAndRead(terminal: Terminal, folder: string): Promise<void> {
  const told = join(folder, 'told.json');
  await runs(terminal, `${process.execPath} ${asker} ${join(folder, 'asks.json')} ${told}`);
  const answers = JSON.parse(readFileSync(told, 'utf8')) as string[];
  const found = queries.map(({ name }, at) => [name, answers[at]]);
  expect(found).toEqual(queries.map(({ name, answer }) => [name, answer ? expect.stringMatching(answer) : '']));
  await clean(terminal);
}
