import { FairleadError } from '../../../contract/errors.ts';
import { abortable } from '../../../system/abortable.ts';
import type { LiveSession } from './live-session.ts';
import type { SshSessionRequest } from './sessions.ts';

interface Place {
  readonly way: string;
  readonly principal: string;
}

interface PendingLogin extends Place {
  readonly request: SshSessionRequest;
  readonly session: Promise<LiveSession>;
}

/** Logins under way, shared by requests of one principal for the same place. */
export class PendingLogins {
  readonly #all = new Set<PendingLogin>();

  /** Settles when those under way now have. Never rejects. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#all].map(({ session }) => session));
  }

  /** Counts as under way until it settles. */
  async during<T extends { readonly session: LiveSession }>(
    place: Place,
    request: SshSessionRequest,
    login: Promise<T>,
  ): Promise<T> {
    const pending: PendingLogin = { ...place, request, session: login.then(({ session }) => session) };
    // Its failure reaches the caller through `login`.
    pending.session.catch(() => {});
    this.#all.add(pending);
    try {
      return await login;
    } finally {
      this.#all.delete(pending);
    }
  }

  /** One that this request can share. */
  find({ way, principal }: Place, { agentId, sameAgent }: SshSessionRequest): PendingLogin | undefined {
    const fits = (one: PendingLogin): boolean => one.way === way && one.principal === principal;
    return [...this.#all].find((one) => fits(one) && (sameAgent !== true || one.request.agentId === agentId));
  }
}

/**
 * The session of a login under way; undefined when it failed for reasons of its own request. Rejects with a failure that this
 * request would meet as well.
 */
export async function sharedLogin(
  pending: PendingLogin,
  { password, keyPath }: SshSessionRequest,
  signal: AbortSignal,
): Promise<LiveSession | undefined> {
  try {
    return await abortable(pending.session, signal);
  } catch (error) {
    signal.throwIfAborted();
    const same = pending.request.password === password && pending.request.keyPath === keyPath;
    if (same && error instanceof FairleadError) throw error;
    return undefined;
  }
}
