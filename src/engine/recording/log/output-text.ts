import { plainText } from '../../../lib/plain-text.ts';
import type { Pause } from '../../../system/turns.ts';
import { Transcriber } from '../../screen/transcript.ts';
import type { Size } from '../../terminal/channel.ts';
import { AlternateScreens } from './alternate-screens.ts';

const mostChars = 32 << 20;

/** Room for the text of one recording: cursor moves can unfold a few bytes to a whole row. */
export class TextRoom {
  #left: number;

  constructor(chars = mostChars) {
    this.#left = chars;
  }

  /** As much of the text as there is room for. */
  take(text: string): string {
    const taken = text.length <= this.#left ? text : text.slice(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }
}

/** What a stretch of output left on a terminal, fed as it comes: progress bars, wraps and cursor moves read as seen. */
export class OutputText implements Disposable {
  readonly #pause: Pause;
  readonly #room: TextRoom;
  readonly #lines: string[] = [];
  readonly #screens = new AlternateScreens((bytes) => this.#pending.push(bytes));
  readonly #sink = {
    add: (lines: string): void => {
      const text = this.#begun + this.#take(lines);
      this.#begun = '';
      if (text !== '' || this.#leftOut === 0) this.#lines.push(text);
    },
    begin: (part: string): void => {
      this.#begun += this.#take(part);
    },
  };
  #size: Size;
  #transcriber: Transcriber | undefined;
  #begun = '';
  /** Characters for which there was no room. */
  #leftOut = 0;
  #pending: Uint8Array[] = [];

  constructor(size: Size, pause: Pause, room: TextRoom = new TextRoom()) {
    this.#size = size;
    this.#pause = pause;
    this.#room = room;
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
    const text = plainText(this.#lines.join('\n')).text.trimEnd();
    if (this.#leftOut === 0) return text;
    return `${text}${text === '' ? '' : '\n'}[${this.#leftOut} characters are left out]`;
  }

  [Symbol.dispose](): void {
    this.#transcriber?.[Symbol.dispose]();
    this.#transcriber = undefined;
  }

  #take(text: string): string {
    const taken = this.#room.take(text);
    this.#leftOut += text.length - taken.length;
    return taken;
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
