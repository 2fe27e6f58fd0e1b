import type { Signal, Size } from '../../engine/terminal/channel.ts';
import type { FrameLink } from './frame-link.ts';
import { encode } from './messages.ts';

interface Remembered {
  readonly body: Uint8Array;
  readonly offset?: number;
}

/** Requests that are sent again over a new connection, because the far side may not have received them. */
export class RepeatedRequests {
  readonly #link: FrameLink;
  /** With the position of the next input, until the far side has accepted input typed after them. */
  #secrets: { readonly text: Buffer; readonly at: number }[] = [];
  /** The newest of each that may be lost. */
  readonly #remembered = new Map<'meta' | 'snapshot', Remembered>();
  #size: Size | undefined;
  /** The newest last. As in the kernel, a signal that is pending already is not queued twice. */
  readonly #signals = new Set<Signal>();

  constructor(link: FrameLink) {
    this.#link = link;
  }

  conceal(secret: string | Uint8Array, at: number): void {
    const text = Buffer.from(secret);
    this.#secrets.push({ text, at });
    this.#link.send('conceal', text);
  }

  /** Input before this position was accepted. Frames arrive in order, so the secrets sent before it have arrived. */
  accepted(position: number): void {
    if (this.#secrets.length === 0) return;
    for (const { text, at } of this.#secrets) if (at < position) text.fill(0);
    this.#secrets = this.#secrets.filter(({ at }) => at >= position);
  }

  remember(type: 'meta' | 'snapshot', what: Remembered): void {
    if (!this.#link.send(type, what.body, what.offset)) this.#remembered.set(type, what);
  }

  resize(size: Size): void {
    this.#size = size;
    this.#link.send('resize', encode(size));
  }

  kill(signal: Signal): void {
    if (this.#link.send('kill', encode({ signal }))) return;
    // Of STOP and CONT the last one counts.
    this.#signals.delete(signal);
    this.#signals.add(signal);
  }

  /** What comes before repeated input: secrets, which it may contain, and the size it was typed at. */
  repeat(): void {
    for (const { text } of this.#secrets) this.#link.send('conceal', text);
    for (const [type, { body, offset }] of this.#remembered) this.#link.send(type, body, offset);
    this.#remembered.clear();
    if (this.#size) this.#link.send('resize', encode(this.#size));
  }

  repeatSignals(): void {
    for (const signal of this.#signals) this.#link.send('kill', encode({ signal }));
    this.#signals.clear();
  }
}
