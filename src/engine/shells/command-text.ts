import { FairleadError } from '../../contract/errors.ts';
import type { Dialect } from './traits.ts';

export interface Typist {
  readonly dialect: Dialect;
  /** The shell takes several lines at once as one paste. */
  readonly paste: boolean;
  /** Its line editor takes lines of any length. Without one the terminal driver drops what is over 4 KiB. */
  readonly longLines: boolean;
}

const mostBytes = 256 << 10;
/** Busybox edits lines of up to 1 KiB, and so do terminal drivers of the BSDs. */
const lineBytes = 900;

/** What to type for a command, line by line: the last line runs it, those before only prepare. */
export function commandLines(command: string, typist: Typist): readonly string[] {
  const text = tidy(command);
  if (!hasControls(text) && fits(text, typist) && !prefersPaste(text, typist)) return [`${text}\r`];
  if (typist.paste && mayPaste(text, typist.dialect)) return [pasted(text)];
  const { prepare, expression } = carried(text, typist);
  return [...prepare, `${expression}\r`];
}

/** The same, with words printed before and after it that tell where its output begins and how it went. */
export function markedLines(command: string, token: string, typist: Typist): readonly string[] {
  const text = tidy(command);
  const { begin, end } = markers(token, typist.dialect);
  if (typist.dialect === 'csh') oneLine(text, typist);
  const quoted = ends(text, typist.dialect) ? text : `eval ${quote(text, typist.dialect)}`;
  const whole = ` ${begin};${quoted};${end}`;
  if (!hasControls(text) && fits(whole, typist) && !prefersPaste(text, typist)) return [`${whole}\r`];
  if (typist.paste && mayPaste(text, typist.dialect)) return [pasted(whole)];
  const { prepare, expression } = carried(text, typist);
  return [...prepare, ` ${begin};${expression};${end}\r`];
}

/** Asks a shell at its prompt how the last command went. */
export function statusLine(token: string, dialect: Dialect): string {
  return ` ${markers(token, dialect).end}\r`;
}

/** The beginning of every token: a line with it was typed by us. */
export const markerWord = '__FAIRLEAD_DONE_';

/** An escape sequence no terminal shows. The shell makes its first byte, so the echo of the typed line is not one. */
export const markerPrefix = (token: string): string => `\x1b]7461;${token};`;

function markers(token: string, dialect: Dialect): { readonly begin: string; readonly end: string } {
  const begin = `printf '\\033]7461;${token};s\\007'`;
  const end = `printf '\\033]7461;${token};e;%s\\007'`;
  if (dialect === 'fish') return { begin, end: `${end} $status` };
  // A subshell of csh begins with no status, so it is kept in a variable.
  if (dialect === 'csh') return { begin, end: `set __fl=$status;${end} $__fl;(exit $__fl)` };
  // In a subshell that ends with the status it found: `$?` stays unchanged.
  return { begin: `(__fl=$?;${begin};exit $__fl)`, end: `(__fl=$?;${end} $__fl;exit $__fl)` };
}

function tidy(command: string): string {
  if (Buffer.byteLength(command) > mostBytes) {
    throw new FairleadError('too_large', `A command may have ${mostBytes >> 10} KiB.`, {
      hint: 'Write it to a file and run the file.',
    });
  }
  return command.replace(/\r\n?/g, '\n').replace(/\n+$/, '');
}

/** Its blocks cannot be given to `eval`, nor can text be put together from pieces; typed line by line all would be echoed. */
function oneLine(text: string, typist: Typist): void {
  if (!text.includes('\n') && fits(escaped(text, typist.dialect), typist)) return;
  throw new FairleadError('unsupported', 'A csh takes a command of one line.', {
    hint: 'Join the lines with ;, or write them to a file and source that.',
  });
}

/** csh does not leave from within `eval`. */
const ends = (text: string, dialect: Dialect): boolean =>
  dialect === 'csh' && /^\s*(?:exit|logout)(?:\s+\d+)?\s*$/.test(text);

const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);

const fits = (line: string, typist: Typist): boolean => typist.longLines || Buffer.byteLength(line) <= lineBytes;

/** fish takes a tab for a wish to complete, in a paste too. */
const mayPaste = (text: string, dialect: Dialect): boolean =>
  dialect === 'fish' ? !/[^\P{Cc}\n]/u.test(text) : !/[^\P{Cc}\n\t]/u.test(text);

/** Line editors take a long line letter by letter, and zsh shows it anew for each. */
const prefersPaste = (text: string, { paste }: Typist): boolean => paste && text.length > 1000;

const pasted = (text: string): string => `\x1b[200~${text}\x1b[201~\r`;

/** Text that cannot be typed as it is, made by the shell itself from text that can. */
function carried(text: string, typist: Typist): { readonly prepare: readonly string[]; readonly expression: string } {
  const fish = typist.dialect === 'fish';
  const format = escaped(text, typist.dialect);
  if (typist.dialect === 'csh') return { prepare: [], expression: `eval "\`printf '${format}'\`"` };
  const make = (words: string): string =>
    fish ? `eval (printf ${words} | string collect)` : `eval "$(printf ${words})"`;
  if (fits(format, typist)) return { prepare: [], expression: make(`'${fish ? doubled(format) : format}'`) };
  const prepare = pieces(format).map((piece, at) => {
    if (fish) return ` set -g __fl_c ${at > 0 ? '$__fl_c' : ''}'${doubled(piece)}'\r`;
    return ` __fl_c=${at > 0 ? '$__fl_c' : ''}'${piece}'\r`;
  });
  return { prepare, expression: make('"$__fl_c"') };
}

/** As printf reads it: printable, without quotes, and never an option; for csh also without what it sees within quotes. */
function escaped(text: string, dialect: Dialect): string {
  const special = dialect === 'csh' ? /[%\\'!"`$]|\p{Cc}|^-/gu : /[%\\'!]|\p{Cc}|^-/gu;
  return text.replace(special, (character) => {
    if (character === '%' || character === '\\') return character.repeat(2);
    return Array.from(Buffer.from(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  });
}

const doubled = (format: string): string => format.replaceAll('\\', '\\\\');

function pieces(text: string): string[] {
  const found: string[] = [];
  let piece = '';
  let bytes = 0;
  for (const character of text) {
    const length = Buffer.byteLength(character);
    // Half, because fish needs every backslash twice.
    if (bytes + length > lineBytes / 2) {
      found.push(piece);
      piece = '';
      bytes = 0;
    }
    piece += character;
    bytes += length;
  }
  return [...found, piece];
}

function quote(text: string, dialect: Dialect): string {
  if (dialect === 'fish') return `'${text.replace(/['\\]/g, '\\$&')}'`;
  const quoted = `'${text.replaceAll("'", "'\\''")}'`;
  // csh looks for history within quotes too.
  return dialect === 'csh' ? quoted.replaceAll('!', '\\!') : quoted;
}
