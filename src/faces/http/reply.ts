import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type ErrorCode, errorTable } from '../../contract/errors.ts';

/** A request that is answered with an error. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Facts for programs. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** No answer is kept, guessed at or framed by a browser. */
export const safeHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

export function sendText(to: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders): void {
  to.writeHead(status, { ...safeHeaders, 'content-length': Buffer.byteLength(text), ...headers }).end(text);
}

/** One line of JSON. */
export function sendJson(to: ServerResponse, status: number, value: unknown, headers: OutgoingHttpHeaders = {}): void {
  const policy = "default-src 'none'; frame-ancestors 'none'";
  const all = { 'content-type': 'application/json', 'content-security-policy': policy, ...headers };
  sendText(to, status, `${JSON.stringify(value)}\n`, all);
}

export function sendRefusal(to: ServerResponse, { status, headers, code, ...facts }: Refusal): void {
  const error = { code, ...facts, retry: errorTable[code].retry };
  // The body of a refused request may be unread, and then the connection cannot carry another request.
  sendJson(to, status, { error }, to.req.complete ? headers : { ...headers, connection: 'close' });
}

export const wrongMethod = (allow: string): Refusal => ({
  status: 405,
  code: 'invalid_input',
  message: 'Method not allowed.',
  hint: `Use ${allow}.`,
  headers: { allow },
});
