import type { ProgramPrompt } from '../person/prompts/prompt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { directoryAfter } from './directory.ts';
import { fullScreenNote, isFullScreen, shownRows } from './full-screen.ts';
import type { Waits } from './interactive.ts';
import { outputText } from './output-text.ts';
import type { CommandOutcome, RunResult, Watch } from './result.ts';
import type { RunningCommand } from './running-command.ts';

/** Why a wait for a command is over; undefined: its time was up. */
export type Found = CommandOutcome | { readonly asks: ProgramPrompt } | Waits;

/** What a caller is told of a command now. */
export async function resultOf(
  terminal: Terminal,
  current: RunningCommand,
  found: Found | undefined,
  signal: AbortSignal,
): Promise<RunResult> {
  const answer = await factsOf(terminal, current, found);
  const cwd = await directoryAfter(terminal, answer, current.cwd, signal);
  const head = answer.missedBytes === 0 ? undefined : current.overflow.headFrom(answer.outputFrom);
  const { omit: marker } = current.watch;
  return {
    ...answer,
    command: current.command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(head === undefined ? {} : { head }),
    ...(marker === undefined ? {} : { marker }),
  };
}

async function factsOf(
  terminal: Terminal,
  { watch, startedMs, endedMs = terminal.clock.monotonic() }: RunningCommand,
  found: Found | undefined,
): Promise<Omit<RunResult, 'command'>> {
  const durationMs = Math.round(endedMs - startedMs);
  if (found !== undefined && 'state' in found) return { ...(await withOutput(terminal, found, watch)), durationMs };
  // Of a full-screen program only what it shows now is of use, not all that it has drawn.
  const wholeScreen = isFullScreen(terminal);
  const text = wholeScreen ? shownRows(terminal) : watch.textSoFar?.();
  const soFar = await withOutput(
    terminal,
    {
      state: 'running',
      exitCode: null,
      evidence: 'none',
      confidence: 'high',
      outputFrom: watch.outputFrom,
      outputTo: terminal.log.end,
      ...(text === undefined ? {} : { text }),
      ...(wholeScreen ? { note: fullScreenNote(terminal) } : {}),
    },
    watch,
  );
  if (found === undefined) return { ...soFar, durationMs };
  if ('asks' in found) {
    const { asks } = found;
    return { ...soFar, durationMs, state: asks.needs === 'person' ? 'needs_person' : 'needs_input', asks };
  }
  const confidence = found.evidence === 'quiet' ? 'low' : 'medium';
  return { ...soFar, durationMs, evidence: found.evidence, confidence, note: found.note };
}

async function withOutput(
  terminal: Terminal,
  { text, ...facts }: Omit<CommandOutcome, 'state'> & { readonly state: RunResult['state'] },
  { omit }: Watch,
): Promise<Omit<RunResult, 'durationMs' | 'command'>> {
  if (text !== undefined) return { ...facts, output: text, missedBytes: 0 };
  const read = await outputText(terminal.log, facts.outputFrom, facts.outputTo, terminal.screen.size);
  const output = omit !== undefined && read.text.includes(omit) ? linesWithout(read.text, omit) : read.text;
  return { ...facts, output, missedBytes: read.missed };
}

const linesWithout = (text: string, word: string): string =>
  text
    .split('\n')
    .filter((line) => !line.includes(word))
    .join('\n');
