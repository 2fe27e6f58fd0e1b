import type { Clock } from '../../../lib/clock.ts';
import type { Emitter } from '../../../lib/emitter.ts';
import type { OutputEvent } from '../intake.ts';
import type { LastInput } from '../../input/type-ahead.ts';
import { timings } from '../../waiting/timings.ts';

const { echoMs } = timings.reply;

interface ReplyEchoInit {
  readonly clock: Clock;
  readonly output: Pick<Emitter<OutputEvent>, 'on'>;
  readonly lastInput: () => LastInput | undefined;
  readonly type: (bytes: Uint8Array, mayGo: () => boolean) => void;
}

/** So much of an answer tells it from other output. */
const telling = 6;
/** Erases the line that is being typed: in canonical mode, and in the line editors of shells. */
const killLine = Buffer.from('\x15');

/**
 * Takes back a reply that was typed blind and echoed: a terminal that echoes is in canonical mode, its
 * program did not ask, and the answer would be the beginning of the next line.
 */
export class ReplyEcho implements Disposable {
  readonly #init: ReplyEchoInit;
  #awaited = '';
  #seen = '';
  #listening: Disposable | undefined;
  #timer: Disposable | undefined;

  constructor(init: ReplyEchoInit) {
    this.#init = init;
  }

  /** Call it before the answer is typed. */
  expect(answer: Uint8Array): void {
    const { clock, output, lastInput } = this.#init;
    const before = lastInput();
    // What was typed and not entered would be erased with it.
    if (this.#listening || before?.entered === false) return;
    this.#awaited = echoOf(answer).slice(0, telling);
    this.#seen = '';
    this.#listening = output.on(({ bytes }) => this.#hear(bytes, () => lastInput() === before));
    this.#timer = clock.after(echoMs, () => this[Symbol.dispose]());
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    this.#listening = undefined;
    this.#timer = undefined;
  }

  #hear(bytes: Uint8Array, isUntouched: () => boolean): void {
    const text = this.#seen + Buffer.from(bytes).toString('latin1');
    this.#seen = text.slice(1 - this.#awaited.length);
    if (!text.includes(this.#awaited)) return;
    this[Symbol.dispose]();
    this.#init.type(killLine, isUntouched);
  }
}

/** As the driver of a terminal echoes control characters: `^[[?1;2c`. */
const echoOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\0-\x1f]/g, (control) => `^${String.fromCharCode(control.charCodeAt(0) + 64)}`);
