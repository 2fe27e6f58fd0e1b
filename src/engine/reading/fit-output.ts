import { plainText, type TextFlags } from '../plain-text.ts';
import { summarise, type Summary } from '../summaries/index.ts';
import type { Terminal } from '../terminal.ts';
import { type Clipped, clip } from './clip.ts';
import { encodeRest, load, type Source } from './source.ts';

export interface FittedOutput {
  readonly text: string;
  readonly flags: TextFlags;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly omittedLines: number;
  readonly omittedBytes: number;
  /** Handle to what was left out, where it can be had again. */
  readonly rest?: string;
}

/** Cut to size; a text that had to be cut also gets a summary, where its kind is known. */
export function clipAndSummarise(
  text: string,
  maxBytes: number,
  hint: { readonly command?: string | undefined; readonly exitCode?: number | undefined },
): Clipped & { readonly summary?: Summary } {
  const plain = clip(text, { maxBytes });
  if (!plain.clipped) return plain;
  const summary = summarise(text, hint);
  if (summary.kind === 'unknown') return plain;
  return { ...clip(text, { maxBytes, summary: summary.text }), summary };
}

/** The output of a command as a model should get it: plain, and no more than asked for. */
export async function fitOutput(
  terminal: Terminal,
  output: {
    readonly output: string;
    readonly outputFrom: number;
    readonly outputTo: number;
    readonly exitCode: number | null;
  },
  request: { readonly command: string; readonly maxBytes: number },
  signal: AbortSignal,
): Promise<FittedOutput> {
  const { text, flags } = plainText(output.output);
  const hint = { command: request.command, exitCode: output.exitCode ?? undefined };
  const result = clipAndSummarise(text, request.maxBytes, hint);
  const { totalLines, totalBytes, omittedLines, omittedBytes, restStart, restEnd } = result;
  const counts = { totalLines, totalBytes, omittedLines, omittedBytes };
  if (!result.clipped) return { text, flags, ...counts };
  const source: Source = {
    kind: 'log',
    from: output.outputFrom,
    to: output.outputTo,
    size: terminal.size,
    alternate: false,
  };
  // A handle is only as good as the text it leads to.
  const again = await load(terminal, source, signal).catch(() => undefined);
  const rest = again?.text === text ? encodeRest(terminal, { source, at: restStart, end: restEnd }) : undefined;
  return { text: result.text, flags, ...counts, ...(rest === undefined ? {} : { rest }) };
}
