import { plainText } from '../../../lib/plain-text.ts';
import type { Pause } from '../../../system/turns.ts';
import { Transcriber } from '../../screen/transcript.ts';
import type { Size } from '../../terminal/channel.ts';
import { AlternateScreens } from './alternate-screens.ts';

/** What a stretch of output left on a terminal, fed as it comes: progress bars, wraps and cursor moves read as seen. */
export class OutputText implements Disposable {
  readonly #pause: Pause;
  readonly #lines: string[] = [];
  readonly #screens = new AlternateScreens((bytes) => this.#pending.push(bytes));
  readonly #sink = {
    add: (lines: string): void => {
      this.#lines.push(this.#begun + lines);
      this.#begun = '';
    },
    begin: (part: string): void => {
      this.#begun += part;
    },
  };
  #size: Size;
  #transcriber: Transcriber | undefined;
  #begun = '';
  #pending: Uint8Array[] = [];

  constructor(size: Size, pause: Pause) {
    this.#size = size;
    this.#pause = pause;
  }

  async output(bytes: Buffer, micros: number): Promise<void> {
    this.#screens.output(bytes, micros);
    await this.#drain();
  }

  /** A full-screen program has the screen already. */
  alternate(micros: number): void {
    this.#screens.enter(micros);
  }

  /** What was printed so far keeps the shape it had. */
  resize(size: Size): void {
    this.#close();
    this.#size = size;
  }

  /** All of it: long lines in one piece, without blank lines at the end. Nothing may follow. */
  async end(micros: number): Promise<string> {
    this.#screens.end(micros);
    await this.#drain();
    this.#close();
    return plainText(this.#lines.join('\n')).text.trimEnd();
  }

  [Symbol.dispose](): void {
    this.#transcriber?.[Symbol.dispose]();
    this.#transcriber = undefined;
  }

  async #drain(): Promise<void> {
    for (const bytes of this.#pending.splice(0)) {
      const transcriber = (this.#transcriber ??= new Transcriber(this.#size, this.#sink));
      for (const _step of transcriber.steps(bytes)) await this.#pause();
    }
  }

  #close(): void {
    this.#transcriber?.rest(this.#sink);
    this[Symbol.dispose]();
  }
}
