import { incident, type Log } from '../../system/incident.ts';

/** The same mistake may be made with every chunk: after so many the log has heard enough. */
const mostNoted = 10;

/** Mistakes of ours with what one terminal prints. They are noted, and its program runs on. */
export class Faults {
  readonly #id: string;
  readonly #log: Log | undefined;
  #count = 0;

  constructor(id: string, log: Log | undefined) {
    this.#id = id;
    this.#log = log;
  }

  note(thrown: unknown, where: string): void {
    this.#count += 1;
    if (this.#count <= mostNoted) incident(thrown, `${where} of terminal ${this.#id}`, this.#log);
  }

  guard(work: () => void, where: string): void {
    try {
      work();
    } catch (thrown) {
      this.note(thrown, where);
    }
  }
}
