import type { ProgramPrompt } from '../person/prompts/index.ts';
import { isShell } from '../shells/traits.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { outputText } from './output-text.ts';
import { cursorLine, looksLikePrompt } from '../shells/prompt-line.ts';
import { promptShows } from '../shells/line-reader.ts';
import { type Holds, until } from '../waiting/until.ts';
import type { RunResult } from './result.ts';
import { timings } from '../waiting/timings.ts';

const { restsMs, unseenMs } = timings.starting;

/** How the wait for a shell's first prompt ended. */
type StartOutcome =
  | { readonly ready: true }
  /** The time was up. */
  | { readonly ready: false; readonly asks?: undefined }
  /** A start-up file asks something. */
  | { readonly ready: false; readonly asks: ProgramPrompt };

/** Waits for the first prompt of a shell that marks its prompts; at once where there is none to wait for. */
export async function whenStarted(terminal: Terminal, timeoutMs: number, signal: AbortSignal): Promise<StartOutcome> {
  if (!terminal.state.isStarting) return { ready: true };
  await terminal.sync(signal);
  if (!mayBeStarting(terminal)) return { ready: true };
  using _present = terminal.usage.keepAwake();
  using _watching = terminal.feed.parseEagerly();
  const { clock, log, person } = terminal;
  const quietMs = terminal.process === undefined ? unseenMs : restsMs;
  const startedMs = clock.monotonic();
  let lookedTo: number | undefined;
  const mayLook = (): Holds => log.end !== lookedTo && (terminal.usage.lastOutputMs ?? startedMs) + quietMs;
  const changes = (): Holds => !terminal.state.isStarting || person.prompts.current !== undefined || mayLook();
  while (await until(terminal, changes, startedMs + timeoutMs - clock.monotonic(), signal)) {
    if (!terminal.state.isStarting) return { ready: true };
    if (person.prompts.current) return { ready: false, asks: person.prompts.current };
    lookedTo = log.end;
    await terminal.sync(signal);
    if (!mayBeStarting(terminal) || isElsewhere(terminal)) return { ready: true };
  }
  return { ready: false };
}

/** Not where a start-up file has handed the terminal to another program. */
function mayBeStarting(terminal: Terminal): boolean {
  const { process, screen, input } = terminal;
  if (!terminal.state.isStarting || screen.alternate) return false;
  // Of a far side only the screen tells: a line that was entered went to something that reads.
  if (process === undefined) return input.last?.entered !== true;
  const front = process.foreground();
  return front === undefined || !front.isLeader || isShell(front.name);
}

/** A prompt without marks. What start-up files print is none, unless it looks like one and something reads lines. */
function isElsewhere(terminal: Terminal): boolean {
  const line = cursorLine(terminal);
  if (/\d%\s?$/.test(line)) return false;
  return promptShows(terminal) && (terminal.blocks.shell !== undefined || looksLikePrompt(line));
}

/** The shell is still starting. What its start-up files have printed is the output. */
export async function notTyped(
  terminal: Terminal,
  asks: ProgramPrompt | undefined,
  durationMs: number,
): Promise<Omit<RunResult, 'command'>> {
  const { start, end } = terminal.log;
  const { text, missed } = await outputText(terminal.log, start, end, terminal.screen.size);
  const why =
    asks === undefined
      ? 'The shell has not shown its first prompt, and the command was not typed: run it again with more time, or press Ctrl+C to stop a start-up file that hangs.'
      : 'The shell asks this while it starts, and the command was not typed: run it again after the answer.';
  const state = asks === undefined ? 'starting' : asks.needs === 'person' ? 'needs_person' : 'needs_input';
  return {
    state,
    ...(asks === undefined ? {} : { asks }),
    exitCode: null,
    output: text,
    outputFrom: start,
    outputTo: end,
    missedBytes: missed,
    durationMs,
    evidence: 'none',
    confidence: 'high',
    note: why,
  };
}
