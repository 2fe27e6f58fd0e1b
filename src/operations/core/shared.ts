import { z } from 'zod';

/** What the tools of this book have in common. */

/** An id, or the number of a session. */
export const TerminalId = z.coerce.string().trim().min(1).max(64);

export const Terminal = TerminalId.optional().describe('Default terminal if omitted');

export const MaxBytes = z.number().int().min(1024).max(204_800).optional().describe('Size of the answer (16384)');

export const Person = z.object({
  kind: z.string(),
  prompt: z.string(),
  secret: z.boolean(),
  hint: z.string(),
});

/** Characters of each suspicious kind that were met in the output. */
export const Flags = z.record(z.string(), z.number().int());
