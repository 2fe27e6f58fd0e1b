import { isIPv6 } from 'node:net';
import { remoteError } from '../../../contract/remote-errors.ts';

export interface Address {
  readonly host: string;
  /** Only when it was written. */
  readonly port?: number | undefined;
}

/** `host`, `host:port`, `[v6]`, `[v6]:port` or a bare v6 literal. */
export function parseAddress(text: string): Address {
  const address = text.trim();
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(address);
  if (bracketed !== null) {
    const [, host = '', port] = bracketed;
    if (!isIPv6(host)) throw wrong(`"${shown(host)}" is not an IPv6 address`);
    return withPort(host, port);
  }
  if (isIPv6(address)) return { host: address };
  const colon = address.indexOf(':');
  const host = colon < 0 ? address : address.slice(0, colon);
  return withPort(plainHost(host), colon < 0 ? undefined : address.slice(colon + 1));
}

/** `host:port`, with an IPv6 host in brackets. */
export const hostAndPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/**
 * A name as OpenSSH may see it: in a command line, in a file name, in a `Match exec`. So nothing a shell or an option
 * parser would take for its own.
 */
export function plainHost(host: string): string {
  if (host === '') throw wrong('the host is empty');
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(host) || host.length > 255) {
    throw wrong(`"${shown(host)}" is not a host name`);
  }
  return host;
}

/** The rule of OpenSSH for names of users, for the same reason. */
export function plainUser(user: string): string {
  if (user === '') throw wrong('the username is empty');
  if (/^-|['`";&<>|(){}\p{Cc}]|\s|\\$/u.test(user) || user.length > 255) {
    throw wrong(`"${shown(user)}" is not a username`);
  }
  return user;
}

function withPort(host: string, text: string | undefined): Address {
  if (text === undefined) return { host };
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw wrong(`"${shown(text)}" is not a port from 1 to 65535`);
  return { host, port };
}

const shown = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?').slice(0, 80);
const wrong = (what: string) =>
  remoteError('INVALID_ARGUMENT', `Not an address: ${what}.`, { context: 'host, host:port, [v6] or [v6]:port' });
