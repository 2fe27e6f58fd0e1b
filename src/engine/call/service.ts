import { FairleadError } from '../../contract/errors.ts';
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

export type ServiceMakers = readonly (readonly [ServiceKey<AsyncDisposable>, ServiceMaker])[];

/** The parts that one engine has made so far. */
export class Services {
  readonly #engine: Engine;
  readonly #makers: ServiceMakers;
  readonly #made = new Map<ServiceKey<AsyncDisposable>, AsyncDisposable>();

  constructor(engine: Engine, makers: ServiceMakers = []) {
    this.#engine = engine;
    this.#makers = makers;
  }

  get made(): readonly AsyncDisposable[] {
    return [...this.#made.values()];
  }

  get<T extends AsyncDisposable>(key: ServiceKey<T>): T {
    const known = this.#made.get(key);
    if (known) return known as T;
    const make = this.#makers.find(([one]) => one === key)?.[1];
    if (!make) throw new FairleadError('unsupported', `This server has no ${key.name}.`);
    if (this.#engine.closing.aborted) throw shuttingDown();
    const part = make(this.#engine);
    this.#made.set(key, part);
    return part as T;
  }
}

export const shuttingDown = (): FairleadError => new FairleadError('unavailable', 'The server is shutting down.');
