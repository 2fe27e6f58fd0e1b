import { errorTable, type FairleadError, isBracketed } from '../../contract/errors.ts';
import { visible } from '../../contract/quote.ts';

/** One request as the line protocol of the session RPC has it. */
export interface Request {
  /** Null when the client sent none. */
  readonly id: RequestId;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The numbers of the reference. Every error of an operation is `internal`; `data` tells more. */
export const codes = {
  parse: -32700,
  invalid: -32600,
  badToken: -32001,
  notAuthenticated: -32002,
  internal: -32603,
} as const;

/** What our own command line calls itself when it logs in. */
export const cliClient = 'fairlead-cli';

export type RequestId = string | number | null;
export type ParsedRequest = { readonly request: Request } | { readonly id: RequestId; readonly error: RpcError };

export function parseRequest(line: string): ParsedRequest {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { id: null, error: { code: codes.parse, message: `Parse error: ${visible((error as Error).message)}` } };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { id: null, error: { code: codes.invalid, message: 'Invalid request: one JSON object per line' } };
  }
  const { id = null, method, params = {} } = value as Record<string, unknown>;
  // Deeply nested values can be parsed but not serialised again.
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') {
    const message = "Invalid request: 'id' must be a string or a number";
    return { id: null, error: { code: codes.invalid, message } };
  }
  if (typeof method !== 'string') {
    return { id, error: { code: codes.invalid, message: "Invalid request: 'method' must be a string" } };
  }
  if (params !== null && (typeof params !== 'object' || Array.isArray(params))) {
    return { id, error: { code: codes.invalid, message: "Invalid request: 'params' must be an object" } };
  }
  return { request: { id, method, params: (params ?? {}) as Record<string, unknown> } };
}

export const resultLine = (id: RequestId, result: unknown): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, result: result ?? null })}\n`;

export const errorLine = (id: RequestId, error: RpcError): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`;

/** An error in the words of the reference, with its symbolic code and hint in `data`. */
export function rpcError(error: FairleadError, message: string): RpcError {
  const { hint, data: { rpcCode, ...facts } = {} } = error;
  const code = typeof rpcCode === 'string' ? rpcCode : errorTable[error.code].rpc;
  const words = isBracketed(error.code) ? error.message : message;
  return { code: codes.internal, message: words, data: { ...facts, code, ...(hint === undefined ? {} : { hint }) } };
}
