import { Instances } from '../../engine/instances/instances.ts';
import type { SocketClient } from '../../faces/socket/client.ts';
import type { LiveSocket } from '../../faces/socket/directory.ts';
import { findInstance } from '../find-instance.ts';

/** Only the instance that is named; else every process, the active instance first and then the newest (R-RPC-151). */
export function clientsInOrder(
  sockets: readonly LiveSocket[],
  home: string,
  instance: string | undefined,
): SocketClient[] {
  if (instance !== undefined) {
    const { pid } = findInstance(home, instance);
    return sockets.filter((socket) => socket.pid === pid).map(({ client }) => client);
  }
  const peers = new Instances(home);
  const order = [peers.active(), ...peers.list().toReversed()].map((record) => record?.pid);
  const place = ({ pid }: LiveSocket): number => (order.includes(pid) ? order.indexOf(pid) : order.length);
  return sockets.toSorted((a, b) => place(a) - place(b)).map(({ client }) => client);
}
