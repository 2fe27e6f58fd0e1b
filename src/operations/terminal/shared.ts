import { z } from 'zod';

/** Shared by the tools of this book. */

/** An id, or a number of the session RPC; the published schema stays a plain string. */
export const AnySessionId = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string().trim().min(1).max(64),
);

export const SessionId = AnySessionId.optional().describe('Default session if omitted');

/** For parts of an answer that a program or another user chose. */
export const TerminalFlags = z
  .record(z.string(), z.number().int())
  .optional()
  .describe('Invisible characters taken out');
