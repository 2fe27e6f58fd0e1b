import { constants, openSync, rmSync } from 'node:fs';
import { Keeper } from './transports/local/keeper/keeper.ts';
import { loadLibc } from './transports/local/libc.ts';
import { openLinuxPty } from './transports/local/pty-linux.ts';

/**
 * The keeper's own program: it holds the terminals of one instance and outlives it. It loads everything at once, because by
 * the time it would load more, an upgrade may have replaced its files.
 */
async function main([socket = '', lock = '']: readonly string[]): Promise<void> {
  const libc = await loadLibc();
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  // Held open for life: the lock goes when this process does, however it does.
  const locked = openSync(lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
  if (!libc.lock(locked)) return;
  // Whoever has the lock may be sure that nobody listens at what an earlier one left.
  rmSync(socket, { force: true });
  const keeper = new Keeper({
    open: (target, size) => openLinuxPty(libc, target, size),
    onEmpty: () => process.exit(0),
  });
  await keeper.listen(socket);
  const end = (): void => void keeper.end().catch(() => process.exit(1));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  process.on('SIGHUP', () => {});
}

const complain = (error: unknown): void => {
  process.stderr.write(`${new Date().toISOString()} ${error instanceof Error ? error.stack : String(error)}\n`);
};
// What goes wrong in one terminal must not cost the others.
process.on('uncaughtException', complain);
process.on('unhandledRejection', complain);

main(process.argv.slice(2)).catch((error: unknown) => {
  complain(error);
  process.exit(1);
});
