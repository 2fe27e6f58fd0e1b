import { createHash, randomBytes } from 'node:crypto';
import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { serviceKey } from '../call/service.ts';

/** How long a link can be used. */
export const linkMs = 60_000;
const mostLinks = 16;

/** Links that log a browser in: once, and only for a minute. The code stands in the fragment, which no browser sends. */
export class LoginLinks implements AsyncDisposable {
  readonly #clock: Clock;
  /** By the hash of the code; oldest first. */
  readonly #open = new Map<string, Disposable>();
  #origin: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Where pages are served, such as `http://127.0.0.1:7420`. */
  serveAt(origin: string): void {
    this.#origin = origin;
  }

  make(path = '/'): string {
    if (this.#origin === undefined) throw new FairleadError('unavailable', 'The server serves no pages yet.');
    const code = randomBytes(24).toString('base64url');
    const key = hash(code);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= mostLinks && oldest !== undefined) this.#close(oldest);
    this.#open.set(
      key,
      this.#clock.after(linkMs, () => this.#close(key)),
    );
    return `${this.#origin}${path}#code=${code}`;
  }

  /** Whether the code of a link is good. It is not again. */
  redeem(code: string): boolean {
    return this.#close(hash(code));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of this.#open.keys()) this.#close(key);
  }

  #close(key: string): boolean {
    this.#open.get(key)?.[Symbol.dispose]();
    return this.#open.delete(key);
  }
}

/** Looked up by hash, so that the time a lookup takes tells nothing of the code. */
const hash = (code: string): string => createHash('sha256').update(code).digest('base64url');

export const loginLinks = serviceKey<LoginLinks>('pages; they are served with `fairlead serve`');
