import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { isSameToken } from '../door/token.ts';

/** A browser that has shown the token. From then on its cookie and its CSRF token stand for it, together. */
export interface BrowserLogin {
  readonly id: string;
  readonly csrf: string;
  readonly expiresAt: Date;
  /** Aborted when it has expired or was ended. */
  readonly ended: AbortSignal;
}

const lifeMs = 12 * 60 * 60_000;
const mostLogins = 64;

export class BrowserLogins implements Disposable {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #logins = new Map<string, { login: BrowserLogin; end: () => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Past the limit the oldest login ends. */
  begin(): BrowserLogin {
    const over = new AbortController();
    const login: BrowserLogin = {
      id: randomBytes(24).toString('base64url'),
      csrf: randomBytes(24).toString('base64url'),
      expiresAt: new Date(this.#clock.now() + lifeMs),
      ended: over.signal,
    };
    const timer = this.#clock.after(lifeMs, () => this.end(login.id));
    const end = (): void => {
      timer[Symbol.dispose]();
      over.abort(new Error('The login has ended.'));
    };
    this.#logins.set(login.id, { login, end });
    const [oldest] = this.#logins.keys();
    if (this.#logins.size > mostLogins && oldest !== undefined) this.end(oldest);
    return login;
  }

  find(id: string): BrowserLogin | undefined {
    return this.#logins.get(id)?.login;
  }

  end(id: string): void {
    this.#logins.get(id)?.end();
    this.#logins.delete(id);
  }

  [Symbol.dispose](): void {
    for (const id of this.#logins.keys()) this.end(id);
  }
}

/** Browsers send a cookie to every port of a host: each port has a name of its own, or two servers would log each other out. */
const cookieName = ({ socket }: IncomingMessage): string => `fairlead_${socket.localPort}`;

/** The value of the login cookie. */
export function cookieOf(request: IncomingMessage): string | undefined {
  const name = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
}

/** The header that sets the cookie, or removes it. */
export function setCookie(request: IncomingMessage, login: BrowserLogin | undefined): string {
  const seconds = login === undefined ? 0 : Math.floor(lifeMs / 1000);
  // Only a page that came over TLS has such an origin. Without TLS a browser would drop a Secure cookie.
  const secure = request.headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  const pair = `${cookieName(request)}=${login?.id ?? ''}`;
  return `${pair}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether the request carries the CSRF token. Another local server is sent the cookie too; it never sees this token. */
export function hasCsrf({ headers }: IncomingMessage, { csrf }: BrowserLogin): boolean {
  const given = headers['x-csrf-token'];
  return typeof given === 'string' && isSameToken(given, csrf);
}
