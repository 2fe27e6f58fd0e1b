import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../call/call.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Whose default session it is: a client's key, or that of the instance itself (number 0). */
export const ofInstance = '';

interface Place {
  opening: Promise<Terminal> | undefined;
  /** Of the newest session that had this place, also after it is gone. */
  id: string | undefined;
}

/** The default session of a client that never says goodbye is left alone for so long at least. */
export const silentClientMs = 3_600_000;

/** So many clients without an open default session are remembered. */
const mostEmpty = 1000;

/** Which session each client means when it names none. */
export class DefaultSessions {
  readonly #places = new Map<string, Place>();
  readonly #clock: Clock;
  /** The client that has the default session of the instance for its own. */
  #holder: { readonly client: Client; readonly usedAt: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Callers that are no clients mean the session of the instance; so does the first client that is there. */
  placeOf(client: Client | undefined): string {
    return client === undefined || this.#holds(client) ? ofInstance : client.key;
  }

  /** The client uses its default session, and so keeps that of the instance if it has that one. */
  claim(client: Client): void {
    if (this.#holds(client)) this.#holder = { client, usedAt: this.#clock.now() };
  }

  /** The session of the instance goes to a client that has none while no other client has it. */
  #holds(client: Client): boolean {
    const { client: holder, usedAt = 0 } = this.#holder ?? {};
    if (holder?.key === client.key) return true;
    if (this.#places.has(client.key)) return false;
    return holder === undefined || (!holder.leaves && this.#clock.now() - usedAt >= silentClientMs);
  }

  /** The session of this place, opened on first need, once however many ask at the same time. */
  open(key: string, make: () => Promise<Terminal>, opened: (terminal: Terminal) => void): Promise<Terminal> {
    const place = this.#place(key);
    place.opening ??= make().then(
      (terminal) => {
        place.id = terminal.id;
        opened(terminal);
        return terminal;
      },
      (error: unknown) => {
        place.opening = undefined;
        throw error;
      },
    );
    return place.opening;
  }

  take(key: string, terminal: Terminal): void {
    const place = this.#place(key);
    place.opening = Promise.resolve(terminal);
    place.id = terminal.id;
  }

  isOpen(key: string): boolean {
    return this.#places.get(key)?.opening !== undefined;
  }

  idOf(key: string): string | undefined {
    return this.#places.get(key)?.id;
  }

  /** Whose default session this is now; undefined: it is an ordinary one. */
  keyOf({ id }: Terminal): string | undefined {
    for (const [key, place] of this.#places) if (place.id === id && place.opening !== undefined) return key;
    return undefined;
  }

  /** The session ends; the next call that names none opens another. */
  vacate(terminal: Terminal): void {
    const key = this.keyOf(terminal);
    const place = key === undefined ? undefined : this.#places.get(key);
    if (place) place.opening = undefined;
  }

  /** The client is gone: its session becomes an ordinary one. */
  drop(key: string): void {
    this.#places.delete(key);
    if (this.#holder?.client.key === key) this.#holder = undefined;
  }

  #place(key: string): Place {
    const known = this.#places.get(key);
    if (known) return known;
    const empty = [...this.#places].filter(([, { opening }]) => opening === undefined);
    const [oldest] = empty;
    if (empty.length >= mostEmpty && oldest) this.#places.delete(oldest[0]);
    const place: Place = { opening: undefined, id: undefined };
    this.#places.set(key, place);
    return place;
  }
}
