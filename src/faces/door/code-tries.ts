import type { Clock } from '../../lib/clock.ts';

/** So many wrong codes from one address, */
const mostTries = 5;
/** within this time, and for this long it is told to wait. */
export const codeWaitMs = 15 * 60_000;
const mostAddresses = 1024;

/** Wrong login codes by the address that sent them. */
export class CodeTries {
  readonly #clock: Clock;
  /** When each of the last ones came, by address; the address that tried longest ago comes first. */
  readonly #tries = new Map<string, readonly number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a wrong code. Whether the address has tried too often; past the limit of addresses the oldest is forgotten. */
  add(peer: string): boolean {
    const address = addressOf(peer);
    const since = this.#clock.now() - codeWaitMs;
    const recent = (this.#tries.get(address) ?? []).filter((at) => at > since);
    this.#tries.delete(address);
    this.#tries.set(address, [...recent, this.#clock.now()].slice(-mostTries - 1));
    const [oldest] = this.#tries.keys();
    if (this.#tries.size > mostAddresses && oldest !== undefined) this.#tries.delete(oldest);
    return recent.length >= mostTries;
  }

  /** A good code: the person is there. */
  forget(peer: string): void {
    this.#tries.delete(addressOf(peer));
  }
}

/** Of an address and port. */
export const hostOf = (peer: string): string => peer.slice(0, peer.lastIndexOf(':')).replace(/^::ffff:(?=\d+\.)/i, '');

/** Of IPv6 the network: one machine has all its addresses. */
function addressOf(peer: string): string {
  const host = hostOf(peer);
  return host.includes(':') && host !== '::1' ? host.split(':').slice(0, 4).join(':') : host;
}
