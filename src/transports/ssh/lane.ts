import type { SshLink } from './link.ts';

/** What OpenSSH gives unless told otherwise. More is tried one by one, and then faster. */
const usual = 10;
const firstRetryMs = 100;
const lastRetryMs = 1_000;

/** One link and what is known of how many channels its server allows. */
export class Lane {
  readonly link: SshLink;
  /** Closes the link when nobody has needed it for a while. */
  idle: Disposable | undefined;
  readonly #now: () => number;
  #open = 0;
  #opening = 0;
  /** The most that were ever open at once. */
  #most = 0;
  /** How many the server allows, once it has refused one. */
  #limit: number | undefined;
  /** How far beyond the proven number may be tried at once; each success adds one, so it doubles by the round trip. */
  #stride = 1;
  #retryMs = firstRetryMs;
  #retryAt: number | undefined;

  /** `limit`: what another link of the same login has learned. */
  constructor(link: SshLink, now: () => number, limit?: number) {
    this.link = link;
    this.#now = now;
    if (limit !== undefined && limit > 0) this.#limit = this.#most = limit;
  }

  get inUse(): number {
    return this.#open + this.#opening;
  }

  /** How many the server allows; undefined while it has refused none. */
  get limit(): number | undefined {
    return this.#limit;
  }

  get hasRoom(): boolean {
    return this.link.end === undefined && this.inUse < this.#allowed();
  }

  /**
   * When the server may be asked again although nothing of ours has ended: it gives less than it did, or than servers
   * do. A channel that was given up counts for the server until its command ends, and nobody tells us when.
   */
  get retryAt(): number | undefined {
    return this.link.end === undefined ? this.#retryAt : undefined;
  }

  begin(): void {
    if (this.#limit !== undefined && this.inUse >= this.#limit) this.#retryAt = undefined;
    this.#opening += 1;
  }

  opened(): void {
    this.#opening -= 1;
    this.#open += 1;
    if (this.#limit !== undefined && this.#open > this.#limit) this.#unlearn();
    if (this.#open <= this.#most) return;
    this.#most = this.#open;
    if (this.#open > usual) this.#stride += 1;
  }

  refused(): void {
    this.#opening -= 1;
    this.#limit = Math.min(this.#limit ?? Number.POSITIVE_INFINITY, this.#open);
    this.#stride = 1;
    this.#planRetry();
  }

  failed(): void {
    this.#opening -= 1;
    this.#planRetry();
  }

  closed(): void {
    this.#open -= 1;
  }

  #allowed(): number {
    if (this.#limit === undefined) return this.#most < usual ? usual : this.#most + this.#stride;
    return this.#limit + (this.#retryAt !== undefined && this.#now() >= this.#retryAt ? 1 : 0);
  }

  #planRetry(): void {
    if (this.#limit === undefined || this.#limit >= Math.max(usual, this.#most)) return;
    if (this.#retryAt !== undefined && this.#retryAt > this.#now()) return;
    this.#retryAt = this.#now() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }

  /** It gave more than it seemed to allow: let the next refusal say how many. */
  #unlearn(): void {
    this.#limit = undefined;
    this.#retryAt = undefined;
    this.#retryMs = firstRetryMs;
  }
}
