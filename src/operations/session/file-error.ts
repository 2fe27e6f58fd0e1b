import { z } from 'zod';

export const FileError = z.string().optional().describe('Its file cannot be understood: which, where and why');

/** Reports a file that cannot be read; without it an answer would look as if nothing were configured. */
export const fileError = (problem: string | undefined): { readonly error?: string } =>
  problem === undefined ? {} : { error: problem };
