import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file below a folder by its path, and what is in it. One that goes away meanwhile has nothing in it. */
export function* filesBelow(folder: string): Generator<readonly [path: string, bytes: Buffer]> {
  for (const entry of entries(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield [path, entry.isFile() ? contents(path) : Buffer.alloc(0)];
  }
}

/** A file, or nothing if it is gone or not ours to read: so it is with the files of processes. */
export const contents = (path: string): Buffer => ifThere(() => readFileSync(path)) ?? Buffer.alloc(0);

const entries = (folder: string): Dirent[] => ifThere(() => readdirSync(folder, { withFileTypes: true })) ?? [];

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
