import { z } from 'zod';

/** Variables for a new terminal, added to those it would have anyway. */
export const EnvironmentInput = z
  .record(z.string(), z.string())
  .refine(
    (variables) => Object.keys(variables).every((name) => /^[^=\0]+$/.test(name)),
    'has a name that is empty or holds "="',
  )
  .optional();
