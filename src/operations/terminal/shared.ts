import { z } from 'zod';

/** What the tools of this book have in common. */

export const SessionId = z
  .union([z.string().trim().min(1).max(64), z.number().int().nonnegative()])
  .optional()
  .describe('Session to use; the default session when left out');

export const json = (value: unknown): string => JSON.stringify(value, null, 2);
