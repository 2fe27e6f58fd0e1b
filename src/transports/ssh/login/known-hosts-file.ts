import { randomBytes } from 'node:crypto';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDirectory } from '../../../system/files/directories.ts';
import { keyType, parseKnownLine } from './known-hosts-line.ts';
import { removeFile } from '../../../system/files/remove-file.ts';

/** An older lock was left by a dead process: locks are held for milliseconds. */
const staleMs = 10_000;

/** Adds a key to our own file: private, replaced as a whole, one process at a time. */
export async function recordHostKey(file: string, name: string, key: Buffer, signal: AbortSignal): Promise<void> {
  await makeDirectory(dirname(file), 0o700);
  await using _ = await lock(`${file}.lock`, signal);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const already = text.split('\n').some((line) => {
    const known = parseKnownLine(line);
    return known !== undefined && !known.revoked && known.key.equals(key) && known.matches(name);
  });
  if (already) return;
  const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  await replace(file, `${whole}${name} ${keyType(key)} ${key.toString('base64')}\n`);
}

async function replace(file: string, text: string): Promise<void> {
  const beside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(beside, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await removeFile(beside);
    throw error;
  }
}

async function lock(path: string, signal: AbortSignal): Promise<AsyncDisposable> {
  for (;;) {
    signal.throwIfAborted();
    try {
      await (await open(path, 'wx', 0o600)).close();
      return { [Symbol.asyncDispose]: () => removeFile(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > staleMs) await removeFile(path);
    else await pause(10, undefined, { signal });
  }
}
