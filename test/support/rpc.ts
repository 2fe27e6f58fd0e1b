import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RpcAnswer {
  readonly jsonrpc: string;
  readonly id: unknown;
  // Tests look into whatever comes.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result?: any;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** A client of the line protocol that knows nothing but sockets and lines. */
export class RpcClient implements Disposable {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  readonly #answers: RpcAnswer[] = [];
  readonly #readers: ((answer: RpcAnswer) => void)[] = [];
  #rest = '';
  #nextId = 1;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = once(socket, 'close');
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        const answer = JSON.parse(line) as RpcAnswer;
        const reader = this.#readers.shift();
        if (reader) reader(answer);
        else this.#answers.push(answer);
      }
    });
    socket.on('error', () => {});
  }

  static async connect(port: number, token?: string): Promise<RpcClient> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    const client = new RpcClient(socket);
    if (token !== undefined) await client.call('auth.login', { token });
    return client;
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** The next answer, whatever it answers. */
  async next(): Promise<RpcAnswer> {
    const waiting = this.#answers.shift();
    if (waiting) return waiting;
    return await new Promise((resolve) => this.#readers.push(resolve));
  }

  async ask(method: string, params?: unknown): Promise<RpcAnswer> {
    this.send(`${JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method, params })}\n`);
    return await this.next();
  }

  /** The result of a call that must not fail. */
  // oxlint-disable-next-line typescript/no-explicit-any
  async call(method: string, params?: unknown): Promise<any> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
