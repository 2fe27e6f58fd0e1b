import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { BrowserLogin } from '../../engine/instances/browser-logins.ts';

/** One request, with what every route needs of it. */
export interface HttpVisit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Without the query. */
  readonly path: string;
  /** Address and port of the client. */
  readonly peer: string;
  /** The browser that sent its cookie instead of the token. */
  readonly login?: BrowserLogin | undefined;
  /** Aborted when the client leaves. */
  readonly gone: AbortSignal;
  /** The request body. Undefined when it is longer than `maxBytes`; the rest is then left unread. */
  readonly body: (maxBytes: number) => Promise<string | undefined>;
}

/** What the server answers at one path. The server disposes its routes: they end what they serve, and their answers still go out. */
export interface Route extends AsyncDisposable {
  readonly path: string;
  /** It also answers every path below its own. */
  readonly below?: true;
  /** It needs no token. */
  readonly isPublic?: true;
  /** A browser's cookie will do instead of the token. */
  readonly takesCookie?: true;
  /** It wants the CSRF token of a cookie's login by itself, in its own way. */
  readonly checksCsrfItself?: true;
  readonly handle: (visit: HttpVisit) => Promise<void>;
  /** Takes the connection over, where the client asks to speak another protocol on it. */
  upgrade?(visit: Pick<HttpVisit, 'peer' | 'login'>, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Sees every connection and request before any route does. */
export interface Guard {
  readonly connected: (socket: IncomingMessage['socket']) => void;
  /** The request as its route is to see it. Undefined: it was refused, and answered. */
  readonly admit: (visit: HttpVisit, route: Route | undefined) => Promise<HttpVisit | undefined>;
}
