/** An escape sequence whose end has not arrived is waited for, up to this many characters. */
const longestSequence = 8192;
/** What is kept of text already looked at, for matches that began in it. */
const overlap = 4096;
/** Spinners go back by one, few programs by more. */
const mostBackspaces = 8;

const sequence = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/g;
/** The beginning of one, at the end of the text. */
const partial = /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;

/**
 * Output as text while it flows, without a screen: nothing that scrolls past is missed, however fast. What moves the
 * cursor becomes blanks or a new line, so that words keep apart as they do on the screen.
 */
export class PrintedText {
  readonly #decoder = new TextDecoder('utf-8');
  #held = '';
  #text = '';

  /** The newest text, the end of what was looked at before included. */
  get text(): string {
    return this.#text;
  }

  feed(bytes: Uint8Array): void {
    const raw = this.#held + this.#decoder.decode(bytes, { stream: true });
    const tail = partial.exec(raw.slice(-longestSequence))?.[0].length ?? 0;
    // A carriage return may be the first half of a line's end.
    const cut = raw.length - (tail > 0 ? tail : raw.endsWith('\r') ? 1 : 0);
    this.#held = raw.slice(cut);
    this.#text = lastLines(this.#text) + plain(raw.slice(0, cut));
  }
}

function lastLines(text: string): string {
  if (text.length <= overlap) return text;
  const line = text.indexOf('\n', text.length - overlap);
  return line === -1 ? text.slice(-overlap) : text.slice(line + 1);
}

function plain(raw: string): string {
  let text = raw;
  if (text.includes('\x1b'))
    text = text.replace(sequence, (_, params: string | undefined, final: string) => moved(params, final));
  // A run of carriage returns is looked at from its first one only: from each it would take the square of its length.
  text = text.replace(/(?<!\r)\r+\n|\r/g, '\n');
  for (let times = 0; times < mostBackspaces && text.includes('\b'); times++) text = text.replace(/[^\n\x08]\x08/g, '');
  return text.replace(/[\0-\x08\x0b-\x1f\x7f]/g, '');
}

function moved(params: string | undefined, final: string | undefined): string {
  if (final === 'C') return ' '.repeat(Math.min(Number.parseInt(params ?? '', 10) || 1, 200));
  return final !== undefined && 'ABEFHdf'.includes(final) ? '\n' : '';
}
