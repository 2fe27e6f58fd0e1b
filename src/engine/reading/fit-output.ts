import { plainText, type TextFlags } from '../../lib/plain-text.ts';
import { summarise, type Summary } from './summaries/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Clipped, clip, countLines, type TextGap } from './clip.ts';
import { load, type SourceText } from './long-output/load.ts';
import { type NotKept, notKept, restOf } from './long-output/rest.ts';
import { hasRoom, largest, type Room } from './long-output/room.ts';
import { type LogSource, wholeLines } from './long-output/source.ts';

interface FittedOutput {
  readonly text: string;
  readonly flags: TextFlags;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly omittedLines: number;
  readonly omittedBytes: number;
  /** Handle to what was left out, if it is still kept. */
  readonly rest?: string;
  /** The part of the output that is no longer kept. */
  readonly notKept?: NotKept;
  /** The first bytes of the output are gone without having been counted as text. */
  readonly missedBytes?: number;
}

/** Cut to size; a text that had to be cut also gets a summary, where its kind is known. */
export function clipAndSummarise(
  { text, gap }: { readonly text: string; readonly gap?: TextGap | undefined },
  room: Room,
  hint: { readonly command?: string | undefined; readonly exitCode?: number | undefined },
): Clipped & { readonly summary?: Summary } {
  const cut = (summary?: string): Clipped =>
    largest(
      room,
      (maxBytes) => clip(text, { maxBytes, gap, summary }),
      (piece) => piece.text,
    );
  const plain = cut();
  if (!plain.clipped) return plain;
  const summary = summarise(text, hint);
  if (summary.kind === 'unknown') return plain;
  return { ...cut(summary.text), summary };
}

interface Output {
  readonly output: string;
  readonly outputFrom: number;
  readonly outputTo: number;
  readonly missedBytes: number;
  readonly exitCode: number | null;
}

/** The output of a command as a model should get it: plain, and no more than asked for. */
export async function fitOutput(
  terminal: Terminal,
  output: Output,
  request: { readonly command: string; readonly room: Room },
  signal: AbortSignal,
): Promise<FittedOutput> {
  const { text, flags, gap, totals, source, missedBytes } = await wholeOutput(terminal, output, request.room, signal);
  const hint = { command: request.command, exitCode: output.exitCode ?? undefined };
  const result = clipAndSummarise({ text, gap }, request.room, hint);
  const { totalLines, totalBytes, omittedLines, omittedBytes } = result;
  const rest = result.clipped && source ? restOf(terminal, source, { text, gap, totals }, result) : undefined;
  const gone = notKept({ text, gap });
  return {
    text: result.text,
    flags,
    totalLines,
    totalBytes,
    omittedLines,
    omittedBytes,
    ...(rest === undefined ? {} : { rest }),
    ...(gone === undefined ? {} : { notKept: gone }),
    ...(missedBytes > 0 ? { missedBytes } : {}),
  };
}

interface WholeOutput extends SourceText {
  /** Where to load the text from again. */
  readonly source: LogSource | undefined;
  readonly missedBytes: number;
}

/** A run answers with the end of a long output; what else is kept is read here. */
async function wholeOutput(terminal: Terminal, output: Output, room: Room, signal: AbortSignal): Promise<WholeOutput> {
  const { outputFrom: from, outputTo: to } = output;
  const source: LogSource = { kind: 'log', from, to, size: terminal.screen.size, alternate: false };
  const kept = (): Promise<SourceText | undefined> => load(terminal, source, signal).catch(unlessAborted(signal));
  if (output.missedBytes === 0) {
    const { text, flags } = plainText(output.output);
    const totals = { lines: countLines(text), bytes: Buffer.byteLength(text) };
    // A handle is valid only for this text.
    const again = hasRoom(room, text) ? undefined : await kept();
    return { text, flags, totals, source: again?.text === text ? source : undefined, missedBytes: 0 };
  }
  const whole = await kept();
  if (whole) return { ...whole, source, missedBytes: 0 };
  const start = wholeLines(terminal, from, to);
  const rest = { ...source, from: Math.min(start.from, to) };
  return { ...(await load(terminal, rest, signal)), source: rest, missedBytes: start.missed };
}

const unlessAborted =
  (signal: AbortSignal) =>
  (error: unknown): undefined => {
    if (signal.aborted) throw error;
    return undefined;
  };
