import type { Terminal } from '../terminal/terminal.ts';
import { type Holds, until } from './until.ts';

/** A program without marks that is quiet for so long is taken to wait for input (R-RPC-054). */
const quietMs = 250;
/** Four times the documented delay: a program that never stops printing gets its line all the same. */
const capMs = 2000;

/** Waits until a line can be typed into a new terminal: its prompt, or quiet, or the limit. */
export async function readyForLine(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const startedMs = terminal.lastOutputMs ?? terminal.clock.monotonic();
  const holds = (): Holds =>
    terminal.ended !== undefined ||
    terminal.blocks.promptAt !== undefined ||
    Math.max(startedMs, terminal.lastOutputMs ?? 0) + quietMs;
  await until(terminal, holds, capMs, signal);
}
