/** Reads a command line as a POSIX shell would, far enough to know every command in it, however it is wrapped. */

export interface Word {
  /** Quotes removed; what only the shell will know stands as one NUL. */
  readonly text: string;
  /** Some of it is known only when it runs: a variable, the output of a command. */
  readonly dynamic: boolean;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  /** Its input comes from the command before. */
  readonly piped: boolean;
  /** What it is given to read on the spot: a here-document or here-string. */
  readonly stdin: Word | undefined;
}

export interface Parsed {
  /** In the order they stand, those inside `$(…)` and the like included. */
  readonly commands: readonly SimpleCommand[];
  /** Why the line cannot be known for certain: a quote that never ends, nesting without end. */
  readonly problems: readonly string[];
}

/** Stands in a word's text for what nobody can know before it runs. */
export const unknown = '\0';
const deepest = 30;
/** As many commands as any honest line has. */
const mostCommands = 2000;

export function parseShell(text: string): Parsed {
  const found: Found = { commands: [], problems: [] };
  new Reader(text, found, 0).list(undefined);
  if (found.commands.length >= mostCommands) found.problems.push('it holds too many commands');
  return found;
}

interface Found {
  readonly commands: SimpleCommand[];
  readonly problems: string[];
}

const reserved = new Set([
  'if',
  'then',
  'elif',
  'else',
  'fi',
  'while',
  'until',
  'do',
  'done',
  '!',
  '{',
  '}',
  'time',
  'coproc',
]);
const space = /[^\S\n]/;
/** No shell takes them for the end of a line, but people who read the line may. */
const lineEnds = /[\u0085\u2028\u2029]/;
const openParen = '(';

/** One level of a command line: the line itself, or what stands inside a substitution. */
class Reader {
  readonly #text: string;
  readonly #found: Found;
  readonly #depth: number;
  #at = 0;
  #words: Word[] = [];
  #word: { text: string; dynamic: boolean; quoted: boolean } | undefined;
  #piped = false;
  #stdin: Word | undefined;
  #cases = 0;
  /** Here-documents whose text begins after the next newline. */
  readonly #pending: { readonly end: string; readonly tabs: boolean; readonly quoted: boolean }[] = [];

  constructor(text: string, found: Found, depth: number) {
    this.#text = text;
    this.#found = found;
    this.#depth = depth;
    if (depth > deepest) {
      found.problems.push('it is nested too deeply');
      this.#at = text.length;
    }
  }

  /** Up to the closing character, or the end of the text. Answers with where it stopped. */
  list(closing: ')' | undefined): number {
    while (this.#at < this.#text.length && this.#found.commands.length < mostCommands) {
      const char = this.#text[this.#at] as string;
      if (char === ')' && closing === ')' && this.#cases === 0) {
        this.#endCommand();
        this.#at += 1;
        return this.#at;
      }
      this.#step(char);
    }
    this.#endCommand();
    if (closing !== undefined) this.#found.problems.push(`a "${closing}" is missing`);
    return this.#at;
  }

  #step(char: string): void {
    if (char === '\n' || lineEnds.test(char)) return this.#newline();
    if (space.test(char)) return this.#separate();
    if (char === '#' && this.#word === undefined) return this.#comment();
    if (char === ';' || char === '&' || char === '|') return this.#operator(char);
    if (char === openParen) return this.#paren();
    if (char === ')') return this.#closeCase();
    if (char === '<' || char === '>') return this.#redirection(char);
    this.#piece(char);
  }

  #separate(): void {
    this.#endWord();
    this.#at += 1;
  }

  #newline(): void {
    this.#endCommand();
    this.#at += 1;
    for (const document of this.#pending.splice(0)) this.#readDocument(document);
  }

  #comment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  #operator(char: string): void {
    // `&>file` sends both streams to a file.
    if (char === '&' && this.#text[this.#at + 1] === '>') {
      this.#at += 1;
      return;
    }
    const pipe = char === '|' && this.#text[this.#at + 1] !== '|';
    this.#endCommand();
    while (this.#at < this.#text.length && ';&|'.includes(this.#text[this.#at] as string)) this.#at += 1;
    this.#piped = pipe;
  }

  #paren(): void {
    const definesFunction = this.#word !== undefined || this.#words.length > 0;
    if (definesFunction) {
      // `name ()`: its body follows. `name=(…)`: words that may be run later. Both are judged as if they ran.
      this.#word = undefined;
      this.#words = [];
    }
    this.#at += 1;
    const inner = new Reader(this.#text.slice(this.#at), this.#found, this.#depth + 1);
    this.#at += inner.list(')');
  }

  /** `pattern)` of a case: what stands before it is no command. */
  #closeCase(): void {
    this.#word = undefined;
    this.#words = [];
    this.#at += 1;
    if (this.#cases === 0) this.#found.problems.push('a ")" stands alone');
  }

  #redirection(char: string): void {
    if (this.#text[this.#at + 1] === openParen) return this.#processSubstitution();
    if (this.#word !== undefined && !this.#word.quoted && /^\d+$/.test(this.#word.text)) this.#word = undefined;
    else this.#endWord();
    const rest = this.#text.slice(this.#at);
    const operator = /^(?:<<<|<<-|<<|<>|<&|>>|>&|>\||[<>])/.exec(rest)?.[0] ?? char;
    this.#at += operator.length;
    while (this.#at < this.#text.length && space.test(this.#text[this.#at] as string)) this.#at += 1;
    const target = this.#target();
    if (operator === '<<<') this.#stdin = { text: target.text, dynamic: target.dynamic };
    if (operator === '<<' || operator === '<<-') {
      this.#pending.push({ end: target.text, tabs: operator === '<<-', quoted: target.quoted });
    }
  }

  #target(): { text: string; dynamic: boolean; quoted: boolean } {
    const [words, word] = [this.#words, this.#word];
    this.#words = [];
    this.#word = undefined;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] as string;
      if (char === '\n' || space.test(char) || ';&|()<>'.includes(char)) break;
      this.#piece(char);
    }
    const target = this.#word ?? { text: '', dynamic: false, quoted: false };
    this.#words = words;
    this.#word = word;
    return target;
  }

  #readDocument({ end, tabs, quoted }: { end: string; tabs: boolean; quoted: boolean }): void {
    const lines: string[] = [];
    while (this.#at < this.#text.length) {
      const newline = this.#text.indexOf('\n', this.#at);
      const stop = newline === -1 ? this.#text.length : newline;
      const line = this.#text.slice(this.#at, stop);
      this.#at = Math.min(this.#text.length, stop + 1);
      if ((tabs ? line.replace(/^\t+/, '') : line) === end) break;
      lines.push(line);
    }
    const body = `${lines.join('\n')}\n`;
    const word = quoted ? { text: body, dynamic: false } : this.#expand(body);
    const last = this.#found.commands.at(-1);
    if (last) this.#found.commands[this.#found.commands.length - 1] = { ...last, stdin: word };
  }

  /** Text in which only `$` and backquotes mean something. */
  #expand(body: string): Word {
    const reader = new Reader(body, this.#found, this.#depth + 1);
    reader.#word = { text: '', dynamic: false, quoted: true };
    while (reader.#at < body.length) reader.#inQuotes(body[reader.#at] as string);
    return { text: reader.#word.text, dynamic: reader.#word.dynamic };
  }

  #processSubstitution(): void {
    this.#at += 2;
    const inner = new Reader(this.#text.slice(this.#at), this.#found, this.#depth + 1);
    this.#at += inner.list(')');
    this.#add(unknown, true);
  }

  #piece(char: string): void {
    if (char === '\\') return this.#escaped();
    if (char === "'") return this.#single();
    if (char === '"') return this.#double();
    if (char === '$') return this.#dollar(false);
    if (char === '`') return this.#backquotes();
    this.#add(char);
    this.#at += 1;
  }

  #escaped(): void {
    const next = this.#text[this.#at + 1];
    this.#at += 2;
    if (next === undefined) this.#found.problems.push('it ends in a backslash');
    else if (next !== '\n') this.#add(next, false, true);
  }

  #single(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) return this.#unfinished("'");
    this.#add(this.#text.slice(this.#at + 1, end), false, true);
    this.#at = end + 1;
  }

  #double(): void {
    this.#add('', false, true);
    this.#at += 1;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] as string;
      if (char === '"') {
        this.#at += 1;
        return;
      }
      this.#inQuotes(char);
    }
    this.#unfinished('"');
  }

  #inQuotes(char: string): void {
    if (char === '\\') {
      const next = this.#text[this.#at + 1] ?? '';
      this.#at += 2;
      if (next !== '\n') this.#add('$`"\\'.includes(next) ? next : `\\${next}`, false, true);
    } else if (char === '$') this.#dollar(true);
    else if (char === '`') this.#backquotes();
    else {
      this.#add(char, false, true);
      this.#at += 1;
    }
  }

  #dollar(quoted: boolean): void {
    const rest = this.#text.slice(this.#at + 1);
    if (!quoted && rest.startsWith("'")) return this.#ansi();
    if (!quoted && rest.startsWith('"')) {
      this.#at += 1;
      return this.#double();
    }
    if (rest.startsWith('((')) return this.#arithmetic();
    if (rest.startsWith(openParen)) {
      this.#at += 2;
      const inner = new Reader(this.#text.slice(this.#at), this.#found, this.#depth + 1);
      this.#at += inner.list(')');
      return this.#add(unknown, true);
    }
    if (rest.startsWith('{')) return this.#braces(quoted);
    const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!_-])/.exec(rest)?.[0];
    this.#at += 1 + (name?.length ?? 0);
    if (name === undefined) this.#add('$');
    else this.#variable(name, quoted);
  }

  /** Unquoted, `$IFS` is white space: the classic way to write a blank without one. */
  #variable(name: string, quoted: boolean): void {
    if (name === 'IFS' && !quoted) this.#endWord();
    else this.#add(unknown, true);
  }

  #braces(quoted: boolean): void {
    let depth = 0;
    const from = this.#at + 2;
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const char = this.#text[at];
      if (char === '\\') at += 1;
      else if (char === '{') depth += 1;
      else if (char === '}' && --depth === 0) {
        const inner = this.#text.slice(from, at);
        this.#at = at + 1;
        if (inner.includes('$(') || inner.includes('`')) this.#expand(inner);
        return this.#variable(/^IFS(?![A-Za-z0-9_])/.test(inner) ? 'IFS' : inner, quoted);
      }
    }
    this.#unfinished('${');
  }

  #arithmetic(): void {
    const end = this.#text.indexOf('))', this.#at);
    if (end === -1) return this.#unfinished('$((');
    const inner = this.#text.slice(this.#at + 3, end);
    if (inner.includes('$(') || inner.includes('`')) this.#expand(inner);
    this.#at = end + 2;
    this.#add(unknown, true);
  }

  #backquotes(): void {
    let inner = '';
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const char = this.#text[at] as string;
      if (char === '\\' && '`\\$'.includes(this.#text[at + 1] ?? '')) inner += this.#text[++at];
      else if (char === '`') {
        new Reader(inner, this.#found, this.#depth + 1).list(undefined);
        this.#at = at + 1;
        return this.#add(unknown, true);
      } else inner += char;
    }
    this.#unfinished('`');
  }

  #ansi(): void {
    const match = /^\$'((?:[^'\\]|\\.)*)'/s.exec(this.#text.slice(this.#at));
    if (!match) return this.#unfinished("$'");
    this.#at += match[0].length;
    this.#add(decodeAnsi(match[1] ?? ''), false, true);
  }

  #unfinished(what: string): void {
    this.#found.problems.push(`a ${what} is never closed`);
    this.#at = this.#text.length;
  }

  #add(text: string, dynamic = false, quoted = false): void {
    this.#word ??= { text: '', dynamic: false, quoted: false };
    this.#word.text += text;
    this.#word.dynamic ||= dynamic;
    this.#word.quoted ||= quoted;
  }

  #endWord(): void {
    const word = this.#word;
    this.#word = undefined;
    if (word === undefined) return;
    const first = this.#words.length === 0;
    if (this.#words.length === 1 && this.#words[0]?.text === 'function') {
      // `function name`: its body follows.
      this.#words = [];
      return;
    }
    if (first && !word.quoted && !word.dynamic) {
      if (reserved.has(word.text)) return;
      if (word.text === 'case') this.#cases += 1;
      if (word.text === 'esac') {
        this.#cases -= 1;
        return;
      }
    }
    for (const text of word.quoted ? [word.text] : expandBraces(word.text))
      this.#words.push({ text, dynamic: word.dynamic });
  }

  #endCommand(): void {
    this.#endWord();
    const words = this.#words;
    const [first] = words;
    this.#words = [];
    // The head of a loop and of a case name no command.
    const isHead = first !== undefined && !first.dynamic && ['for', 'select', 'case', 'function'].includes(first.text);
    if (words.length > 0 && !isHead) this.#found.commands.push({ words, piped: this.#piped, stdin: this.#stdin });
    this.#stdin = undefined;
    this.#piped = false;
  }
}

const named: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  v: '\v',
};

function decodeAnsi(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs,
    (...parts) => {
      const [, x, u, U, octal, other] = parts as (string | undefined)[];
      const hex = x ?? u ?? U;
      if (hex !== undefined) return safeCodePoint(Number.parseInt(hex, 16));
      if (octal !== undefined) return safeCodePoint(Number.parseInt(octal, 8) & 0xff);
      return named[other ?? ''] ?? other ?? '';
    },
  );
}

const safeCodePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '');

/** `{rm,-rf}` and `r{m,x}`: one level, as many words as anybody needs. */
function expandBraces(text: string): string[] {
  const match = /^([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)$/.exec(text);
  if (!match) return [text];
  const [, before = '', inner = '', after = ''] = match;
  return inner
    .split(',')
    .slice(0, 100)
    .map((part) => `${before}${part}${after}`)
    .filter((word) => word !== '');
}
