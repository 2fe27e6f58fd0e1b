import { parseAddress } from './address.ts';
import type { ConnectRequest } from './connect.ts';

/** Where a login goes to: what makes two sessions the same for reuse. */
export interface Place {
  readonly host: string;
  /** Undefined: not said, so the SSH config or 22. */
  readonly port: number | undefined;
  /** Undefined: not said, so the SSH config or this user. */
  readonly username: string | undefined;
}

export function placeOf({ address, username }: Pick<ConnectRequest, 'address' | 'username'>): Place {
  const { host, port } = parseAddress(address);
  return { host: host.toLowerCase(), port, username };
}

export const placeKey = ({ host, port, username }: Place): string =>
  JSON.stringify([host, port ?? null, username ?? null]);

/** What ranking looks at. */
export interface Ranked {
  readonly agentId: string | undefined;
  readonly connectedAt: number;
  readonly id: string;
}

/** Sessions of the same agent first, then the newest. */
export function ranked<T extends Ranked>(sessions: readonly T[], agentId: string | undefined): T[] {
  const own = (session: T): number => (agentId !== undefined && session.agentId === agentId ? 0 : 1);
  return sessions.toSorted(
    (a, b) => own(a) - own(b) || b.connectedAt - a.connectedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0),
  );
}

/** A session is where somebody asks to go if they ask as its maker did, or name where it went. */
export function goesTo(
  session: { readonly asked: Place; readonly host: string; readonly port: number; readonly username: string },
  wanted: Place,
): boolean {
  if (placeKey(session.asked) === placeKey(wanted)) return true;
  const there = { host: session.host.toLowerCase(), port: session.port, username: session.username };
  const { host, port = 22, username } = wanted;
  return placeKey(there) === placeKey({ host, port, username });
}
