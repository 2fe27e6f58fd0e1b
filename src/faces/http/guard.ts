import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from '../../contract/errors.ts';

export interface GuardRules {
  /** Absent: whoever reaches the port may call. */
  readonly token?: string;
  /** Host names accepted besides those of this machine, without port. */
  readonly allowedHosts: readonly string[];
  /** Web origins accepted besides the server's own, such as `https://app.example`. */
  readonly allowedOrigins: readonly string[];
}

export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page on another site can make a browser send requests here under a name of its own; it cannot choose the Host. */
export function checkHost(headers: IncomingHttpHeaders, rules: GuardRules, hosts = 1): Refusal | undefined {
  if (hosts > 1) return malformed('A request has one Host header.');
  if (!isPort(headers.host)) return malformed('The port in the Host header is none.');
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
  if (given !== undefined && same(given, rules.token)) return undefined;
  const challenge = given === undefined ? '' : ', error="invalid_token"';
  return {
    status: 401,
    code: 'not_authenticated',
    message: given === undefined ? 'A bearer token is needed.' : 'The bearer token is not valid.',
    hint: 'Send the header Authorization: Bearer <token>.',
    headers: { 'www-authenticate': `Bearer realm="fairlead"${challenge}` },
  };
}

/** Digests have one length, so neither content nor length of the token shows in the time this takes. */
const same = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function hostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:/@\s]+)(?::\d{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase();
}

/** Whether a host name, as URLs write it, is this machine. */
export const isLoopback = (name: string): boolean => name === 'localhost' || name === '127.0.0.1' || name === '[::1]';
