import type { Socket } from 'node:net';
import type { ReadPosition } from '../server/outlet.ts';

/** Who reads the terminals of a keeper's client: always the keeper (`noLeases`), or the client while it leases them (`Leases`). */
export interface Lessor extends Disposable {
  /** The second connection of the client, over which it gets descriptors, must present it. */
  readonly ticket?: string;
  /** The client's process may be reading terminals at this moment. */
  readonly isClientReading: boolean;
  /** Takes the second connection; false if it is not the client's. */
  attach(socket: Socket, ticket: string): boolean;
  /** The client reads this terminal itself. */
  isLeased(position: ReadPosition): boolean;
  /** Something has changed: leases the terminal if nothing stands against it. */
  offer(position: ReadPosition): void;
  /** The client ended its lease, or refused it. */
  returned(position: ReadPosition, isRefused: boolean): void;
  /** The client has sent a secret: the keeper has to read, in order to mask it. */
  conceal(position: ReadPosition): void;
  /** The terminal is no longer the client's. */
  forget(position: ReadPosition): void;
}

export const noLeases: Lessor = {
  isClientReading: false,
  attach: () => false,
  isLeased: () => false,
  offer: () => {},
  returned: () => {},
  conceal: () => {},
  forget: () => {},
  [Symbol.dispose]: () => {},
};
