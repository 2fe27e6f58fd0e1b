import { z } from 'zod';

export const FileError = z.string().optional().describe('The settings file cannot be read: path, place and reason');

/** Reports a file that cannot be read; without it an answer would look as if nothing were configured. */
export const fileError = (problem: string | undefined): { readonly error?: string } =>
  problem === undefined ? {} : { error: problem };
