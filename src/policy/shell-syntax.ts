import { RedirectionReader } from './shell-redirections.ts';
import {
  arithmeticEnd,
  type FoundCommands,
  type StdinText,
  mostCommandsOfLine,
  openParen,
  type SimpleCommand,
  space,
} from './shell-words.ts';
import { kindOf } from './variables.ts';
import { plain, unknown, type Word, wordsOf } from './word.ts';

/** Reads a command line as a POSIX shell would, far enough to know every command in it, however it is wrapped. */

export interface ParsedLine {
  /** In the order they stand, those inside `$(…)` and the like included. */
  readonly commands: readonly SimpleCommand[];
  /** Why the line is uncertain: an open quote, too deep nesting. */
  readonly problems: readonly string[];
}

/** `typed`: at a prompt, where `!` and `^` bring back older lines. */
export function parseShell(text: string, { typed }: { readonly typed: boolean }): ParsedLine {
  const found: FoundCommands = { commands: [], problems: [], typed };
  new Reader(text.replaceAll(/\r\n?/g, '\n'), found, 0).list(undefined);
  if (found.commands.length >= mostCommandsOfLine) found.problems.push('it holds too many commands');
  return found;
}

/** Words that open and close compound commands, in POSIX shells and in fish. */
const posix = { begins: new Set('if do case {'.split(' ')), ends: new Set('fi done esac }'.split(' ')) };
const fish = { begins: new Set('if while for begin switch function select'.split(' ')), ends: new Set(['end']) };
const reserved = new Set('if then elif else fi while until do done ! { } time coproc'.split(' '));
const heads = new Set(['for', 'select', 'case', 'function']);
const compound = new Set('{ if while until for case select [['.split(' '));
/** No shell ends a line at these characters, but a person reading it may. */
const lineEnds = /[\u0085\u2028\u2029]/;
const assigns = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=$/;

/** One level of a command line: the line itself, or the inside of a substitution. */
class Reader extends RedirectionReader {
  #words: Word[] = [];
  #piped = false;
  #cases = 0;
  /** Between `in` or `;;` and the `)` of a case: patterns, no commands. */
  #inPattern = false;
  /** Between `[[` and `]]`; a shell without `[[` may run its later parts as commands. */
  #inTest = false;
  #testPart = false;
  #inArray = false;
  /** The preceding reserved word, if it changes what may follow. */
  #after = '';
  /** Input of loops and groups. */
  readonly #fed: StdinText[] = [];
  /** Compound commands still open, in either language. */
  #open = { posix: 0, fish: 0 };
  #ends = false;
  /** The last token was an operator: the command continues. */
  #goesOn = false;

  protected override inner(text: string, found: FoundCommands = this.found): Reader {
    return new Reader(text, found, this.depth + 1);
  }

  override list(closing: ')' | undefined): number {
    if (this.depth === 0) this.#lineStart();
    while (this.at < this.text.length && this.found.commands.length < mostCommandsOfLine) {
      const char = this.text[this.at] as string;
      if (char === ')' && closing === ')' && this.#cases === 0 && !this.#inTest) {
        this.#endCommand();
        this.at += 1;
        this.#whole();
        return this.at;
      }
      this.#step(char);
    }
    this.#endCommand();
    if (closing !== undefined) this.problem(`a "${closing}" is missing`);
    this.#whole();
    return this.at;
  }

  /** A line that only begins or ends a command cannot be judged alone. */
  #whole(): void {
    for (const { text } of this.#fed) if (/\$\(|`/.test(text)) this.#value(text);
    if (this.awaitsDocument) this.problem('a here-document has no text; send the command with all its lines');
    const { posix: inPosix, fish: inFish } = this.#open;
    if (this.#goesOn || (this.#ends ? inFish : inPosix) !== 0)
      this.problem('it is only a part of a command; send the command with all its lines');
  }

  #step(char: string): void {
    if (char === '\n' || lineEnds.test(char)) return this.#newline();
    if (space.test(char)) return this.#separate();
    if (char === '#' && this.word === undefined) return this.#comment();
    if (char === ';' || char === '&' || char === '|') return this.#operator(char);
    if (char === openParen) return this.#paren();
    if (char === ')') return this.#closeCase();
    if (char === '<' || char === '>') return this.#redirection(char);
    this.piece(char);
  }

  #separate(): void {
    this.endWord();
    this.at += 1;
    if (this.#inTest && this.#words.at(-1)?.text === '=~') this.#regex();
  }

  #newline(): void {
    if (this.#inArray || this.#inPattern) this.endWord();
    else this.#endCommand();
    this.at += 1;
    this.readDocuments();
    this.#lineStart();
  }

  #lineStart(): void {
    if (this.found.typed && this.text[this.at] === '^') this.problem('it brings back an older line (^)');
  }

  /** A zsh at its prompt knows no comments. */
  #comment(): void {
    const end = this.text.indexOf('\n', this.at);
    const stop = end === -1 ? this.text.length : end;
    const comment = this.text.slice(this.at, stop);
    this.at = stop;
    const first = comment.search(/[;&|]|\$\(|`/);
    if (first !== -1 && this.found.typed) this.perhaps(comment.slice(first), false);
  }

  #operator(char: string): void {
    const from = this.at;
    // `&>file` sends both streams to a file.
    if (char === '&' && this.text[from + 1] === '>') {
      this.at += 1;
      return;
    }
    if (this.#inPattern && char === '|') return this.#dropPattern();
    const goesOn = this.#inTest && char !== ';' && this.text[from + 1] === char;
    this.#endCommand();
    while (this.at < this.text.length && ';&|'.includes(this.text[this.at] as string)) this.at += 1;
    const operator = this.text.slice(from, Math.min(this.at, from + 3));
    this.#piped = operator === '|' || operator === '|&';
    this.#goesOn = /^(?:\|\|?|\|&|&&|&\|)$/.test(operator);
    this.#inTest = goesOn;
    this.#testPart = goesOn;
    if (this.#cases > 0 && /^;[;&|]/.test(operator)) this.#inPattern = true;
  }

  #dropPattern(): void {
    this.word = undefined;
    this.#words = [];
    this.at += 1;
  }

  #paren(): void {
    const { word } = this;
    const count = this.#words.length;
    if (this.#inTest) return this.#separate();
    if (this.#inPattern && word === undefined) {
      this.at += 1;
      return;
    }
    if (word === undefined && (count === 0 || (count === 1 && this.#words[0]?.text === 'for'))) {
      const end = this.text[this.at + 1] === openParen ? arithmeticEnd(this.text, this.at + 2) : undefined;
      if (end !== undefined) return this.#arithmeticCommand(end);
      if (count === 0) return this.inside();
    }
    if (word === undefined && count === 1 && this.#after === 'coproc') {
      this.#dropName();
      return this.inside();
    }
    if (word !== undefined && !word.quoted && assigns.test(word.text)) return this.#array();
    const empty = /^\(\s*\)/.exec(this.text.slice(this.at, this.at + 64));
    this.word = undefined;
    this.#words = [];
    if (empty !== null && count + (word === undefined ? 0 : 1) === 1) {
      // `name ()`: its body follows, and is judged as if it ran.
      this.at += empty[0].length;
      return;
    }
    this.problem('a "(" stands where shells differ');
    this.inside();
  }

  /** `((…))`: two subshells in a shell without arithmetic commands. */
  #arithmeticCommand(end: number): void {
    const from = this.at + 2;
    this.arithmetic(from, end);
    const inner = this.text.slice(from, end - 1);
    const calculates = /^\s*\S*[=+*%<>!~?-]|^\s*\w+\s*(?:$|[-+*/%<>=!&|^?:]+=?\s)/.test(inner);
    if (this.#words.length === 0) return this.perhaps(inner, calculates);
    // `for ((…))` is complete: its body follows, with a "do", in braces or on its own.
    this.#words = [];
  }

  #array(): void {
    const name = this.word?.text ?? '';
    this.word = undefined;
    this.at += 1;
    const inner = this.inner(this.text.slice(this.at));
    inner.#inArray = true;
    this.at += inner.list(')');
    this.#words.push(plain(`${name}(${unknown})`));
  }

  /** `pattern)` of a case: what stands before it is no command. */
  #closeCase(): void {
    if (this.#inTest) return this.#separate();
    if (!this.#inPattern) this.problem('a ")" stands alone');
    this.#inPattern = false;
    this.#dropPattern();
  }

  #redirection(char: string): void {
    if (this.text[this.at + 1] === openParen) return this.processSubstitution();
    if (this.#inTest) {
      this.#separate();
      this.#words.push(plain(char));
      return;
    }
    this.redirect(char);
  }

  /** After `=~`: up to the next blank outside parentheses. */
  #regex(): void {
    let depth = 0;
    while (this.at < this.text.length) {
      const char = this.text[this.at] as string;
      if (char === '\n' || (space.test(char) && depth === 0)) break;
      if (char === openParen) depth += 1;
      else if (char === ')') depth -= 1;
      else if (depth <= 0 && ';&|<>'.includes(char)) return this.problem('a pattern of [[ is not clear');
      if ('();&|<> \t'.includes(char)) {
        this.add(char, true);
        this.at += 1;
      } else this.piece(char);
    }
  }

  protected override endWord(): void {
    const { word } = this;
    this.word = undefined;
    if (word === undefined) return;
    this.#subscript(word.text);
    this.#goesOn = false;
    if (!word.quoted && !this.#inArray && this.#keyword(word.text)) return;
    this.#words.push(...wordsOf(word));
    if (this.#cases > 0 && this.#words.length === 3 && this.#words[0]?.text === 'case' && word.text === 'in') {
      this.#words = [];
      this.#inPattern = true;
    }
  }

  #count(text: string): void {
    if (posix.begins.has(text)) this.#open.posix += 1;
    else if (posix.ends.has(text)) this.#open.posix -= 1;
    if (fish.begins.has(text)) this.#open.fish += 1;
    else if (fish.ends.has(text)) {
      this.#open.fish -= 1;
      this.#ends = true;
    }
  }

  /** Whether the word is syntax rather than a word of a command. */
  #keyword(text: string): boolean {
    const [first] = this.#words;
    if (this.#words.length === 1 && this.#after === 'coproc' && compound.has(text)) this.#dropName();
    else if (this.#words.length === 1 && first?.text === 'function') {
      // `function name`: its body follows.
      this.#words = [];
      return true;
    }
    if (this.#inTest && text === ']]') this.#inTest = false;
    if (this.#words.length === 2 && text === 'do' && /^(?:for|select)$/.test(first?.text ?? '')) {
      // `for name do`: over the words of the shell itself.
      this.#endCommand();
      this.#count(text);
      return true;
    }
    if (this.#words.length > 0) {
      // zsh begins a body with it where others see a word: `while true { … }`.
      if (/^[{}]$/.test(text))
        this.problem(`a "${text}" stands where shells differ; put it in quotes, or a ";" before it`);
      return false;
    }
    if (text === 'esac' && this.#cases > 0) {
      this.#cases -= 1;
      this.#inPattern = false;
      this.#count(text);
      return true;
    }
    if (this.#inPattern) return false;
    if (this.#testPart) return text === '!';
    this.#count(text);
    // `time -p` is still the shell's; with other options it is the program.
    if (this.#after === 'time' && /^(?:-p|--)$/.test(text)) return true;
    if (this.#after === 'time' && text.startsWith('-')) this.#words.push(plain('time'));
    else if (reserved.has(text)) {
      this.#after = text;
      return true;
    }
    if (text === 'case') this.#cases += 1;
    if (text === '[[') this.#inTest = true;
    return false;
  }

  /** `coproc NAME {`: a name to bash, a program to others. */
  #dropName(): void {
    const nothing = { piped: false, stdin: undefined, readsFile: false, redirected: false };
    this.push({ words: this.#words, ...nothing, data: true });
    this.#words = [];
  }

  /** `a[$(…)]` is evaluated wherever a shell takes the name of a variable, even out of quotes. */
  #subscript(text: string): void {
    // oxlint-disable-next-line no-control-regex
    const open = text.search(this.#inArray ? /\[/ : /[\w\0]\[/);
    if (open === -1) return;
    const rest = text.slice(open);
    if (/\$\(|`/.test(rest)) this.expand(rest);
  }

  #endCommand(): void {
    this.endWord();
    const words = this.#words;
    const [first] = words;
    this.#words = [];
    this.#after = '';
    // The head of a loop and of a case name no command.
    const isHead = first !== undefined && !first.dynamic && heads.has(first.text);
    const isTest = this.#testPart || (first?.text === '[[' && !first.dynamic);
    if (isTest && !looksLikeTest(words)) this.problem('a part of [[ is not clear');
    const data = this.#inArray || this.#testPart;
    const input = this.takeInput();
    if (words.length === 0 && input.stdin !== undefined) this.#fed.push(input.stdin);
    if (isHead) this.#head(words);
    else if (words.length > 0 && !this.#inPattern) {
      this.push({ words, piped: this.#piped, ...input, data });
    }
    this.#inTest = false;
    this.#testPart = false;
    this.#piped = false;
  }

  /** A variable may hold it, and arithmetic evaluates the value of a variable. */
  #value(text: string): void {
    const found: FoundCommands = { commands: [], problems: [], typed: false };
    this.inner('', found).expand(text);
    for (const command of found.commands) this.push(command);
  }

  /** `for name in …` runs nothing, unless the shell runs the value of that variable. */
  #head([keyword, name, word]: readonly Word[]): void {
    if (keyword?.text !== 'for' && keyword?.text !== 'select') return;
    if (name !== undefined && kindOf(name.text) !== undefined)
      this.problem(`the loop would set ${name.text}, which decides what is run; use another name`);
    const clear = name === undefined || (/^[A-Za-z_]\w*$/.test(name.text) && (word?.text ?? 'in') === 'in');
    if (!clear) this.problem(`shells differ in where this "${keyword.text}" begins its body; write "do"`);
  }
}

const binary = /^(?:<|>|=|==|!=|=~|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

/** `[[ word op word`, and nothing else that another shell would run. */
function looksLikeTest(words: readonly Word[]): boolean {
  const texts = words.map(({ text }) => text);
  if (texts[0] === '[[') texts.shift();
  while (texts[0] === '!') texts.shift();
  if (texts.at(-1) === ']]') texts.pop();
  if (texts.length <= 1) return true;
  if (texts.length === 2) return /^-[A-Za-z]$/.test(texts[0] ?? '');
  return texts.length === 3 && binary.test(texts[1] ?? '');
}
