import { type StdinText, type SimpleCommand, space, WordReader } from './shell-words.ts';
import { type WordDraft, isStream, newDraft, unknown } from './word.ts';

interface Document {
  readonly end: string;
  readonly tabs: boolean;
  readonly quoted: boolean;
  readonly to: StdinText;
}

/** What a command reads, according to its redirections. */
type Input = Pick<SimpleCommand, 'stdin' | 'readsFile' | 'redirected'>;

/** Reads redirections, and the here-documents they announce. */
export abstract class RedirectionReader extends WordReader {
  #stdin: StdinText | undefined;
  #readsFile = false;
  #redirected = false;
  /** Here-documents whose text begins after the next newline. */
  readonly #pending: Document[] = [];

  protected get awaitsDocument(): boolean {
    return this.#pending.length > 0;
  }

  /** At the beginning of a line. */
  protected readDocuments(): void {
    for (const document of this.#pending.splice(0)) this.#readDocument(document);
  }

  /** Of the command that ends here; the next one begins with nothing. */
  protected takeInput(): Input {
    const input = { stdin: this.#stdin, readsFile: this.#readsFile, redirected: this.#redirected };
    this.#stdin = undefined;
    this.#readsFile = false;
    this.#redirected = false;
    return input;
  }

  /** An operator and what it names. */
  protected redirect(char: string): void {
    const { word } = this;
    const names = word !== undefined && !word.quoted && /^(?:\d+|\{[A-Za-z_]\w*(?:\[[^\]]*\])?\})$/.test(word.text);
    if (names) this.word = undefined;
    else this.endWord();
    const operator = /^(?:<<<|<<-|<<|<>|<&|>>|>&|>\||[<>])/.exec(this.text.slice(this.at, this.at + 3))?.[0] ?? char;
    this.at += operator.length;
    if (names ? word.text === '0' : operator.startsWith('<')) this.#redirected = true;
    while (this.at < this.text.length && space.test(this.text[this.at] as string)) this.at += 1;
    const from = this.at;
    const target = this.#target();
    if (operator === '<<<') this.#given().text += `${target.text}\n`;
    else if (operator === '<<' || operator === '<<-') {
      if (/[$`]/.test(this.text.slice(from, this.at))) this.problem('it is unknown where a here-document ends');
      this.#pending.push({ end: target.text, tabs: operator === '<<-', quoted: target.quoted, to: this.#given() });
    } else if (operator === '<&') this.#given().text += unknown;
    else if (operator.startsWith('<')) {
      if (target.text.includes(unknown) || isStream(target.text)) this.#given().text += unknown;
      else this.#readsFile = true;
    }
  }

  #given(): StdinText {
    this.#stdin ??= { text: '' };
    return this.#stdin;
  }

  #target(): WordDraft {
    this.word = undefined;
    if (/^[<>]\(/.test(this.text.slice(this.at, this.at + 2))) this.processSubstitution();
    while (this.at < this.text.length) {
      const char = this.text[this.at] as string;
      if (char === '\n' || space.test(char) || ';&|()<>'.includes(char)) break;
      this.piece(char);
    }
    const target = this.word as WordDraft | undefined;
    this.word = undefined;
    return target ?? newDraft();
  }

  #readDocument({ end, tabs, quoted, to }: Document): void {
    const lines: string[] = [];
    let joined = false;
    let ended = false;
    while (this.at < this.text.length) {
      const newline = this.text.indexOf('\n', this.at);
      const stop = newline === -1 ? this.text.length : newline;
      const line = this.text.slice(this.at, stop);
      this.at = Math.min(this.text.length, stop + 1);
      if (!joined && (tabs ? line.replace(/^\t+/, '') : line) === end) {
        ended = true;
        break;
      }
      // A continued line swallows the next one, even if that looks like the delimiter.
      joined = !quoted && (/\\*$/.exec(line.slice(-1000))?.[0].length ?? 0) % 2 === 1;
      lines.push(line);
    }
    if (!ended) this.problem('a here-document has no end; send the command with all its lines');
    const body = `${lines.join('\n')}\n`;
    to.text += quoted ? body : this.expand(body);
  }
}
