import { basename } from 'node:path';
import { traitsOf } from '../../engine/shells/traits.ts';

/** What makes it a login shell; shells we do not know are started without. */
export const loginFlags = (shell: string): readonly string[] =>
  traitsOf(basename(shell))?.takesLoginFlag ? ['-l'] : [];
