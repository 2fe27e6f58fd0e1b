import { Strangers } from '../door/strangers.ts';
import { sendText } from '../http/reply.ts';
import type { Guard, HttpVisit } from '../http/route.ts';
import { HttpServer } from '../http/server.ts';
import { contentSecurityPolicy, noticePage } from './html.ts';

export interface PageReply {
  readonly status: number;
  readonly html: string;
}

export const notice = (status: number, title: string, words: string): PageReply => ({
  status,
  html: noticePage(title, words),
});

const stranger = notice(403, 'Not here', 'This page answers only to itself.');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  // With no-referrer, browsers would hide the Origin of the form from its own server.
  'referrer-policy': 'same-origin',
  connection: 'close',
} as const;

const host = '127.0.0.1';
const mostConnections = 32;
const requestMs = 10_000;

/** Pages for a browser on this machine, on any free port. */
export function servePages(answer: (visit: HttpVisit) => Promise<PageReply>): Promise<HttpServer> {
  return HttpServer.listen({
    host,
    ports: [0],
    guard: pageGuard(),
    routes: [
      {
        path: '',
        below: true,
        handle: async (visit) => send(visit, await answer(visit)),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
    ],
    requestMs,
    keepsProcess: false,
  });
}

/** A page elsewhere can point its own name at this machine and send forms here; it cannot choose Host and Origin. */
function pageGuard(): Guard {
  // One connection more than that drops the oldest: half-open connections cannot keep the person out.
  const connections = new Strangers(mostConnections);
  return {
    connected: (socket) => connections.add(socket),
    admit(visit) {
      const { method, headers: given, socket } = visit.request;
      const home = `http://${host}:${socket.localPort}`;
      const isHome = `http://${given.host}` === home;
      const isOwn = given.origin === home || (given.origin === undefined && method === 'GET');
      if (isHome && isOwn) return Promise.resolve(visit);
      send(visit, stranger);
      return Promise.resolve(undefined);
    },
  };
}

const send = ({ response }: HttpVisit, { status, html }: PageReply): void => sendText(response, status, html, headers);
