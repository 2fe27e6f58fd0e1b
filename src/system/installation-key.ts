import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync } from './files/directories.ts';

const keyBytes = 32;

/**
 * A secret of this installation, made when first needed. Masks are keyed with it: equal secrets look equal in every
 * recording, and guesses cannot be tested. If it cannot be stored, a key for this process serves.
 */
export function installationKey(path: string): Buffer {
  for (const attempt of [read, make, read]) {
    const key = attempt(path);
    if (key?.length === keyBytes) return key;
  }
  return randomBytes(keyBytes);
}

/** The key that was made before, if there is one; makes none. */
export const existingKey = (path: string): Buffer | undefined => {
  const key = read(path);
  return key?.length === keyBytes ? key : undefined;
};

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function make(path: string): Buffer | undefined {
  const key = randomBytes(keyBytes);
  try {
    makeDirectorySync(dirname(path), 0o700);
    // Never overwrites: of two concurrent processes, the slower takes the key of the quicker.
    writeFileSync(path, key, { mode: 0o600, flag: 'wx' });
    return key;
  } catch {
    return undefined;
  }
}
