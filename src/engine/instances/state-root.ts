import { accessSync, constants } from 'node:fs';
import { FairleadError } from '../../contract/errors.ts';
import { makeDirectorySync } from '../../system/files/directories.ts';
import { distrust } from '../../system/files/trusted-path.ts';

/** With these errors a server still runs without instance files, and says what it cannot do. */
const cannotWrite = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC']);

/** Creates the state root, or fails early: later every call would fail, each for another reason. */
export function openStateRoot(root: string, { mustWrite }: { readonly mustWrite: boolean }): void {
  requireOwn(root);
  try {
    makeDirectorySync(root, 0o700);
  } catch (error) {
    if (!mustWrite && cannotWrite.has((error as NodeJS.ErrnoException).code ?? '')) return;
    throw unusable(root, error as NodeJS.ErrnoException);
  }
  try {
    accessSync(root, constants.R_OK | constants.X_OK | (mustWrite ? constants.W_OK : 0));
  } catch (error) {
    throw unusable(root, error as NodeJS.ErrnoException);
  }
}

/** Refuses a state root that another user can write to: shells source its scripts, and clients send its token. */
export function requireOwn(root: string): void {
  const reason = distrust(root);
  if (reason === undefined) return;
  throw new FairleadError('not_permitted', `The state folder ${root} cannot be trusted: ${reason}.`, {
    hint: `Make it yours alone (chown, chmod 700 ${root}), or name another with --home or FAIRLEAD_HOME.`,
  });
}

function unusable(root: string, cause: NodeJS.ErrnoException): FairleadError {
  const { code = 'unknown', path = root } = cause;
  const reason = code === 'EEXIST' || code === 'ENOTDIR' ? `${path} is not a directory` : cause.message;
  return new FairleadError('invalid_input', `The state folder ${root} cannot be used: ${reason}.`, {
    hint: 'Name another with --home or FAIRLEAD_HOME.',
    cause,
  });
}
