/** What ranking looks at. */
interface Ranked {
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
