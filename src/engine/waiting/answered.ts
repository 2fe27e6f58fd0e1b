import { setImmediate as nextTurn } from 'node:timers/promises';
import { deferred } from '../../lib/deferred.ts';
import { abortable } from '../../system/abortable.ts';
import type { LastInput } from '../input/type-ahead.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Holds, until } from './until.ts';
import { timings } from './timings.ts';

const { quietMs, runningMs, silentMs, capMs } = timings.answer;
const { startMs, spokenMs, silentStartMs } = timings.firstPrompt;

/**
 * Waits until the terminal has answered the newest input: a prompt came back, or its output went quiet, or the cap is
 * reached. Returns at once when there is no recent input. This is what makes "type, Enter, read" work without polling.
 */
export async function answered(terminal: Terminal, signal: AbortSignal): Promise<void> {
  await sent(terminal, signal);
  const input = terminal.input.last;
  if (!input) return;
  await quiet(terminal, { since: input, capMs: capMs - (terminal.clock.monotonic() - input.atMs) }, signal);
}

/** Calls that come together count in their order: what was asked to be typed before this one is on its way. */
async function sent(terminal: Terminal, signal: AbortSignal): Promise<void> {
  await nextTurn();
  if (!terminal.input.isBusy) return;
  const late = deferred();
  let isLate = false;
  using _limit = terminal.clock.after(silentMs, () => {
    isLate = true;
    late.resolve();
  });
  while (terminal.input.isBusy && !isLate)
    await abortable(Promise.race([terminal.input.whenIdle, late.promise]), signal);
}

/** Waits until a new terminal is ready for input: its first prompt, or its first output, or the limit. */
export async function firstPrompt(terminal: Terminal, signal: AbortSignal, limitMs: number = startMs): Promise<void> {
  const spoken = (): boolean => terminal.usage.lastOutputMs !== undefined;
  if (!terminal.blocks.marked) return void (await until(terminal, spoken, silentStartMs, signal));
  const prompted = (): boolean => terminal.blocks.promptAt !== undefined;
  const endMs = terminal.clock.monotonic() + limitMs;
  if (!(await until(terminal, () => prompted() || spoken(), limitMs, signal))) return;
  const leftMs = Math.max(0, endMs - terminal.clock.monotonic());
  await until(terminal, prompted, Math.min(spokenMs, leftMs), signal);
}

interface QuietOptions {
  /** The input whose answer is waited for. */
  readonly since: LastInput;
  readonly capMs: number;
}

/** Resolves true when quiet, false at the cap. */
export async function quiet(terminal: Terminal, options: QuietOptions, signal: AbortSignal): Promise<boolean> {
  if (options.capMs <= 0) return false;
  const { since } = options;
  using _watching = terminal.feed.parseEagerly();
  const holds = (): Holds => {
    if (terminal.ended || promptedSince(terminal, since)) return true;
    const at = quietAt(terminal, since);
    // A reader fetches unread output itself: a silence that is long enough is answered at once.
    return at <= terminal.clock.monotonic() || at;
  };
  return await until(terminal, holds, options.capMs, signal);
}

function quietAt(terminal: Terminal, { atMs, offset, ahead }: LastInput): number {
  if (terminal.log.end === offset) return atMs + silentMs;
  const { current } = terminal.blocks;
  const started = current !== undefined && current.outputFrom > offset;
  const pauseMs = started ? runningMs : ahead ? silentMs : quietMs;
  return (terminal.usage.lastOutputMs ?? 0) + pauseMs;
}

/** A prompt of our own integration was drawn after that input, and is not the one its line was typed ahead of. */
export function promptedSince({ blocks }: Terminal, { offset, ahead }: LastInput): boolean {
  const at = blocks.promptAt;
  if (at === undefined || at <= offset) return false;
  return !ahead || (blocks.last?.outputFrom ?? 0) > offset;
}
