import { SequenceReader } from './sequence-reader.ts';

/** Modes of a terminal that are on by default. */
const onByDefault = new Set([7, 8, 25, 1007]);
/** Switching these back would clear the screen (3) or move the cursor (1048). */
const leftAlone = new Set([3, 1048]);
const alternateModes = new Set([47, 1047, 1049]);
/** No program sets more modes, and terminals keep ten titles: more is an attack on our memory. */
const mostModes = 128;
const mostTitles = 10;

/** Sets of the title, colours, links, the shape of the pointer, marks of the shell. The rest can act outside of the terminal. */
const harmlessOsc = new Set('0 1 2 4 8 10 11 12 22 104 110 111 112 133 633'.split(' '));

/**
 * Stands between a session's output and the person's terminal. It drops queries, which the session's own screen has
 * answered already, and everything that reaches past the screen: the clipboard, the printer, files, programmed keys, the window.
 * It remembers what was set, so that detaching can undo it.
 */
export class Relay {
  readonly #reader = new SequenceReader({
    escape: (body) => this.#escape(body),
    csi: (prefix, params, intermediates, final) => this.#csi(prefix, params, intermediates + final),
    osc: (body) => this.#osc(body),
    // Sixel images. Other strings define keys, ask, or are handed on by tmux.
    deviceControl: (header) => /^[\d;]*q$/.test(header),
  });
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
    return Buffer.from(this.#reader.read(Buffer.from(bytes).toString('latin1')), 'latin1');
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

  #escape(body: string): string {
    // DECID asks, `l` and `m` lock memory, a backslash ends a string that was dropped.
    if ('Zlm\\'.includes(body)) return '';
    // Without UTF-8 single bytes begin sequences, which no reader of UTF-8 sees; the other makes keys send such bytes.
    if (body.startsWith('%') || body === ' G') return '';
    if (body === 'c') this.#reset();
    else if (body === '=' || body === '>') this.#note('keypad', body === '=', '\x1b>');
    return `\x1b${body}`;
  }

  #csi(prefix: string, text: string, final: string): string {
    // Colours are most of what programs write.
    if (final === 'm' && prefix === '') return `\x1b[${text}m`;
    const params = text.split(/[;:]/).map(Number);
    const whole = `\x1b[${prefix}${text}${final}`;
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
        // The rest moves and resizes the window, or reports it.
        if (first !== 22 && first !== 23) return '';
        if (first === 22 && this.#titles === mostTitles) return '';
        if (first === 22) this.#titles++;
        // A title it pushed while detached is not on this stack, and the person's own title is not for it.
        if (first === 23 && this.#titles === 0) return '';
        if (first === 23) this.#titles--;
        break;
      default:
        return asksOrPrints(prefix, final) ? '' : whole;
    }
    return whole;
  }

  #osc(text: string): string {
    const [, number = '', rest = ''] = /^(\d+)(?:;(.*))?$/s.exec(text) ?? [];
    if (!harmlessOsc.has(number)) return '';
    if (/^(4|10|11|12|22)$/.test(number) && /(^|;)\?/.test(rest)) return '';
    if (/^(4|10|11|12)$/.test(number)) {
      this.#note(`colour${number}`, true, `\x1b]1${number.padStart(2, '0')}\x1b\\`);
    } else if (number === '8') this.#note('link', !rest.endsWith(';'), '\x1b]8;;\x1b\\');
    return `\x1b]${text}`;
  }

  #mode(mode: number, on: boolean): void {
    if (leftAlone.has(mode)) return;
    // Undone in the order in which they were last set.
    if (!this.#modes.delete(mode) && this.#modes.size === mostModes) return;
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

const pop = (times: number): string => (times > 0 ? `\x1b[<${times}u` : '');

/**
 * Who am I, where is the cursor, is this mode set, what does this rectangle hold: a second answer would be typed into the
 * session. `i` talks to a printer, `$|` and `*|` resize the window.
 */
function asksOrPrints(prefix: string, final: string): boolean {
  if (final === 'n') return prefix !== '>';
  if (final === 'S') return prefix === '?';
  if (final === 'q') return prefix === '>';
  if (['u', 'm', 'f', 'g'].includes(final)) return prefix === '?';
  return ['c', 'i', 'x', '$p', '$u', '$w', '&u', '*y', '"v', "'|", '#|', '#y', '#R', '#S', '$|', '*|'].includes(final);
}
