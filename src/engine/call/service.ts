import type { Engine } from '../engine.ts';

/**
 * Something the operations of a book need that the engine does not know, such as the connections of a transport. Its
 * owner exports the key; an engine makes the part when it is first asked for and ends it when it ends.
 */
export interface ServiceKey<T extends AsyncDisposable> {
  /** For people: what is missing when an engine has no such part. */
  readonly name: string;
  /** Ties the key to its type; nothing reads it. */
  readonly type?: T;
}

export type ServiceMaker<T extends AsyncDisposable = AsyncDisposable> = (engine: Engine) => T;

export const serviceKey = <T extends AsyncDisposable>(name: string): ServiceKey<T> => ({ name });
