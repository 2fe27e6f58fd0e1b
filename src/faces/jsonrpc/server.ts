import { once, setMaxListeners } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { FailedLogins } from '../door/failed-logins.ts';
import { Strangers } from '../door/strangers.ts';
import { Connection } from './connection.ts';
import type { MethodTable } from './methods.ts';

export interface RpcServerOptions {
  readonly host: string;
  /** Tried first; then the five after it, then any (R-RPC-007). */
  readonly port: number;
  readonly token: string;
  readonly methods: MethodTable;
  readonly clock: Clock;
  /** Absent: wrong tokens are counted for this port alone, and not reported. */
  readonly failed?: FailedLogins | undefined;
  /** Where the port that is wanted is taken: try others, or fail. */
  readonly moves?: boolean | undefined;
}

const mostStrangers = 256;
const nextPorts = 5;
/** Clients at one time; a client more than that is turned away. */
const mostConnections = 4096;

/** Line-delimited JSON-RPC 2.0 over TCP: the wire of the session RPC (R-RPC-010…016). */
export class RpcServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #ending = new AbortController();

  private constructor(options: RpcServerOptions) {
    const strangers = new Strangers(mostStrangers);
    const { failed = new FailedLogins(options.clock, () => {}) } = options;
    // Every connection listens to it.
    setMaxListeners(0, this.#ending.signal);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      void new Connection(socket, { ...options, strangers, failed, ending: this.#ending.signal });
    });
    this.#server.maxConnections = mostConnections;
  }

  static async listen(options: RpcServerOptions): Promise<RpcServer> {
    const wanted = Array.from({ length: nextPorts + 1 }, (_, step) => options.port + step).filter(
      (port) => port <= 65_535,
    );
    const { moves = true } = options;
    for (const port of options.port === 0 ? [0] : moves ? [...wanted, 0] : [options.port]) {
      const rpc = new RpcServer(options);
      try {
        rpc.#server.listen(port, options.host);
        await once(rpc.#server, 'listening');
        return rpc;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cannotListen(options.host, port, error);
      }
    }
    throw cannotListen(options.host, options.port, undefined, moves);
  }

  /** The port that was bound, whichever was wanted. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#ending.abort();
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroySoon();
    // Whoever does not take its last answer now loses it.
    const limit = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 200);
    await closed;
    clearTimeout(limit);
  }
}

function cannotListen(host: string, port: number, cause: unknown, moves = true): FairleadError {
  const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'in use';
  return new FairleadError('unavailable', `Cannot listen on ${host}:${port} (${reason}).`, {
    hint: moves
      ? 'Choose another address or port.'
      : 'The token is fixed, and clients would send it to the program that listens there: end that program, or choose another port (--rpc-port).',
    cause,
  });
}
