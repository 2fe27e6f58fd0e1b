/** Every way a call can fail. Closed: each face reads its own column, so no face decides what anything means. */
export const errorTable = {
  invalid_input: { http: 400, rpc: -32602, exit: 2, retry: false },
  unknown_operation: { http: 404, rpc: -32601, exit: 2, retry: false },
  not_authenticated: { http: 401, rpc: -32001, exit: 1, retry: false },
  not_permitted: { http: 403, rpc: -32003, exit: 5, retry: false },
  needs_approval: { http: 403, rpc: -32003, exit: 5, retry: true },
  /** Only a person can give what is missing, and there is no way to ask from within the call. */
  needs_person: { http: 403, rpc: -32003, exit: 5, retry: true },
  not_found: { http: 404, rpc: -32000, exit: 4, retry: false },
  terminal_not_found: { http: 404, rpc: -32000, exit: 4, retry: false },
  terminal_exited: { http: 409, rpc: -32000, exit: 1, retry: false },
  conflict: { http: 409, rpc: -32000, exit: 1, retry: false },
  limit_reached: { http: 429, rpc: -32000, exit: 1, retry: true },
  too_large: { http: 413, rpc: -32602, exit: 2, retry: false },
  timeout: { http: 504, rpc: -32000, exit: 6, retry: true },
  cancelled: { http: 499, rpc: -32800, exit: 1, retry: true },
  unsupported: { http: 501, rpc: -32000, exit: 1, retry: false },
  unavailable: { http: 503, rpc: -32000, exit: 3, retry: true },
  internal: { http: 500, rpc: -32603, exit: 1, retry: false },
} as const;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorExtras {
  /** What to do next, in one sentence: an agent will do it. */
  readonly hint?: string;
  /** Facts for programs: they go into the structured part of an answer. Never secrets. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The one error the product throws. The message says what happened; the hint says what to do next. */
export class FairleadError extends Error {
  override readonly name = 'FairleadError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.hint = extras.hint;
    this.data = extras.data;
  }

  get retry(): boolean {
    return errorTable[this.code].retry;
  }
}
