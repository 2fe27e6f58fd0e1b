import { plainText, type TextFlags } from '../plain-text.ts';
import { summarise } from '../summaries/index.ts';
import type { Terminal } from '../terminal.ts';
import { clip } from './clip.ts';
import { encodeRest, load, type Source } from './source.ts';

export interface FittedOutput {
  readonly text: string;
  readonly flags: TextFlags;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly omittedLines: number;
  /** Handle to what was left out, where it can be had again. */
  readonly rest?: string;
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
  let result = clip(text, { maxBytes: request.maxBytes });
  if (!result.clipped)
    return { text, flags, totalLines: result.totalLines, totalBytes: result.totalBytes, omittedLines: 0 };
  const summary = summarise(text, { command: request.command, exitCode: output.exitCode ?? undefined });
  if (summary.kind !== 'unknown') result = clip(text, { maxBytes: request.maxBytes, summary: summary.text });
  const { totalLines, totalBytes, omittedLines, restStart, restEnd } = result;
  const source: Source = {
    kind: 'log',
    from: output.outputFrom,
    to: output.outputTo,
    size: terminal.size,
    alternate: false,
  };
  // A handle is only as good as the text it leads to.
  const again = await load(terminal, source, signal).catch(() => undefined);
  const rest = again?.text === text ? encodeRest({ source, at: restStart, end: restEnd }) : undefined;
  return { text: result.text, flags, totalLines, totalBytes, omittedLines, ...(rest === undefined ? {} : { rest }) };
}
