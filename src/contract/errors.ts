import { visible, visibleFacts } from './quote.ts';

/**
 * Every way a call can fail. Each face reads its own column and decides nothing itself. `rpc` is the word in `error.data`:
 * the numbers of the session RPC are fixed by its reference.
 */
export const errorTable = {
  invalid_input: { http: 400, rpc: 'INVALID_PARAMS', exit: 2, retry: false },
  unknown_operation: { http: 404, rpc: 'UNKNOWN_METHOD', exit: 2, retry: false },
  not_authenticated: { http: 401, rpc: 'NOT_AUTHENTICATED', exit: 1, retry: false },
  not_permitted: { http: 403, rpc: 'NOT_PERMITTED', exit: 5, retry: false },
  needs_approval: { http: 403, rpc: 'NEEDS_APPROVAL', exit: 5, retry: true },
  /** Only a person can give what is missing, and there is no way to ask from within the call. */
  needs_person: { http: 403, rpc: 'NEEDS_PERSON', exit: 5, retry: true },
  /** A person paused the conversation. The call waits for that person, or was a read. */
  held: { http: 423, rpc: 'HELD', exit: 1, retry: true, bracketed: true },
  hold_queue_full: { http: 429, rpc: 'HOLD_QUEUE_FULL', exit: 1, retry: true, bracketed: true },
  /** A held call that never ran: the person dropped it, or it waited too long. */
  hold_dropped: { http: 410, rpc: 'HOLD_DROPPED', exit: 1, retry: false, bracketed: true },
  /** A person ended the conversation. */
  revoked: { http: 403, rpc: 'REVOKED', exit: 5, retry: false, bracketed: true },
  not_found: { http: 404, rpc: 'NOT_FOUND', exit: 4, retry: false },
  terminal_not_found: { http: 404, rpc: 'SESSION_NOT_FOUND', exit: 4, retry: false },
  terminal_exited: { http: 409, rpc: 'SESSION_EXITED', exit: 1, retry: false },
  conflict: { http: 409, rpc: 'CONFLICT', exit: 1, retry: false },
  limit_reached: { http: 429, rpc: 'LIMIT_REACHED', exit: 1, retry: true },
  too_large: { http: 413, rpc: 'TOO_LARGE', exit: 2, retry: false },
  timeout: { http: 504, rpc: 'TIMEOUT', exit: 6, retry: true },
  cancelled: { http: 499, rpc: 'CANCELLED', exit: 1, retry: true },
  unsupported: { http: 501, rpc: 'NOT_SUPPORTED', exit: 1, retry: false },
  unavailable: { http: 503, rpc: 'UNAVAILABLE', exit: 3, retry: true },
  internal: { http: 500, rpc: 'INTERNAL', exit: 1, retry: false },
} as const;

export type ErrorCode = keyof typeof errorTable;

/** Its message has the bracketed form of the hub's reference, the same in the words of every book. */
export const isBracketed = (code: ErrorCode): boolean => 'bracketed' in errorTable[code];

interface ErrorExtras {
  /** What to do next, in one sentence: an agent will do it. */
  readonly hint?: string;
  /** Facts for programs: they go into the structured part of an answer. Never secrets. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

const longest = 2000;
/** Messages are read by people and models: cut to a length, with invisible characters escaped. */
const readable = (text: string): string => clip(visible(clip(text)));
const clip = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

/** The one error the product throws. The message says what happened; the hint says what to do next. */
export class FairleadError extends Error {
  override readonly name = 'FairleadError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(readable(message), extras.cause === undefined ? undefined : { cause: extras.cause });
    this.code = code;
    this.hint = extras.hint === undefined ? undefined : readable(extras.hint);
    this.data = extras.data === undefined ? undefined : visibleFacts(extras.data);
  }

  get retry(): boolean {
    return errorTable[this.code].retry;
  }
}
