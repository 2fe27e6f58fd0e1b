import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync } from './directories.ts';
import { removeFileSync } from './remove-file.ts';

/** Replaces a private file atomically: a reader finds the old text or the new one. */
export function writePrivate(path: string, text: string): void {
  makeDirectorySync(dirname(path), 0o700);
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    removeFileSync(draft);
    throw error;
  }
}

/** The text of a file; undefined when there is none. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
