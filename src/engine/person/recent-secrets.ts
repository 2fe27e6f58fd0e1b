import type { Clock } from '../../lib/clock.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import { wipeable } from '../../system/wipeable.ts';

/** A program that shows a secret it was given does so soon; later the same letters are more likely a word. */
const rememberMs = 5 * 60_000;
const most = 16;
/** Shorter ones would mask ordinary text. */
const shortest = 4;
/** Output that ends like the beginning of a secret waits this long for the rest. */
const holdMs = 20;
const mask = Buffer.from('•••');

interface Secret {
  readonly value: Buffer;
  readonly until: number;
}

interface RecentSecretsOptions {
  readonly clock: Clock;
  /** Takes output that was held back. */
  readonly release: (bytes: Uint8Array) => void;
}

/**
 * What a person typed as a secret, for a few minutes and in memory only. Should a program print it, it is masked before
 * anything else sees the output: log, screen, recordings and their readers.
 */
export class RecentSecrets implements Disposable {
  readonly #options: RecentSecretsOptions;
  #secrets: Secret[] = [];
  #forgetting: Disposable | undefined;
  #held: Buffer = Buffer.alloc(0);
  #holding: (Deferred<void> & { readonly timer: Disposable }) | undefined;

  constructor(options: RecentSecretsOptions) {
    this.#options = options;
  }

  /** False costs nothing: then output need not pass through here. */
  get active(): boolean {
    this.#forget();
    return this.#secrets.length > 0 || this.#held.length > 0;
  }

  /** For how long it is at most, if no more is added. */
  get activeMs(): number {
    const until = Math.max(0, ...this.#secrets.map(({ until }) => until));
    return Math.max(0, until - this.#options.clock.monotonic()) + holdMs;
  }

  /** For a successor process. */
  get values(): readonly Uint8Array[] {
    return this.#secrets.map(({ value }) => value);
  }

  /** Settles when nothing is held back any more, after some milliseconds at most. */
  get released(): Promise<void> | undefined {
    return this.#holding?.promise;
  }

  /** Keeps a copy of its own of each line, and overwrites it when its time is over. */
  add(text: string | Uint8Array): void {
    const until = this.#options.clock.monotonic() + rememberMs;
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.findIndex((byte, at) => at >= from && (byte === 13 || byte === 10));
      const to = end === -1 ? bytes.length : end;
      if (to - from >= shortest) {
        const value = wipeable(to - from);
        value.set(bytes.subarray(from, to));
        this.#secrets.push({ value, until });
      }
      from = to + 1;
    }
    const oldest = this.#secrets.toSorted((a, b) => a.until - b.until).slice(0, -most);
    this.#drop((one) => oldest.includes(one));
    this.#secrets.sort((a, b) => b.value.length - a.value.length);
    this.#forgetting?.[Symbol.dispose]();
    this.#forgetting =
      this.#secrets.length > 0 ? this.#options.clock.after(rememberMs, () => this.#forget()) : undefined;
  }

  /** The output without secrets; its end may be held back until more comes. */
  mask(bytes: Uint8Array): Uint8Array {
    this.#forget();
    let output: Buffer = this.#held.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes]);
    this.#letGo();
    for (const { value } of this.#secrets) output = replaced(output, value);
    const cut = output.length - Math.max(0, ...this.#secrets.map(({ value }) => begun(output, value)));
    if (cut < output.length) this.#hold(output.subarray(cut));
    return output.subarray(0, cut);
  }

  /** What was held back, when the output is over. */
  rest(): Uint8Array {
    const held = this.#held;
    this.#letGo();
    return held;
  }

  [Symbol.dispose](): void {
    this.#letGo();
    this.#forgetting?.[Symbol.dispose]();
    this.#drop(() => true);
  }

  #forget(): void {
    if (this.#secrets.length === 0) return;
    const now = this.#options.clock.monotonic();
    this.#drop(({ until }) => until <= now);
  }

  #drop(goes: (one: Secret) => boolean): void {
    for (const one of this.#secrets) if (goes(one)) one.value.fill(0);
    this.#secrets = this.#secrets.filter(({ value }) => value.some((byte) => byte !== 0));
  }

  #hold(bytes: Buffer): void {
    this.#held = bytes;
    const timer = this.#options.clock.after(holdMs, () => {
      const holding = this.#holding;
      this.#options.release(this.rest());
      holding?.resolve();
    });
    this.#holding = { ...deferred(), timer };
  }

  #letGo(): void {
    this.#held = Buffer.alloc(0);
    this.#holding?.timer[Symbol.dispose]();
    this.#holding?.resolve();
    this.#holding = undefined;
  }
}

function replaced(output: Buffer, value: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = output.indexOf(value); at >= 0; at = output.indexOf(value, from)) {
    pieces.push(output.subarray(from, at), mask);
    from = at + value.length;
  }
  return from === 0 ? output : Buffer.concat([...pieces, output.subarray(from)]);
}

/** How many bytes at the end of the output are the beginning of the value. */
function begun(output: Buffer, value: Buffer): number {
  for (let length = Math.min(value.length - 1, output.length); length > 0; length--) {
    if (output.subarray(output.length - length).equals(value.subarray(0, length))) return length;
  }
  return 0;
}
