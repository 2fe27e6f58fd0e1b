import { z } from 'zod';

export const FileError = z.string().optional().describe('Its file cannot be understood: which, where and why');

/** For answers that would otherwise look as if nothing had been set. */
export const fileError = (problem: string | undefined): { readonly error?: string } =>
  problem === undefined ? {} : { error: problem };
