import type { Origin } from '../../engine/call/call.ts';
import { isSameToken } from '../door/token.ts';
import { cliClient, type RpcError, codes } from './wire.ts';

/** Failures of one connection after which every further attempt is slowed down. */
const freeFailures = 5;
const slowedLoginMs = 1000;

/** Whether one connection has logged in, and what it said about itself. */
export class TokenLogin {
  readonly #token: string;
  #failures = 0;
  authenticated = false;
  /** Answers may leave as they finish. */
  concurrent = false;
  clientName = 'anonymous';
  /** The session the client lives in: it is never chosen for writing by default. */
  ownSession: string | undefined;

  constructor(token: string) {
    this.#token = token;
  }

  /** A claim of the client, like its name: for the audit trail, not for permissions. */
  get origin(): Origin {
    return this.clientName === cliClient ? 'cli' : 'rpc';
  }

  /** How long the answer to the next attempt is delayed. */
  get delayMs(): number {
    return this.#failures >= freeFailures ? slowedLoginMs : 0;
  }

  /** A failed attempt does not undo an earlier login. */
  attempt(params: Readonly<Record<string, unknown>>): { readonly status: 'ok' } | RpcError {
    const { token, client, session_id, concurrent } = params;
    if (typeof token !== 'string' || !isSameToken(token, this.#token)) {
      this.#failures += 1;
      return { code: codes.badToken, message: 'Invalid auth token' };
    }
    this.authenticated = true;
    const name =
      typeof client === 'object' && client !== null ? (client as Record<string, unknown>)['name'] : undefined;
    if (typeof name === 'string' && name !== '') this.clientName = name.slice(0, 100);
    if (typeof session_id === 'string' || typeof session_id === 'number')
      this.ownSession = String(session_id).slice(0, 64);
    if (concurrent === true) this.concurrent = true;
    return { status: 'ok' };
  }
}
