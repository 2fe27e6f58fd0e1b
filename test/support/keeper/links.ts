import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** How a connection to a keeper can end while both processes live. */
export const cuts = {
  'here: the socket is destroyed': (socket: Socket) => void socket.destroy(),
  // A length that no frame has: the keeper drops whoever says so.
  'by the keeper: it cannot read what came': (socket: Socket) => void socket.write(Buffer.alloc(64, 0xff)),
} as const;

/** The connections that clients in this process make to a keeper, so that a test can cut them. */
export class KeeperLinks implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #heard = (message: unknown): void => {
    this.#sockets.push((message as { readonly socket: Socket }).socket);
  };

  constructor() {
    subscribe('net.client.socket', this.#heard);
  }

  /** How many there were. */
  get count(): number {
    return this.#sockets.length;
  }

  get newest(): Socket {
    const socket = this.#sockets.at(-1);
    if (!socket) throw new Error('Nobody has connected.');
    return socket;
  }

  /** Settles when the client knows. */
  async cut(how: (socket: Socket) => void): Promise<void> {
    const { newest } = this;
    const closed = new Promise((resolve) => newest.once('close', resolve));
    how(newest);
    await closed;
  }

  [Symbol.dispose](): void {
    unsubscribe('net.client.socket', this.#heard);
  }
}
