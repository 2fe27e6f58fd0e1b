import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FairleadError } from '../../../../contract/errors.ts';
import { packageRoot } from '../../../../system/package-root.ts';
import { type KeeperPlaces, makePrivateFolder } from '../keeper-places.ts';

/** The command line of a keeper, without the paths of its socket and lock. */
export type KeeperProgram = readonly [string, ...string[]];

export function keeperProgram(): KeeperProgram {
  const file = fileURLToPath(new URL('dist/bundle/keeper.js', packageRoot));
  if (!existsSync(file)) {
    throw new FairleadError('unsupported', `${file} is missing.`, { hint: 'Build or install Fairlead again.' });
  }
  return [process.execPath, ...lean, file];
}

/** A keeper allocates and computes little: a small young generation, and no worker threads of V8. */
const lean = ['--max-semi-space-size=1', '--v8-pool-size=0'];

/** The keeper must not hold secrets of our environment: programs get theirs from the instance. */
const inherited = ['PATH', 'LD_LIBRARY_PATH', 'UV_THREADPOOL_SIZE'];

/**
 * Starts a keeper that survives this process: in a session of its own, so that no terminal hangs it up, without our descriptors,
 * and in the root directory, so that it blocks no unmount.
 */
export function startKeeper(
  places: KeeperPlaces,
  [program, ...args]: KeeperProgram,
): { readonly failed: Promise<string> } {
  makePrivateFolder(places.folder);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const log = openSync(places.log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    const env = Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
    const child = spawn(program, [...args, places.socket, places.lock], {
      detached: true,
      cwd: '/',
      env,
      stdio: ['ignore', log, log],
    });
    const failed = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      // A keeper that finds the lock taken exits with 0.
      child.once('exit', (code) => code !== 0 && resolve(lastLine(places.log)));
    });
    child.unref();
    return { failed };
  } finally {
    closeSync(log);
  }
}

const pauseMs = 5;

/** Tries until the new keeper answers. */
export async function untilThere<T>(
  tryOnce: () => Promise<T | undefined>,
  failed: Promise<string>,
  signal: AbortSignal,
): Promise<T> {
  let why: string | undefined;
  failed.then(
    (reason) => {
      why = reason;
    },
    () => {},
  );
  for (;;) {
    const there = await tryOnce();
    if (there) return there;
    if (why !== undefined || signal.aborted) {
      throw new FairleadError('unavailable', `The keeper of the terminals does not start${why ? `: ${why}` : '.'}`);
    }
    await setTimeout(pauseMs);
  }
}

function lastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '';
  } catch {
    return '';
  }
}
