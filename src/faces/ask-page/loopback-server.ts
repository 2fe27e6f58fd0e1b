import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Strangers } from '../door/strangers.ts';
import { contentSecurityPolicy, noticePage } from './html.ts';

export interface PageReply {
  readonly status: number;
  readonly html: string;
}

export const notice = (status: number, title: string, words: string): PageReply => ({
  status,
  html: noticePage(title, words),
});

export const stranger = notice(403, 'Not here', 'This page answers only to itself.');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cache-control': 'no-store',
  // With no-referrer, browsers would hide the Origin of the form from its own server.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  connection: 'close',
} as const;

const mostConnections = 32;
const requestMs = 10_000;

/** Pages for a browser on this machine, on a port of the system's choice. */
export class LoopbackServer implements AsyncDisposable {
  readonly origin: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async listen(answer: (request: IncomingMessage) => Promise<PageReply>): Promise<LoopbackServer> {
    const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (request, response) => {
      const reply = isAtHome(request, loopback.origin) ? answer(request) : Promise.resolve(stranger);
      reply.then(
        ({ status, html }) => send(response, status, html),
        () => response.destroy(),
      );
    });
    // One more than that drops the oldest: half-open connections cannot keep the person out.
    const connections = new Strangers(mostConnections);
    server.on('connection', (socket) => connections.add(socket));
    // Whoever serves decides how long the process lives.
    server.unref();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const loopback = new LoopbackServer(server);
    return loopback;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** A page elsewhere can point a name of its own at this machine, and send forms here; it cannot choose Host and Origin. */
function isAtHome({ method, headers: { host, origin } }: IncomingMessage, home: string): boolean {
  return `http://${host}` === home && (origin === home || (origin === undefined && method === 'GET'));
}

function send(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(html) }).end(html);
}
