import type { SshLink } from './link.ts';

/** What OpenSSH gives unless told otherwise. More is tried one by one, and then faster. */
const usual = 10;
const firstRetryMs = 100;
const lastRetryMs = 1_000;

/** A channel that was asked for, from the request until its end. */
export interface ChannelSlot {
  /** Closes seen before it was asked for. */
  readonly closes: number;
  /** Of these, the ones the server had surely worked off before it was asked. */
  readonly workedOff: number;
}

/**
 * One link and what is known of how many channels its server allows.
 *
 * A refusal says how many only where nothing ends: the channels that were asked for before the refused one, and are
 * still there, are fewer than the server counted by those that ended meanwhile. It also counts a channel for some time
 * after both sides have closed it (OpenSSH until it has worked off everything that came with the close). So a refusal
 * gives an upper bound, which later refusals lower to the true number; it is never below that.
 */
export class LinkSlots {
  readonly link: SshLink;
  /** Closes the link when it was not needed for a while. */
  idle: Disposable | undefined;
  readonly #now: () => number;
  /** In the order in which they were asked for, which is the order of the answers. */
  readonly #places = new Set<ChannelSlot>();
  #closes = 0;
  #workedOff = 0;
  /** The most channels that the server certainly gave at once. */
  #most = 0;
  /** The most that the server may allow, once it has refused one. */
  #limit: number | undefined;
  /** How far beyond the proven number may be tried at once; each success adds one, so it doubles by the round trip. */
  #stride = 1;
  #retryMs = firstRetryMs;
  #retryAt: number | undefined;

  /** `limit`: what another link of the same login has learned. */
  constructor(link: SshLink, now: () => number, limit?: number) {
    this.link = link;
    this.#now = now;
    // Fewer than usual may be no limit of the server but the rest of what was given up there: that is learned anew.
    if (limit !== undefined && limit >= usual) this.#limit = this.#most = limit;
  }

  get inUse(): number {
    return this.#places.size;
  }

  /** The most the server may allow; undefined while it has refused none. */
  get limit(): number | undefined {
    return this.#limit;
  }

  get hasRoom(): boolean {
    return this.link.end === undefined && this.inUse < this.#allowed();
  }

  /**
   * When the server may be asked again although nothing of ours has ended: it gives less than it did, or than servers
   * do. A channel that was given up counts for the server until its command ends, and it does not say when.
   */
  get retryAt(): number | undefined {
    return this.link.end === undefined ? this.#retryAt : undefined;
  }

  begin(): ChannelSlot {
    if (this.#limit !== undefined && this.inUse >= this.#limit) this.#retryAt = undefined;
    const place = { closes: this.#closes, workedOff: this.#workedOff };
    this.#places.add(place);
    return place;
  }

  opened(place: ChannelSlot): void {
    this.#answered(place);
    const given = this.#before(place) + 1;
    if (this.#limit !== undefined && given > this.#limit) this.#unlearn();
    else this.#planRetry();
    if (given <= this.#most) return;
    this.#most = given;
    if (given > usual) this.#stride += 1;
  }

  refused(place: ChannelSlot): void {
    const counted = this.#before(place) + this.#closes - place.workedOff;
    this.#answered(place);
    this.#places.delete(place);
    this.#limit = Math.min(this.#limit ?? Number.POSITIVE_INFINITY, counted);
    this.#stride = 1;
    this.#planRetry();
  }

  /** It came to nothing, for another reason than too many channels; the server may still count it for a while. */
  failed(place: ChannelSlot): void {
    this.closed(place);
    this.#planRetry();
  }

  closed(place: ChannelSlot): void {
    if (this.#places.delete(place)) this.#closes += 1;
  }

  /** A server that has answered a request has worked off what was sent before it by the next one. */
  #answered({ closes }: ChannelSlot): void {
    this.#workedOff = Math.max(this.#workedOff, closes);
  }

  /** How many that were asked for earlier are still there. */
  #before(place: ChannelSlot): number {
    let count = 0;
    for (const earlier of this.#places) {
      if (earlier === place) break;
      count += 1;
    }
    return count;
  }

  #allowed(): number {
    if (this.#limit === undefined) return this.#most < usual ? usual : this.#most + this.#stride;
    return this.#limit + (this.#retryAt !== undefined && this.#now() >= this.#retryAt ? 1 : 0);
  }

  #planRetry(): void {
    if (this.#limit === undefined || this.#limit >= Math.max(usual, this.#most)) return;
    if (this.#retryAt !== undefined) return;
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
