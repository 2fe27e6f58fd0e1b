import { z } from 'zod';

/** Extra variables for a new terminal. */
export const EnvironmentInput = z
  .record(z.string(), z.string())
  .refine(
    (variables) => Object.keys(variables).every((name) => /^[^=\0]+$/.test(name)),
    'has a name that is empty or holds "="',
  )
  .optional();
