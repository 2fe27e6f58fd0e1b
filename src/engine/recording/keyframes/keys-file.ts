import { open, rename, stat, utimes } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { removeFile } from '../../../system/files/remove-file.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import { type CastInfo, readCastFrom } from '../cast/cast-reader.ts';
import { blankKey, type Keyframe, keyLine, placeBehind, readKeys } from './keyframe.ts';
import { Keyframer } from './keyframer.ts';

interface KeyedCast {
  readonly path: string;
  readonly keys: string;
  readonly info: CastInfo;
  /** Milliseconds since the epoch. */
  readonly startTime: number;
}

/** How long making keyframes may hold the event loop. */
const turnMs = 10;

/** Whole, and not older than the cast: what the file says counts. */
export async function currentKeys({
  path,
  keys,
}: Pick<KeyedCast, 'path' | 'keys'>): Promise<readonly Keyframe[] | undefined> {
  const [read, cast] = await Promise.all([readKeys(keys), stat(path)]);
  if (read === undefined || read.torn || read.modified < cast.mtimeMs) return undefined;
  return (read.keys.at(-1)?.pos ?? 0) > cast.size ? undefined : read.keys;
}

/** Makes the keyframes of a finished cast anew and writes them beside it; where that is not possible, they are used without. */
export async function rebuildKeys(
  cast: KeyedCast,
  redactor: Redactor,
  signal: AbortSignal,
): Promise<readonly Keyframe[]> {
  const before = await stat(cast.path);
  const keys = await keysOf(cast, redactor, signal);
  const draft = `${cast.keys}.tmp`;
  try {
    await removeFile(draft);
    await using file = await open(draft, 'wx', 0o600);
    for (const key of keys) await file.write(keyLine(key));
    // A cast that changed in the meantime is newer than this.
    await file.utimes(before.atime, new Date(before.mtimeMs + 1));
    await rename(draft, cast.keys);
  } catch {
    await removeFile(draft).catch(() => {});
  }
  return keys;
}

async function keysOf(cast: KeyedCast, redactor: Redactor, signal: AbortSignal): Promise<Keyframe[]> {
  const from = blankKey(cast.info);
  using maker = new Keyframer({ redactor, from, wallClock: (atMs) => cast.startTime + atMs });
  const keys: Keyframe[] = [];
  let until = performance.now() + turnMs;
  for await (const event of readCastFrom(cast.path, cast.info, placeBehind(from))) {
    keys.push(...maker.accept(event));
    if (performance.now() < until) continue;
    await turn();
    signal.throwIfAborted();
    until = performance.now() + turnMs;
  }
  return keys;
}

/** Says that the keyframes cover the whole cast, or that they do not: then they are made anew when they are needed. */
export async function stampKeys({ path, keys }: Pick<KeyedCast, 'path' | 'keys'>, complete: boolean): Promise<void> {
  const { atime, mtimeMs } = await stat(path);
  await utimes(keys, atime, new Date(mtimeMs + (complete ? 1 : -1_000)));
}
