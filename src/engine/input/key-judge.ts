import type { Screen } from '../screen/screen.ts';
import {
  changedLine,
  emptyLine,
  type JudgeTyped,
  lineAfter,
  type TypedAs,
  typeKeys,
  type TypedLine,
} from './typed-line.ts';

export interface KeyJudgeInit {
  /** The judge of lines at present; undefined: every line may be entered. */
  readonly judge: (() => JudgeTyped | undefined) | undefined;
  /** Knows whether the program takes bracketed pastes. */
  readonly screen: Pick<Screen, 'modes'>;
  /** A previous process may have typed before. */
  readonly begun: boolean;
}

/** Follows the line that stands at the keyboard, and asks the policy before it is entered. */
export class KeyJudge {
  readonly #init: KeyJudgeInit;
  /** What was typed since the last line end. */
  #line: TypedLine;

  constructor(init: KeyJudgeInit) {
    this.#init = init;
    this.#line = init.begun ? changedLine : emptyLine;
  }

  get isAsked(): boolean {
    return this.#init.judge?.() !== undefined;
  }

  /** Throws if policy would refuse these keys. Call it before splitting a line over several writes. */
  check(keys: string): void {
    const judge = this.#init.judge?.();
    if (judge) lineAfter(this.#line, { keys, as: 'keys', pastes: this.#pastes }, judge);
  }

  /** Throws if policy refuses these bytes, whose turn has come. Call the answer once they have arrived. */
  judged(bytes: Uint8Array, as: TypedAs): () => void {
    const judge = this.#init.judge?.();
    const before = this.#line;
    const pastes = this.#pastes;
    const after = (): TypedLine => lineAfter(before, { keys: Buffer.from(bytes).toString(), as, pastes }, judge);
    const allowed = judge && after();
    // Until they have arrived it is unknown how much of them does.
    this.#line = changedLine;
    return () => {
      // Without a judge, the program has them before they are looked at.
      this.#line = allowed ?? after();
    };
  }

  /** A secret is a person's, and never becomes a string: that could not be overwritten. */
  unjudged(bytes: Uint8Array): () => void {
    const entered = bytes.at(-1) === 13 || bytes.at(-1) === 10;
    this.#line = changedLine;
    return () => {
      if (entered) this.#line = emptyLine;
    };
  }

  /** Ctrl-C drops the line; behind Ctrl-V, or in a paste, it drops nothing. */
  interrupted(bytes: Uint8Array): void {
    this.#line = typeKeys(this.#line, Buffer.from(bytes).toString('latin1'), false).line;
  }

  get #pastes(): boolean {
    return this.#init.screen.modes.bracketedPaste;
  }
}
