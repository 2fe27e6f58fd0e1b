import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Listener extends AsyncDisposable {
  readonly port: number;
  readonly address: string;
  /** Resolves with the first connection. */
  readonly first: Promise<unknown>;
  /** Connections so far. */
  readonly count: number;
  /** Ends every connection as a machine does that lost its memory of them. */
  reset(): void;
}

/** A TCP server on loopback that does with each connection what the test is about. */
export async function listenTcp(each: (socket: Socket, count: number) => void): Promise<Listener> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    each(socket, sockets.length);
  }).listen(0, '127.0.0.1');
  const first = once(server, 'connection');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    address: `127.0.0.1:${port}`,
    first,
    get count() {
      return sockets.length;
    },
    reset: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface Relay extends Listener {
  /** Passes on no more of what clients send; resolves when the next of it has come. */
  hold(): Promise<unknown>;
}

/** Passes everything on to another port; which one is decided for each connection. */
export async function relayTcp(to: (count: number) => number): Promise<Relay> {
  const pairs: (readonly [Socket, Socket])[] = [];
  const listener = await listenTcp((socket, count) => {
    const there = connect(to(count), '127.0.0.1').on('error', () => socket.destroy());
    socket.pipe(there).pipe(socket);
    socket.on('close', () => there.destroy());
    pairs.push([socket, there]);
  });
  return Object.assign(listener, {
    hold: () => Promise.race(pairs.map(([socket, there]) => once(socket.unpipe(there).resume(), 'data'))),
  });
}
