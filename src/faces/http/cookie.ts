import type { IncomingMessage } from 'node:http';
import { type BrowserLogin, loginMs } from '../../engine/instances/browser-logins.ts';

/** Browsers send a cookie to every port of a host: each port has a name of its own, or two servers would log each other out. */
const cookieName = ({ socket }: IncomingMessage): string => `fairlead_${socket.localPort}`;

/** The value of the login cookie. */
export function cookieOf(request: IncomingMessage): string | undefined {
  const name = `${cookieName(request)}=`;
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
}

/** The header that sets the cookie, or removes it. */
export function setCookie(request: IncomingMessage, value: string | undefined): string {
  const seconds = value === undefined ? 0 : loginMs / 1000;
  // Only a page that came over TLS has such an origin. Without TLS a browser would drop a Secure cookie.
  const secure = request.headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  const pair = `${cookieName(request)}=${value ?? ''}`;
  return `${pair}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Whether the request carries the CSRF token. Another local server is sent the cookie too; it never sees this token. */
export function hasCsrf({ headers }: IncomingMessage, login: BrowserLogin): boolean {
  const given = headers['x-csrf-token'];
  return typeof given === 'string' && login.hasCsrf(given);
}
