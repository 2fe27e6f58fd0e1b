import { z } from 'zod';
import { largestMaxBytes, smallestMaxBytes } from '../../engine/reading/read.ts';

/** What the tools of this book have in common. */

/** An id, or the number of a session. */
export const TerminalId = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string().trim().min(1).max(64),
);

export const Terminal = TerminalId.optional().describe('Default terminal if omitted');

export const MaxBytes = z
  .number()
  .int()
  .min(smallestMaxBytes)
  .max(largestMaxBytes)
  .optional()
  .describe('Size of the answer (16384)');

/** Characters of each suspicious kind that were met in the output. */
export const Flags = z.record(z.string(), z.number().int());

export function flagWords(flags: z.output<typeof Flags> | undefined): string[] {
  const kinds = Object.entries(flags ?? {}).map(([kind, count]) => `${count} ${kind}`);
  return kinds.length === 0 ? [] : [`suspicious characters taken out or marked: ${kinds.join(', ')}`];
}

/** Lines of the output that no handle leads to any more. */
export const NotKept = z.object({
  lines: z.number().int(),
  bytes: z.number().int(),
  fromLine: z.number().int(),
  toLine: z.number().int(),
});

export function notKeptWords(gone: z.output<typeof NotKept> | undefined): string[] {
  if (gone === undefined) return [];
  if (gone.toLine <= gone.fromLine) return [`${gone.bytes} bytes of line ${gone.fromLine} are no longer kept`];
  return [`lines ${gone.fromLine} to ${gone.toLine} (${gone.bytes} bytes) are no longer kept`];
}

export function leftOut(what: {
  readonly omittedLines: number;
  readonly omittedBytes: number;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly rest?: string | undefined;
}): string {
  const amount = `${what.omittedLines} lines, ${what.omittedBytes} bytes left out of ${what.totalLines} lines, ${what.totalBytes} bytes`;
  return what.rest === undefined ? amount : `${amount}; terminal_read rest=${what.rest}`;
}
