import { setTimeout } from 'node:timers/promises';
import { startTime } from '../../pty/proc.ts';
import type { Welcome } from '../messages.ts';
import { type KeeperLink, patiently } from './keeper-link.ts';

/** A keeper that became another program listens again within this time. */
const backMs = 5000;
const pauseMs = 10;

/**
 * Connects again after the connection to a keeper broke, as long as its process lives: a keeper that becomes another program
 * keeps its process. False if the keeper has ended, or does not come back in time.
 */
export async function reconnect(
  keeper: Pick<Welcome, 'pid' | 'startTime'>,
  open: (signal: AbortSignal) => Promise<KeeperLink | undefined>,
): Promise<boolean> {
  const limit = AbortSignal.timeout(backMs);
  while (!limit.aborted && startTime(keeper.pid) === keeper.startTime) {
    if (await patiently(() => open(limit))) return true;
    await setTimeout(pauseMs);
  }
  return false;
}
