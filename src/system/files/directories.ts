import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a directory and what is missing above it. Node's own recursive mkdir never returns on some file systems (/proc). */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let at = path; !(await isDirectory(at)); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  for (const at of missing) {
    await mkdir(at, { mode }).catch(async (error: NodeJS.ErrnoException) => {
      // Another process may have been quicker.
      if (error.code !== 'EEXIST' || !(await isDirectory(at))) throw error;
    });
  }
}

/** The same, synchronously. */
export function makeDirectorySync(path: string, mode: number): void {
  const missing: string[] = [];
  for (let at = path; !isDirectorySync(at); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  for (const at of missing) {
    try {
      mkdirSync(at, { mode });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectorySync(at)) throw error;
    }
  }
}

function isDirectorySync(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
