import { z } from 'zod';
import type { Caller } from '../../engine/call/call.ts';
import { largestMaxBytes, smallestMaxBytes } from '../../engine/reading/read.ts';

/** Shared by the tools of this book. */

/** The next step, in one sentence that names the tool; in the text and in the structured part. */
export const Next = z.string().optional().describe('What to do next');

/** Screen differences are kept per client. */
export const readerName = ({ client, name }: Caller): string => client?.self ?? name;

/** An id, a name, or the number of a session. */
export const TerminalId = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string().trim().min(1).max(64),
);

export const TerminalInput = TerminalId.optional().describe('Default terminal if omitted');

export const MaxBytes = z
  .number()
  .int()
  .min(smallestMaxBytes)
  .max(largestMaxBytes)
  .optional()
  .describe('Bytes of text (about 4000, so that the whole answer has at most 10 KiB)');

/** How many suspicious characters of each kind the output held. */
export const FlagsShape = z.record(z.string(), z.number().int());

export function flagWords(flags: z.output<typeof FlagsShape> | undefined): string[] {
  const kinds = Object.entries(flags ?? {}).map(([kind, count]) => `${count} ${kind}`);
  return kinds.length === 0 ? [] : [`suspicious characters taken out or marked: ${kinds.join(', ')}`];
}

/** Lines that are gone from the log. */
export const NotKeptShape = z.object({
  lines: z.number().int(),
  bytes: z.number().int(),
  fromLine: z.number().int(),
  toLine: z.number().int(),
});

export function notKeptWords(gone: z.output<typeof NotKeptShape> | undefined): string[] {
  if (gone === undefined) return [];
  const { lines, bytes, fromLine, toLine } = gone;
  if (toLine <= fromLine) return [`${bytes} bytes of line ${fromLine} are no longer kept`];
  return [`lines ${fromLine} to ${toLine} (${lines} lines, ${bytes} bytes) are no longer kept`];
}

/** How much was left out, and of how much. */
export function leftOut(what: {
  readonly omittedLines: number;
  readonly omittedBytes: number;
  readonly totalLines: number;
  readonly totalBytes: number;
}): string {
  return `${what.omittedLines} lines, ${what.omittedBytes} bytes left out of ${what.totalLines} lines, ${what.totalBytes} bytes`;
}

/** Several next steps as one text; undefined where there is none. */
export function nextSteps(...steps: readonly (string | false | undefined)[]): { readonly next?: string } {
  const given = steps.filter((step) => typeof step === 'string');
  return given.length === 0 ? {} : { next: given.join(' ') };
}

export const readRest = (terminal: string, rest: string | undefined): string | undefined =>
  rest === undefined ? undefined : `The rest: terminal_read terminal=${terminal} rest=${rest}`;

export const nextWords = (next: string | undefined): string[] => (next === undefined ? [] : [`next: ${next}`]);
