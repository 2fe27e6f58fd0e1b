import { kindOf } from './variables.ts';
import { decodeAnsi, type WordDraft, newDraft, unknown, type Word } from './word.ts';

/** Input written in the line itself: here-documents and here-strings, in order. */
export interface StdinText {
  text: string;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  /** Its input comes from the command before. */
  readonly piped: boolean;
  readonly stdin: StdinText | undefined;
  /** It reads a file that is named. */
  readonly readsFile: boolean;
  /** A redirection replaces its standard input. */
  readonly redirected: boolean;
  /** An array element or a part of `[[ … ]]`: no command in bash, but judged, because other shells may run it. */
  readonly data: boolean;
}

export interface FoundCommands {
  readonly commands: SimpleCommand[];
  readonly problems: string[];
  /** At a prompt, where `!` and `^` bring back older lines. */
  readonly typed: boolean;
}

const deepest = 30;
/** More commands than any honest line has. */
export const mostCommandsOfLine = 2000;
const mostSubstitutions = 20;
const mostProblems = 20;
export const openParen = '(';
export const space = /[^\S\n]/;
/** Characters after which `!` recalls an older line. */
const older = /[\w!$?#*^:%/.~@-]/;

/** Reads a word with its quotes, variables and substitutions. Subclasses read what words form. */
export abstract class WordReader {
  protected readonly text: string;
  protected readonly found: FoundCommands;
  protected readonly depth: number;
  protected at = 0;
  protected word: WordDraft | undefined;

  constructor(text: string, found: FoundCommands, depth: number) {
    this.text = text;
    this.found = found;
    this.depth = depth;
    if (depth > deepest) {
      found.problems.push('it is nested too deeply');
      this.at = text.length;
    }
  }

  /** Reads to the closing character, or the end of the text. Returns where it stopped. */
  abstract list(closing: ')' | undefined): number;
  protected abstract endWord(): void;
  /** A reader one level deeper that shares its findings. */
  protected abstract inner(text: string, found?: FoundCommands): WordReader;

  protected problem(reason: string): void {
    if (this.found.problems.length < mostProblems) this.found.problems.push(reason);
  }

  protected push(command: SimpleCommand): void {
    if (this.found.commands.length < mostCommandsOfLine) this.found.commands.push(command);
  }

  /** From a `(` to its `)`: commands. */
  protected inside(): void {
    this.at += 1;
    this.at += this.inner(this.text.slice(this.at)).list(')');
  }

  /** Text that only some shells take for commands: its commands count, its faults do not. */
  protected perhaps(text: string, data: boolean): void {
    const found: FoundCommands = { commands: [], problems: [], typed: false };
    this.inner(text, found).list(undefined);
    for (const command of found.commands) this.push({ ...command, data });
  }

  /** Text in which only `$` and backquotes are special. */
  protected expand(body: string): string {
    const reader = this.inner(body, { ...this.found, typed: false });
    reader.word = newDraft();
    while (reader.at < body.length) reader.#inQuotes(body[reader.at] as string);
    return reader.word.text;
  }

  protected processSubstitution(): void {
    this.at += 1;
    this.inside();
    this.add(unknown, false);
    if (this.word !== undefined) this.word.marks = `${this.word.marks.slice(0, -1)}s`;
  }

  protected piece(char: string): void {
    if (char === '\\') return this.#escaped();
    if (char === "'") return this.#single();
    if (char === '"') return this.#double();
    if (char === '$') return this.#dollar(false);
    if (char === '`') return this.#backquotes(false);
    if (char === '!') this.#bang();
    this.add(char, false);
    this.at += 1;
  }

  protected add(text: string, quoted: boolean): void {
    this.word ??= newDraft();
    this.word.text += text;
    this.word.marks += (quoted ? 'q' : 'u').repeat(text.length);
    this.word.quoted ||= quoted;
  }

  /** From after `((` to the second of `))`. */
  protected arithmetic(from: number, end: number): void {
    const inner = this.text.slice(from, end - 1);
    if (/['\\]|"[^"]*[()]/.test(inner)) this.problem('its arithmetic is not clear');
    this.at = end + 1;
    if (/[$`]/.test(inner)) this.expand(inner);
  }

  /** At a prompt, `!` and what follows become an older line. `[!a]` does not. */
  #bang(): void {
    if (!this.found.typed || !older.test(this.text[this.at + 1] ?? '')) return;
    if (this.text[this.at - 1] === '[' && this.text.slice(this.at, this.at + 64).includes(']')) return;
    this.problem('it brings back an older line (!)');
  }

  #escaped(): void {
    const next = this.text[this.at + 1];
    this.at += 2;
    if (next === undefined) return this.problem('it ends in a backslash');
    // fish decodes these to other letters, and so to other words.
    if (/[xXuUc0-7]/.test(next)) this.problem(`shells differ in what they make of "\\${next}"; put it in quotes`);
    if (next !== '\n') this.add(next, true);
  }

  #single(): void {
    const end = this.text.indexOf("'", this.at + 1);
    if (end === -1) return this.#unfinished("'");
    const inner = this.text.slice(this.at + 1, end);
    // To fish the quote goes on.
    if ((/\\*$/.exec(inner.slice(-1000))?.[0].length ?? 0) % 2 === 1)
      this.problem('shells differ in where a quote that ends in a backslash ends; use double quotes');
    this.add(inner, true);
    this.at = end + 1;
  }

  #double(): void {
    this.add('', true);
    this.at += 1;
    while (this.at < this.text.length) {
      const char = this.text[this.at] as string;
      if (char === '"') {
        this.at += 1;
        return;
      }
      this.#inQuotes(char);
    }
    this.#unfinished('"');
  }

  #inQuotes(char: string): void {
    if (char === '\\') {
      const next = this.text[this.at + 1] ?? '';
      this.at += 2;
      if (next !== '\n') this.add('$`"\\'.includes(next) ? next : `\\${next}`, true);
    } else if (char === '$') this.#dollar(true);
    else if (char === '`') this.#backquotes(true);
    else {
      if (char === '!') this.#bang();
      this.add(char, true);
      this.at += 1;
    }
  }

  #dollar(quoted: boolean): void {
    const next = this.text[this.at + 1];
    if (!quoted && next === "'") return this.#ansi();
    if (!quoted && next === '"') {
      this.at += 1;
      return this.#double();
    }
    if (next === openParen) {
      const end = this.text[this.at + 2] === openParen ? arithmeticEnd(this.text, this.at + 3) : undefined;
      this.at += 1;
      if (end === undefined) this.inside();
      else this.arithmetic(this.at + 2, end);
      return this.add(unknown, quoted);
    }
    if (next === '{') return this.#braces(quoted);
    // zsh: the value of a variable, split into words (`$=x`), as a pattern (`$~x`) or with what is around it (`$^x`).
    const flags = /^\$[=~^+]+(?=[A-Za-z_{])/.exec(this.text.slice(this.at, this.at + 8))?.[0];
    if (flags !== undefined) {
      this.at += flags.length;
      return this.add(unknown, quoted);
    }
    const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!_-])/.exec(this.text.slice(this.at + 1))?.[0];
    this.at += 1 + (name?.length ?? 0);
    if (name === undefined) this.add('$', quoted);
    else this.#variable(name, quoted);
  }

  /** Unquoted, `$IFS` is white space: the classic way to write a blank without one. */
  #variable(name: string, quoted: boolean): void {
    if (name === 'IFS' && !quoted) this.endWord();
    else this.add(unknown, quoted);
  }

  #braces(quoted: boolean): void {
    let depth = 0;
    const from = this.at + 2;
    for (let at = this.at + 1; at < this.text.length; at += 1) {
      const char = this.text[at];
      if (char === '\\') at += 1;
      else if (char === '{') depth += 1;
      else if (char === '}' && --depth === 0) {
        const inner = this.text.slice(from, at);
        this.at = at + 1;
        this.#insideBraces(inner);
        return this.#variable(/^IFS(?![A-Za-z0-9_])/.test(inner) ? 'IFS' : 'x', quoted);
      }
    }
    this.#unfinished('${');
  }

  #insideBraces(inner: string): void {
    if (inner.startsWith(openParen) || /@[A-Za-z]*P(?:\}|$)/.test(inner)) {
      this.problem('the value of a variable would be run');
    }
    const [, name] = /^(!?[A-Za-z_]\w*)(?:\[[^\]]*\])?:{0,2}=/.exec(inner) ?? [];
    if (name !== undefined && (name.startsWith('!') || kindOf(name) !== undefined))
      this.problem(`\${…=…} would set ${name}, which may decide what is run; assign it as NAME=value`);
    if (/\$[({]|`/.test(inner)) this.expand(inner);
    let left = mostSubstitutions;
    for (const { index } of inner.matchAll(/[<>=]\(/g)) {
      if (left-- === 0) return this.problem('it holds too many substitutions');
      this.inner(inner.slice(index + 2)).list(')');
    }
  }

  #backquotes(quoted: boolean): void {
    let inner = '';
    for (let at = this.at + 1; at < this.text.length; at += 1) {
      const char = this.text[at] as string;
      const next = this.text[at + 1] ?? ' ';
      if (char === '\\' && ('`\\$'.includes(next) || (quoted && next === '"'))) inner += this.text[++at];
      else if (char === '`') {
        this.inner(inner).list(undefined);
        this.at = at + 1;
        return this.add(unknown, quoted);
      } else inner += char;
    }
    this.#unfinished('`');
  }

  #ansi(): void {
    const match = /^\$'((?:[^'\\]|\\.)*)'/s.exec(this.text.slice(this.at));
    if (!match) return this.#unfinished("$'");
    this.at += match[0].length;
    this.add(decodeAnsi(match[1] ?? ''), true);
  }

  #unfinished(what: string): void {
    this.problem(`a ${what} is never closed`);
    this.at = this.text.length;
  }
}

/** Where the second `)` of `))` stands, for arithmetic whose inside begins at `from`. Undefined: it is not arithmetic. */
export function arithmeticEnd(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') {
      if (depth === 0) return text[at + 1] === ')' ? at + 1 : undefined;
      depth -= 1;
    }
  }
  return undefined;
}
