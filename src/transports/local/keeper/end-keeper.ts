import { FairleadError } from '../../../contract/errors.ts';
import { deferred } from '../../../lib/deferred.ts';
import { onAbort } from '../../../system/on-abort.ts';
import { KeeperLink, patiently } from './client/keeper-link.ts';
import { keeperPlaces } from './keeper-places.ts';

/** Ends every terminal that the keeper of an instance holds, and the keeper. Returns how many programs still ran. */
export async function endKeeper(instance: string, home: string, signal: AbortSignal): Promise<number> {
  const { socket } = keeperPlaces(instance, home);
  const closed = deferred();
  const events = { frame: () => {}, closed: () => closed.resolve() };
  const link = await patiently(() => KeeperLink.open(socket, { wanted: {}, direct: false }, events, signal));
  if (!link) return 0;
  using _late = onAbort(signal, () => closed.reject(new FairleadError('timeout', 'The keeper does not end.')));
  link.post('end', '');
  await closed.promise;
  return link.welcome.terminals.filter(({ ended }) => !ended).length;
}
