/** What a reader of control sequences decides about each: the text that is to stand in its place. */
interface SequenceRules {
  /** ESC, intermediates and a final character: `ESC ( B`, `ESC =`. */
  escape(body: string): string;
  csi(prefix: string, params: string, intermediates: string, final: string): string;
  osc(body: string): string;
  /** True lets a device control string through as it comes, however long it is; `header` is everything up to its final. */
  deviceControl(header: string): boolean;
}

type State = 'ground' | 'escape' | 'csi' | 'osc' | 'dcsHeader' | 'dcsData' | 'swallow';

/** Longer than any title, link or colour. What is longer is dropped, never let through unread. */
const longestBody = 8192;
const longestCsi = 256;

/** ENQ asks for an answer; ESC and C2 may begin a sequence. */
const special = /[\x05\x1b\xc2]/g;
const control = /[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/;
const csiBody = /^([<-?]?)([0-9:;]*)([ -/]*)$/;

/**
 * Splits output into text and control sequences, across any cut, and lets through only what the rules return. A sequence is
 * written once it is whole and well formed, so that no terminal can see another end of it than this reader. Bytes
 * are characters here (latin1), because UTF-8 may be cut anywhere.
 */
export class SequenceReader {
  readonly #rules: SequenceRules;
  #state: State = 'ground';
  #body = '';
  /** ESC inside a string: a backslash behind it ends the string, anything else begins a new sequence. */
  #pending = '';

  constructor(rules: SequenceRules) {
    this.#rules = rules;
  }

  read(input: string): string {
    const text = this.#pending + input;
    this.#pending = '';
    let out = '';
    for (let at = 0; at < text.length; ) {
      if (this.#state === 'ground') {
        special.lastIndex = at;
        const next = special.exec(text)?.index ?? text.length;
        out += text.slice(at, next);
        at = next;
        if (at === text.length) break;
      }
      const char = text.charAt(at);
      if ((char === '\x1b' || char === '\xc2') && at + 1 === text.length && this.#needsMore(char)) {
        this.#pending = char;
        break;
      }
      const [written, used] = this.#step(char, text.charAt(at + 1));
      out += written;
      at += used;
    }
    return out;
  }

  /** Where one character says nothing without the next: half of a C1 control, or of the end of a string. */
  #needsMore(char: string): boolean {
    return char === '\xc2' ? this.#state === 'ground' : this.#isString;
  }

  get #isString(): boolean {
    return this.#state !== 'ground' && this.#state !== 'escape' && this.#state !== 'csi';
  }

  /** What to write for this character, and how many were used. */
  #step(char: string, next: string): readonly [string, number] {
    if (char === '\x1b') return this.#escape(next);
    if (char === '\x18' || char === '\x1a') return [this.#abort() + char, 1];
    switch (this.#state) {
      case 'ground':
        return this.#ground(char, next);
      case 'escape':
        return [this.#inEscape(char), 1];
      case 'csi':
        return [this.#inCsi(char), 1];
      default:
        return [this.#inString(char), 1];
    }
  }

  /**
   * C1 controls in UTF-8 begin sequences on some terminals (C2 9D an OSC), and programs do not need them: they are dropped. C2
   * passes only with its second byte: left alone, it could meet one when what stood between them is dropped.
   */
  #ground(char: string, next: string): readonly [string, number] {
    if (char === '\x05' || next < '\x80' || next > '\xbf') return ['', 1];
    return next <= '\x9f' ? ['', 2] : [char + next, 2];
  }

  #escape(next: string): readonly [string, number] {
    if (this.#isString && next === '\\') return [this.#endString('\x1b\\'), 2];
    const written = this.#abort();
    this.#begin('escape');
    return [written, 1];
  }

  #inEscape(char: string): string {
    if (char < ' ') return char === '\x05' ? '' : char;
    if (this.#body === '') {
      if (char === '[') return this.#begin('csi');
      if (char === ']') return this.#begin('osc');
      if (char === 'P') return this.#begin('dcsHeader');
      if (char === 'X' || char === '^' || char === '_') return this.#begin('swallow');
    }
    if (char <= '/' && this.#body.length < 8) {
      this.#body += char;
      return '';
    }
    const body = this.#body + char;
    this.#begin('ground');
    return char >= '0' && char <= '~' ? this.#rules.escape(body) : '';
  }

  #inCsi(char: string): string {
    // A terminal carries out a control in the middle of a sequence and reads on.
    if (char < ' ') return char === '\x05' ? '' : char;
    if (char < '@') {
      if (this.#body.length < longestCsi) this.#body += char;
      else this.#body = 'too long';
      return '';
    }
    const match = char <= '~' ? csiBody.exec(this.#body) : null;
    this.#begin('ground');
    return match === null ? '' : this.#rules.csi(match[1] ?? '', match[2] ?? '', match[3] ?? '', char);
  }

  #inString(char: string): string {
    if (this.#state === 'dcsData') {
      if ((char >= ' ' && char <= '~') || char === '\n' || char === '\r') return char;
      const closed = this.#abort();
      return closed + (char === '\x05' || char >= '\x80' ? '' : char);
    }
    if (char === '\x07' && this.#state !== 'dcsHeader') return this.#endString('\x07');
    if (this.#state === 'swallow') return '';
    this.#body += char;
    if (this.#body.length > longestBody) return this.#begin('swallow');
    if (this.#state === 'dcsHeader' && !(char >= ' ' && char < '@')) return this.#deviceControl();
    return '';
  }

  #deviceControl(): string {
    const header = this.#body;
    if (control.test(header) || !this.#rules.deviceControl(header)) return this.#begin('swallow');
    this.#begin('dcsData');
    return `\x1bP${header}`;
  }

  #endString(terminator: string): string {
    const [state, body] = [this.#state, this.#body];
    this.#begin('ground');
    if (state === 'dcsData') return '\x1b\\';
    if (state !== 'osc' || control.test(body)) return '';
    const kept = this.#rules.osc(body);
    return kept === '' ? '' : kept + terminator;
  }

  /** Leaves the sequence that was begun. What was let through of a string so far is closed. */
  #abort(): string {
    const isOpen = this.#state === 'dcsData';
    this.#begin('ground');
    return isOpen ? '\x1b\\' : '';
  }

  #begin(state: State): '' {
    this.#state = state;
    this.#body = '';
    return '';
  }
}
