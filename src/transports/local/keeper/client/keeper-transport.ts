import type { Transport } from '../../../../engine/terminal/transport.ts';
import { type LocalOptions, localTransport } from '../../transport.ts';
import type { KeeperClient } from './keeper-client.ts';

/** Opens programs on this machine in the keeper, where they outlive this process. */
export function keeperTransport(options: LocalOptions, keeper: KeeperClient): Transport {
  return localTransport(options, {
    open: (target, size, id, signal, own) => keeper.open({ ...target, ...own }, size, id, signal),
    owner: (signal) => keeper.ready(signal),
  });
}
