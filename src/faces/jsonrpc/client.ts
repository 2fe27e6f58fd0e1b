import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FairleadError } from '../../contract/errors.ts';
import { LineSplitter } from '../socket/lines.ts';
import type { RpcError } from './wire.ts';

/** The server's error answer to a call. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

export interface Greeting {
  readonly token: string;
  readonly client: string;
  /** The session the caller lives in. */
  readonly session?: string | undefined;
}

/** A client of the line protocol. Answers come in the order of the calls. */
export class RpcClient implements Disposable {
  readonly #socket: Socket;
  readonly #lines = new LineSplitter();
  readonly #waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void }[] = [];
  #nextId = 1;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      const lines = this.#lines.push(chunk);
      if (lines === undefined) socket.destroy();
      else for (const line of lines) this.#waiting.shift()?.resolve(line);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const one of this.#waiting.splice(0)) one.reject(lost());
    });
  }

  static async connect(port: number, { token, client, session }: Greeting, signal: AbortSignal): Promise<RpcClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    try {
      await once(socket, 'connect', { signal });
    } catch (cause) {
      socket.destroy();
      throw new FairleadError('unavailable', `No answer on port ${port}.`, { cause });
    }
    const rpc = new RpcClient(socket);
    const about = { token, client: { name: client }, ...(session === undefined ? {} : { session_id: session }) };
    await rpc.call('auth.login', about);
    return rpc;
  }

  /** Rejects with RpcFailure when the server says no. */
  async call(method: string, params: unknown): Promise<unknown> {
    const answer = new Promise<string>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    if (this.#socket.destroyed) throw lost();
    this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method, params })}\n`);
    const { result, error } = JSON.parse(await answer) as { result?: unknown; error?: RpcError };
    if (error) throw new RpcFailure(error);
    return result;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

const lost = (): FairleadError => new FairleadError('unavailable', 'The instance ended before it answered.');
