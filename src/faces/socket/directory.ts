import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { makeDirectory } from '../../system/files/directories.ts';
import { SocketClient } from './client.ts';
import { removeFile } from '../../system/files/remove-file.ts';

/** One socket per process. Only the owner can enter the folder, which authenticates the caller (R-TERM-020). */
export const socketsOf = (home: string): string => join(home, 'run');

export const socketPath = (directory: string, pid: number): string => join(directory, `${pid}.sock`);

export async function makePrivate(directory: string): Promise<void> {
  await makeDirectory(directory, 0o700);
  if (!(await isPrivate(directory))) {
    throw new FairleadError('not_permitted', `${directory} is accessible to other users.`, {
      hint: `Make it yours alone: chmod 700 ${directory}`,
    });
  }
}

async function isPrivate(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  return found?.isDirectory() === true && (found.mode & 0o077) === 0 && found.uid === process.getuid?.();
}

export interface LiveSocket extends AsyncDisposable {
  readonly pid: number;
  readonly client: SocketClient;
}

const connectMs = 2000;

/** Connects to every process that serves a socket here, and clears away what dead ones left. */
export async function liveSockets(directory: string): Promise<LiveSocket[]> {
  if (!(await isPrivate(directory))) return [];
  const names = (await readdir(directory)).filter((name) => /^\d+\.sock$/.test(name));
  const found = await Promise.all(names.map((name) => connect(directory, name)));
  return found.filter((one) => one !== undefined).sort((a, b) => a.pid - b.pid);
}

async function connect(directory: string, name: string): Promise<LiveSocket | undefined> {
  const path = join(directory, name);
  try {
    const client = await SocketClient.connect(path, AbortSignal.timeout(connectMs));
    return { pid: Number.parseInt(name, 10), client, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
  } catch (thrown) {
    // Only a refused connection proves that no process listens.
    if ((thrown as NodeJS.ErrnoException).code === 'ECONNREFUSED') await removeFile(path);
    return undefined;
  }
}
