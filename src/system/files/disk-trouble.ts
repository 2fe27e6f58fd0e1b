import { FairleadError } from '../../contract/errors.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file may not become larger',
  EROFS: 'it is on a read-only file system',
  EIO: 'the disk has failed',
};

/** What is wrong with the disk, in words; undefined for any other error. */
export function diskTrouble(thrown: unknown): string | undefined {
  return thrown instanceof Error ? reasons[(thrown as NodeJS.ErrnoException).code ?? ''] : undefined;
}

/** The same for a caller. The path names what could not be written; undefined for any other error. */
export function diskError(thrown: unknown): FairleadError | undefined {
  const reason = diskTrouble(thrown);
  if (reason === undefined) return undefined;
  const { path } = thrown as NodeJS.ErrnoException;
  return new FairleadError('unavailable', `Cannot write${path === undefined ? '' : ` ${path}`}: ${reason}.`, {
    hint: 'Free space (or repair the disk), then call again.',
    cause: thrown,
  });
}
