import type { Terminal } from '../terminal/terminal.ts';
import { type Holds, until } from './until.ts';
import { timings } from './timings.ts';

const { quietMs, capMs } = timings.readyForLine;

/** Waits until a line can be typed into a new terminal: its prompt, or quiet, or the limit. */
export async function readyForLine(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const startedMs = terminal.usage.lastOutputMs ?? terminal.clock.monotonic();
  const holds = (): Holds =>
    terminal.ended !== undefined ||
    terminal.blocks.promptAt !== undefined ||
    Math.max(startedMs, terminal.usage.lastOutputMs ?? 0) + quietMs;
  await until(terminal, holds, capMs, signal);
}
