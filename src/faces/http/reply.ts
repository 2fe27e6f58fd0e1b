import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type ErrorCode, errorTable, type FairleadError } from '../../contract/errors.ts';

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
  sendText(to, status, `${jsonText(value)}\n`, all);
}

/** A file that a browser saves and never shows. */
export function sendFile(
  to: ServerResponse,
  { name, type, bytes }: { readonly name: string; readonly type: string; readonly bytes: Uint8Array },
): void {
  const headers = {
    'content-type': type,
    'content-length': bytes.length,
    'content-disposition': `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  };
  to.writeHead(200, { ...safeHeaders, ...headers }).end(bytes);
}

/** JSON with bytes as base64: pictures hold some. */
export const jsonText = (value: unknown): string => JSON.stringify(value, bytesAsBase64);

function bytesAsBase64(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // A Buffer has become an object by now; its holder still has the bytes.
  const given = this[key];
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value;
}

/** The request was answered with an error of the product; the table says which status that is. */
export const refusalOf = ({ code, message, hint, data }: FairleadError): Refusal => {
  const seconds = data?.['retry_after_s'];
  return {
    status: errorTable[code].http,
    code,
    message,
    hint,
    data: Object.keys(data ?? {}).length > 0 ? data : undefined,
    ...(typeof seconds === 'number' && { headers: { 'retry-after': String(seconds) } }),
  };
};

export const errorBody = ({ code, message, hint, data }: Omit<Refusal, 'status'>): object => ({
  error: { code, message, hint, data, retry: errorTable[code].retry },
});

export function sendRefusal(to: ServerResponse, refusal: Refusal): void {
  const { status, headers } = refusal;
  // The body of a refused request may be unread, and then the connection cannot carry another request.
  sendJson(to, status, errorBody(refusal), to.req.complete ? headers : { ...headers, connection: 'close' });
}

export const wrongMethod = (allow: string): Refusal => ({
  status: 405,
  code: 'invalid_input',
  message: 'Method not allowed.',
  hint: `Use ${allow}.`,
  headers: { allow },
});
