import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../lib/loopback.ts';
import { isSameToken } from '../door/token.ts';
import type { Refusal } from './reply.ts';

export interface GuardRules {
  /** Absent: every client that reaches the port may call. */
  readonly token?: string;
  /** Host names accepted besides those of this machine, without port. */
  readonly allowedHosts: readonly string[];
  /** Web origins accepted besides the server's own, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
}

/** A page on another site can point its own host name at this machine; the browser then sends that name as Host. */
export function checkHost(headers: IncomingHttpHeaders, rules: GuardRules, hosts = 1): Refusal | undefined {
  if (hosts > 1) return malformed('A request has one Host header.');
  if (!isPort(headers.host)) return malformed('The Host header has no valid port.');
  const name = hostName(headers.host);
  if (name !== undefined && (isLoopback(name) || rules.allowedHosts.includes(name))) return undefined;
  return {
    status: 403,
    code: 'not_permitted',
    message: `The host ${JSON.stringify(headers.host ?? '')} is not served here.`,
    hint: `Connect to localhost, or start the server with --allow-host ${name ?? '<name>'}.`,
  };
}

const malformed = (message: string): Refusal => ({
  status: 400,
  code: 'invalid_input',
  message,
  hint: 'Send the host and port that you connect to.',
});

const isPort = (host = ''): boolean => Number(/:(\d+)$/.exec(host)?.[1] ?? 1) <= 65_535 && !host.startsWith(':');

/** Only browsers send an Origin. Theirs must be this server or one the operator named. */
export function checkOrigin(headers: IncomingHttpHeaders, rules: GuardRules): Refusal | undefined {
  const { origin, host } = headers;
  if (origin === undefined || rules.allowedOrigins.includes(origin)) return undefined;
  if (origin === `http://${host}` || origin === `https://${host}`) return undefined;
  return {
    status: 403,
    code: 'not_permitted',
    message: `Pages from ${JSON.stringify(origin)} may not call this server.`,
    hint: 'If these pages are yours, start the server with --allow-origin and this origin.',
  };
}

export function checkToken(headers: IncomingHttpHeaders, rules: GuardRules): Refusal | undefined {
  if (rules.token === undefined) return undefined;
  const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (given !== undefined && isSameToken(given, rules.token)) return undefined;
  const challenge = given === undefined ? '' : ', error="invalid_token"';
  return {
    status: 401,
    code: 'not_authenticated',
    message: given === undefined ? 'A bearer token is needed.' : 'The bearer token is not valid.',
    hint: 'Send the header Authorization: Bearer <token>.',
    headers: { 'www-authenticate': `Bearer realm="fairlead"${challenge}` },
  };
}

function hostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:/@\s]+)(?::\d{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase();
}
