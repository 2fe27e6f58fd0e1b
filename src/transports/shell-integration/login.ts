import { basename } from 'node:path';

/** What makes it a login shell; shells we do not know are started without. */
export const loginFlags = (shell: string): readonly string[] =>
  /^(?:ba|z|fi|da|a|k|mk|c|tc)?sh$/.test(basename(shell)) ? ['-l'] : [];
