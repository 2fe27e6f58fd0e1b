import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Caller, CallOperation } from '../../../engine/call/call.ts';
import type { CallStream } from '../../../engine/call/call-stream.ts';
import type { Book } from '../../../engine/call/operation.ts';
import type { Clock } from '../../../lib/clock.ts';
import { sendRefusal } from '../reply.ts';
import type { HttpVisit, Route } from '../route.ts';
import { LiveConnection } from './connection.ts';
import { LiveTable } from './table.ts';

interface LiveOptions {
  readonly books: readonly Book[];
  readonly call: CallOperation;
  readonly stream: CallStream;
  /** Whose things its callers see. */
  readonly principal: string;
  readonly may: Caller['may'];
  readonly clock: Clock;
}

/** The largest frame a page may send: a paste, with room around it. */
const maxPayload = 1 << 20;
const mostConnections = 64;

/** Every stream and call of the books over one WebSocket for each tab, at `/api/live`. */
export class Live implements Route {
  readonly path = '/api/live';
  readonly takesCookie = true;
  /** A browser cannot send a header with an upgrade: the first frame carries the CSRF token. */
  readonly checksCsrfItself = true as const;
  readonly #options: LiveOptions;
  readonly #table: LiveTable;
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload });
  readonly #open = new Set<LiveConnection>();

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#table = new LiveTable(options.books);
  }

  handle({ response }: HttpVisit): Promise<void> {
    const hint = 'Open a WebSocket here.';
    sendRefusal(response, { status: 426, code: 'invalid_input', message: 'This is a WebSocket.', hint });
    return Promise.resolve();
  }

  upgrade(visit: Pick<HttpVisit, 'peer' | 'login'>, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#open.size >= mostConnections) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const { call, stream, principal, may, clock } = this.#options;
      const name = request.headers['user-agent']?.slice(0, 100) ?? 'http';
      // A browser that a person logged in with is that person.
      const { login, peer } = visit;
      const person = login && ({ name: 'person', isPerson: true } as const);
      const caller: Caller = { name, principal, origin: 'http', peer, may, ...person };
      const connection = new LiveConnection(opened, {
        table: this.#table,
        call,
        stream,
        caller,
        clock,
        login: visit.login,
        over: () => this.#open.delete(connection),
      });
      this.#open.add(connection);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#open) connection.end('The server is closing.');
    this.#server.close();
  }
}
