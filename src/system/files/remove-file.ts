import { unlinkSync } from 'node:fs';
import { unlink } from 'node:fs/promises';

/**
 * Removes a file or link; one that is gone already is fine. Not `rm`: when it may not unlink a link of another user, as in a
 * sticky directory, Node's `rm` takes it for a directory and empties the one it points to.
 */
export async function removeFile(path: string): Promise<void> {
  await unlink(path).catch(unlessGone);
}

export function removeFileSync(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    unlessGone(error as NodeJS.ErrnoException);
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
