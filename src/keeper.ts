import { accessSync, constants, openSync } from 'node:fs';
import { handOver, takeOver } from './transports/local/keeper/server/hand-over.ts';
import type { KeeperTerminal } from './transports/local/keeper/server/keeper-terminal.ts';
import { closeInherited } from './transports/local/keeper/server/close-inherited.ts';
import { Keeper } from './transports/local/keeper/server/keeper.ts';
import { type Libc, loadLibc } from './transports/local/pty/libc.ts';
import { openLinuxPty } from './transports/local/pty/pty-linux.ts';
import { loadSharedCalls } from './transports/local/keeper/lease/shared-calls.ts';
import { removeFileSync } from './system/files/remove-file.ts';

/**
 * The keeper's program: it holds the terminals of one instance and outlives it. It loads everything at once, because by
 * the time it would load more, an upgrade may have replaced its files. A handover passes two descriptors: the
 * lock, and the state that the previous program wrote.
 */
async function main([socket = '', lock = '', lockFd, handed]: readonly string[]): Promise<void> {
  const libc = await loadLibc();
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  // Held open for life: the kernel releases the lock when this process ends.
  const locked = lockFd === undefined ? openSync(lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600) : Number(lockFd);
  libc.inherit(locked, false);
  if (lockFd === undefined && !libc.lock(locked)) return;
  const terminals = handed === undefined ? [] : takeOver(libc, await loadSharedCalls(), Number(handed));
  closeInherited();
  await serve(libc, { socket, lock, locked }, terminals);
  process.on('SIGHUP', () => {});
}

interface Place {
  readonly socket: string;
  readonly lock: string;
  readonly locked: number;
}

let current: Keeper | undefined;

async function serve(libc: Libc, place: Place, terminals: readonly KeeperTerminal[]): Promise<void> {
  // We hold the lock, so no keeper listens on a socket file that is still here.
  removeFileSync(place.socket);
  current = new Keeper({
    open: (target, size) => openLinuxPty(libc, target, size),
    onEmpty: () => process.exit(0),
    replace: (argv, held) => void replace(libc, place, argv, held).catch(complain),
    shared: await loadSharedCalls(),
    complain,
    terminals,
  });
  await current.listen(place.socket);
}

/** Re-executes the newer program in place. If that fails, this one keeps running with all its terminals. */
async function replace(
  libc: Libc,
  place: Place,
  argv: readonly [string, ...string[]],
  held: readonly KeeperTerminal[],
): Promise<void> {
  const file = await handOver(libc, held);
  const { socket, lock, locked } = place;
  try {
    for (const path of [argv[0], argv.at(-1) ?? '']) accessSync(path);
    libc.inherit(locked, true);
    const env = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
    complain(libc.become([...argv, socket, lock, String(locked), String(file)], env));
  } catch (error) {
    complain(error);
  }
  libc.inherit(locked, false);
  await serve(libc, place, takeOver(libc, await loadSharedCalls(), file));
}

function complain(error: unknown): void {
  process.stderr.write(`${new Date().toISOString()} ${error instanceof Error ? error.stack : String(error)}\n`);
}
// A failure in one terminal must not end the others.
process.on('uncaughtException', complain);
process.on('unhandledRejection', complain);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (!current) process.exit(0);
    current.end().catch(() => process.exit(1));
  });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  complain(error);
  process.exit(1);
});
