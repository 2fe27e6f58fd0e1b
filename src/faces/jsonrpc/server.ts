import { once, setMaxListeners } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { FailedLogins } from '../door/failed-logins.ts';
import { listenOn, portsFrom } from '../door/listen.ts';
import { Strangers } from '../door/strangers.ts';
import { Connection } from './connection.ts';
import type { MethodTable } from './methods.ts';

interface RpcServerOptions {
  readonly host: string;
  /** Tried first; then the five after it, then any. */
  readonly port: number;
  readonly token: string;
  readonly methods: MethodTable;
  readonly clock: Clock;
  /** Absent: wrong tokens are counted for this port alone, and not reported. */
  readonly failed?: FailedLogins | undefined;
  /** Whether to try the next port when this one is taken. Absent: always. */
  readonly mayMove?: ((port: number) => boolean) | undefined;
}

const mostStrangers = 256;
/** Further clients are turned away. */
const mostConnections = 4096;

/** Line-delimited JSON-RPC 2.0 over TCP: the wire of the session RPC. */
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
    const rpc = new RpcServer(options);
    const { host, mayMove } = options;
    await listenOn(rpc.#server, { host, ports: portsFrom(options.port), mayMove, flag: '--rpc-port' });
    return rpc;
  }

  /** The port that is bound; it may be another than the one asked for. */
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
    // Clients that do not read their last answer in time lose it.
    const limit = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 200);
    await closed;
    clearTimeout(limit);
  }
}
