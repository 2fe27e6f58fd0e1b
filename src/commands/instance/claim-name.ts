import { FairleadError } from '../../contract/errors.ts';
import type { Log } from '../../system/incident.ts';
import type { Instances } from '../../engine/instances/instances.ts';
import { OwnInstance } from '../../engine/instances/own-instance.ts';
import { type KeeperClient, keeperFor } from '../../transports/local/keeper/client/keeper-client.ts';

const findMs = 10_000;

/**
 * Claims a free name and, where there are keepers, its keeper. A name may look free because the instance's file
 * was removed; if its keeper is in use, the next name is tried.
 */
export async function claimName(
  peers: Instances,
  about: Parameters<typeof OwnInstance.claim>[1],
  log: Log,
): Promise<{ readonly own: OwnInstance; readonly keeper: KeeperClient | undefined }> {
  const taken = new Set<string>();
  for (;;) {
    const own = OwnInstance.claim(peers, about, taken);
    const { id } = own.record;
    if (process.platform !== 'linux') return { own, keeper: undefined };
    const keeper = keeperFor(id, peers.root, { log });
    const refusal = await refused(keeper);
    if (!refusal) return { own, keeper };
    await keeper[Symbol.asyncDispose]();
    own[Symbol.dispose]();
    taken.add(id);
    log(`The name ${id} is taken, though its file is not there: ${refusal.message}`);
  }
}

/** Why the keeper refuses us. Other errors come up again when the keeper is used. */
async function refused(keeper: KeeperClient): Promise<FairleadError | undefined> {
  try {
    await keeper.find(AbortSignal.timeout(findMs));
    return undefined;
  } catch (error) {
    return error instanceof FairleadError && error.code === 'conflict' ? error : undefined;
  }
}
