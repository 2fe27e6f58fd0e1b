/** Modes a terminal has on when nobody asked for anything. */
const onByDefault = new Set([7, 8, 25, 1007]);
/** Switching these back would clear the screen (3) or move the cursor (1048). */
const leftAlone = new Set([3, 1048]);
const alternateModes = new Set([47, 1047, 1049]);

/** An unfinished sequence is held back until the rest comes; one longer than this is an image and goes on its way. */
const mostHeld = 4096;

const sequences =
  /\x1b(?:\[([<-?]?)([\d:;]*)([ -/]*)([@-~])|\]([^\x07\x1b]*)(?:\x07|\x1b\\)|P([^\x1b]*)\x1b\\|([=>c]))|\x05/g;
const unfinished = /\x1b(?:\[[0-?]*[ -/]*|[\]P][^\x07\x1b]*\x1b?)?$/;

/**
 * Between a session's output and the terminal of the person who sits in it. It leaves out questions that the session's
 * own screen has answered already, and remembers what was set, so that leaving can undo it.
 */
export class Relay {
  #held = '';
  readonly #modes = new Map<number, boolean>();
  /** Pushed keyboard modes, on the normal and on the alternate screen. */
  readonly #keyboards = { normal: 0, alternate: 0 };
  /** Titles the program put aside and has not fetched back. */
  #titles = 0;
  /** What undoes the rest, by what it undoes. */
  readonly #undo = new Map<string, string>();

  /** Comes before everything else: puts the person's own title aside. */
  readonly start = '\x1b[22;0t';

  /** What the person's terminal is to get of these bytes. */
  pass(bytes: Uint8Array): Buffer {
    const text = this.#held + Buffer.from(bytes).toString('latin1');
    const tail = unfinished.exec(text)?.[0] ?? '';
    this.#held = tail.length > mostHeld ? '' : tail;
    const whole = text.slice(0, text.length - this.#held.length);
    return Buffer.from(
      whole.replace(sequences, (...match) => this.#sequence(match as Match)),
      'latin1',
    );
  }

  /** Makes the terminal as it was before the first byte, but for what is written on it. */
  undo(): string {
    let text = '\x1b[0m\x0f\x1b(B';
    if (this.#isAlternate) text += pop(this.#keyboards.alternate);
    for (const [mode, on] of this.#modes) {
      if (on !== onByDefault.has(mode)) text += `\x1b[?${mode}${on ? 'l' : 'h'}`;
    }
    text += [...this.#undo.values()].join('') + pop(this.#keyboards.normal);
    return text + '\x1b[23;0t'.repeat(this.#titles + 1);
  }

  get #isAlternate(): boolean {
    return [...alternateModes].some((mode) => this.#modes.get(mode) === true);
  }

  #sequence([whole, prefix = '', params = '', between = '', final, osc, dcs, plain]: Match): string {
    if (final !== undefined) return this.#csi(whole, prefix, params.split(/[;:]/).map(Number), `${between}${final}`);
    if (osc !== undefined) return this.#osc(whole, osc);
    if (dcs !== undefined) return dcs.startsWith('$q') ? '' : whole;
    if (plain === 'c') this.#reset();
    else if (plain !== undefined) this.#note('keypad', plain === '=', '\x1b>');
    return plain === undefined ? '' : whole;
  }

  #csi(whole: string, prefix: string, params: readonly number[], final: string): string {
    const [first = 0, second = 0] = params;
    switch (prefix + final) {
      case '?h':
      case '?l':
        for (const mode of params) this.#mode(mode, final === 'h');
        break;
      case 'h':
      case 'l':
        for (const mode of params) if (mode === 4 || mode === 20) this.#note(`${mode}`, final === 'h', `\x1b[${mode}l`);
        break;
      case 'r':
        // Without margins the cursor goes home; where it is now it shall stay.
        this.#note('margins', first + second > 0, '\x1b7\x1b[r\x1b8');
        break;
      case ' q':
        this.#note('cursor', first !== 0, '\x1b[0 q');
        break;
      case '>m':
        if (first === 4) this.#note('otherKeys', second !== 0, '\x1b[>4m');
        break;
      case '>u':
      case '<u':
        this.#keyboard(prefix === '>' ? 1 : -Math.max(1, first));
        break;
      case '=u':
        this.#note('keyboard', first !== 0, '\x1b[=0u');
        break;
      case 't':
        if (first === 14 || first === 16 || first === 18) return '';
        if (first === 22) this.#titles++;
        // One it put aside while nobody sat here is not there, and the person's own is not for it.
        if (first === 23 && this.#titles === 0) return '';
        if (first === 23) this.#titles--;
        break;
      default:
        return isAnswered(prefix, first, final) ? '' : whole;
    }
    return whole;
  }

  #osc(whole: string, text: string): string {
    const [, number = '', rest = ''] = /^(\d+);?(.*)$/s.exec(text) ?? [];
    if (/^(4|10|11|12)$/.test(number)) {
      if (/(^|;)\?/.test(rest)) return '';
      this.#note(`colour${number}`, true, `\x1b]1${number.padStart(2, '0')}\x1b\\`);
    } else if (number === '8') this.#note('link', !rest.endsWith(';'), '\x1b]8;;\x1b\\');
    return whole;
  }

  #mode(mode: number, on: boolean): void {
    if (leftAlone.has(mode)) return;
    // Undone in the order in which they were last set.
    this.#modes.delete(mode);
    this.#modes.set(mode, on);
  }

  #keyboard(by: number): void {
    const screen = this.#isAlternate ? 'alternate' : 'normal';
    this.#keyboards[screen] = Math.max(0, this.#keyboards[screen] + by);
  }

  #note(what: string, on: boolean, undo: string): void {
    if (on) this.#undo.set(what, undo);
    else this.#undo.delete(what);
  }

  #reset(): void {
    this.#modes.clear();
    this.#undo.clear();
    this.#keyboards.normal = this.#keyboards.alternate = this.#titles = 0;
  }
}

type Match = readonly (string | undefined)[] & readonly [string, ...(string | undefined)[]];

const pop = (times: number): string => (times > 0 ? `\x1b[<${times}u` : '');

/** Who am I, where is the cursor, is this mode set: the session's screen has answered, and a second answer would be typed. */
function isAnswered(prefix: string, first: number, final: string): boolean {
  if (final === 'c') return true;
  if (final === 'n') return prefix !== '>' && (first === 5 || first === 6);
  return final === '$p' || (prefix === '>' && final === 'q');
}
