import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import { makeDirectorySync } from '../../../system/files/directories.ts';

/** The files of an instance's keeper. */
export interface KeeperPlaces {
  readonly folder: string;
  readonly socket: string;
  /** Locked while the keeper lives, so that there is never a second one. */
  readonly lock: string;
  /** Faults of the keeper; never what terminals print. */
  readonly log: string;
}

/** The longest path of a socket that every system allows. */
const longestSocket = 103;

export function keeperPlaces(instance: string, home: string): KeeperPlaces {
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(instance)) {
    throw new FairleadError('invalid_input', `An instance cannot be called ${JSON.stringify(instance)}.`, {
      hint: 'Use up to 32 small letters, digits, dashes and underscores.',
    });
  }
  const folder = join(home, 'run');
  const base = join(folder, `keeper-${instance}`);
  if (Buffer.byteLength(`${base}.sock`) > longestSocket) {
    throw new FairleadError('invalid_input', `The path ${base}.sock is too long for a socket.`, {
      hint: 'Choose a shorter FAIRLEAD_HOME.',
    });
  }
  return { folder, socket: `${base}.sock`, lock: `${base}.lock`, log: `${base}.log` };
}

/** The folder authenticates callers: only its owner may be able to enter it. */
export function makePrivateFolder(folder: string): void {
  makeDirectorySync(folder, 0o700);
  const found = lstatSync(folder);
  if (found.isDirectory() && (found.mode & 0o077) === 0 && found.uid === process.getuid?.()) return;
  throw new FairleadError('not_permitted', `${folder} is accessible to other users.`, {
    hint: `Make it yours alone: chmod 700 ${folder}`,
  });
}
