import { rename, statfs, writeFile } from 'node:fs/promises';
import { FairleadError } from '../../contract/errors.ts';
import { diskTrouble } from '../../system/files/disk-trouble.ts';
import { makeDirectory } from '../../system/files/directories.ts';
import { removeFile } from '../../system/files/remove-file.ts';

/** Bytes an ordinary user may still write where `directory` lies. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

export async function makeRecordingsDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory, 0o700);
  } catch (cause) {
    throw notWritable(directory, cause);
  }
}

export function notWritable(directory: string, cause: unknown): FairleadError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ENOTDIR: 'a part of the path is not a directory',
    EEXIST: 'it is not a directory',
  };
  const reason = diskTrouble(cause) ?? reasons[code ?? ''] ?? (cause instanceof Error ? cause.message : String(cause));
  return new FairleadError('invalid_input', `Cannot write recordings to ${directory}: ${reason}.`, {
    hint: 'Pass outputDir with a directory you can write to, or set FAIRLEAD_RECORD_DIR.',
    data: { directory },
    cause,
  });
}

export function tooLittleRoom(directory: string, free: number, wanted: number): FairleadError {
  const mb = (bytes: number): string => `${Math.floor(bytes / 1e6)} MB`;
  return new FairleadError(
    'unavailable',
    `There is too little room for a recording in ${directory}: ${mb(free)} are free, ${mb(wanted)} are needed.`,
    {
      hint: 'Make room, or pass outputDir with a directory on another disk.',
      data: { directory, freeBytes: free, neededBytes: wanted },
    },
  );
}

/** All of it or nothing, readable by its owner only. A link that another user laid where the draft belongs is not followed. */
export async function writeWhole(path: string, temporary: string, text: string): Promise<void> {
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    await rename(temporary, path);
  } catch (thrown) {
    await removeFile(temporary).catch(() => {});
    throw thrown;
  }
}
