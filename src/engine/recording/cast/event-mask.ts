import type { Redactor } from '../../redaction/redactor.ts';
import type { RedactedPiece, StreamRedactor } from '../../redaction/stream-redactor.ts';
import type { Size } from '../../terminal/channel.ts';
import { type CastEvent, parseSize } from './cast-reader.ts';

/** An event as it may be shown, however the cast was recorded. */
export type MaskedEvent = Pick<CastEvent, 'atMs' | 'code' | 'data'>;

interface Moment {
  readonly atMs: number;
  /** An event between two pieces of output. */
  readonly between?: MaskedEvent;
}

/**
 * Masks the events of a cast. Output keeps its times, but comes out when its line is complete. Typed input is left out: a secret
 * typed key by key cannot be told from other keys.
 */
export class EventMask {
  readonly #redactor: Redactor;
  readonly #output: StreamRedactor<Moment>;
  #labels = 0;

  constructor(redactor: Redactor, { cols }: Size) {
    this.#redactor = redactor;
    this.#output = redactor.stream<Moment>({ cols });
  }

  /** Masks put in so far. */
  get count(): number {
    return this.#output.count + this.#labels;
  }

  /** Nothing is held or remembered: a new mask that is given the rest makes the same of it. */
  get isFresh(): boolean {
    return this.#output.isFresh;
  }

  push({ atMs, code, data }: MaskedEvent): MaskedEvent[] {
    if (code === 'o') return data === '' ? [] : released(this.#output.push(data, { atMs }));
    if (code === 'i') return [];
    const size = code === 'r' ? parseSize(data) : undefined;
    const between = { atMs, code, data: size === undefined ? this.#label(data) : data };
    const pieces = this.#output.push('', { atMs, between });
    if (size !== undefined) this.#output.resize(size.cols);
    return released(pieces);
  }

  /** What is held, because nothing comes for now. A secret that is completed later is still masked. */
  flush(): MaskedEvent[] {
    return released(this.#output.flush());
  }

  /** The rest, once nothing more can come. */
  end(): MaskedEvent[] {
    return released(this.#output.end());
  }

  #label(text: string): string {
    const masked = this.#redactor.redactText(text);
    this.#labels += masked.count;
    return masked.text;
  }
}

const released = (pieces: readonly RedactedPiece<Moment>[]): MaskedEvent[] =>
  pieces.map(({ text, tag }) => tag.between ?? { atMs: tag.atMs, code: 'o', data: text });
