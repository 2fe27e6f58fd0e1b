import { posix } from 'node:path';

/** Stands in a word's text for a value known only at run time. */
export const unknown = '\0';

export interface Word {
  /** Without quotes; a part known only at run time is one NUL. */
  readonly text: string;
  /** A part of it is known only at run time: a variable, the output of a command. */
  readonly dynamic: boolean;
  /** The unknown part is unquoted: it may become several words, or none. */
  readonly splits?: boolean;
  /** It holds a process substitution: `<(…)`. */
  readonly sent?: boolean;
  /** It holds an unquoted glob, or braces that cannot be expanded here. */
  readonly pattern?: boolean;
}

/** A word while it is read. `marks` has one letter for each of `text`: q for what stands in quotes, s for `<(…)`, u for the rest. */
export interface WordDraft {
  text: string;
  marks: string;
  quoted: boolean;
}

export const newDraft = (): WordDraft => ({ text: '', marks: '', quoted: false });

export const plain = (text: string): Word => ({ text, dynamic: text.includes(unknown) });

/** More words than any honest brace makes. */
const mostWords = 256;
const deepestBraces = 20;

interface Piece {
  readonly text: string;
  readonly marks: string;
}

/** The words a draft becomes: `{rm,-rf}`, `r{m..m}` and `"r"{m,x}` are expanded as bash would. */
export function wordsOf({ text, marks, quoted }: WordDraft): readonly Word[] {
  const pieces = expand({ text, marks }, 0) ?? [{ text: unknown, marks: 'u' }];
  return pieces.filter((piece) => quoted || piece.text !== '').map(toWord);
}

function toWord({ text, marks }: Piece): Word {
  const dynamic = text.includes(unknown);
  let splits = false;
  let pattern = false;
  for (let at = 0; at < text.length && !(splits && pattern); at += 1) {
    if (marks[at] === 'q') continue;
    const char = text[at] as string;
    if (char === unknown) splits = true;
    else if ('*?[{}'.includes(char)) pattern = true;
  }
  const sent = marks.includes('s');
  return {
    text,
    dynamic,
    ...(splits ? { splits } : {}),
    ...(pattern ? { pattern } : {}),
    ...(sent ? { sent } : {}),
  };
}

/** Undefined: too many. */
function expand(piece: Piece, depth: number): readonly Piece[] | undefined {
  if (depth > deepestBraces) return undefined;
  const found = firstBraces(piece);
  if (found === undefined) return [piece];
  const { from, to, parts } = found;
  const before = cut(piece, 0, from);
  const after = expand(cut(piece, to, piece.text.length), depth + 1);
  if (after === undefined) return undefined;
  const all: Piece[] = [];
  for (const part of parts) {
    const inner = expand(part, depth + 1);
    if (inner === undefined || all.length + inner.length * after.length > mostWords) return undefined;
    for (const middle of inner) for (const end of after) all.push(join(before, middle, end));
  }
  return all;
}

/** The first braces that mean something: a list with a comma, or a sequence. */
function firstBraces(piece: Piece): { from: number; to: number; parts: readonly Piece[] } | undefined {
  const { text, marks } = piece;
  const open: { at: number; commas: number[] }[] = [];
  let best: { from: number; to: number; parts: readonly Piece[] } | undefined;
  for (let at = 0; at < text.length; at += 1) {
    if (marks[at] === 'q') continue;
    const char = text[at];
    if (char === '{') open.push({ at, commas: [] });
    else if (char === ',') open.at(-1)?.commas.push(at);
    else if (char === '}') {
      const last = open.pop();
      if (last === undefined) continue;
      const parts =
        last.commas.length > 0 ? split(piece, last.at, last.commas, at) : sequence(cut(piece, last.at + 1, at));
      // The outermost wins, and of those the first.
      if (parts !== undefined && (best === undefined || last.at < best.from))
        best = { from: last.at, to: at + 1, parts };
      if (best !== undefined && open.length === 0) return best;
    }
  }
  return best;
}

function split(piece: Piece, from: number, commas: readonly number[], to: number): Piece[] {
  const ends = [...commas, to];
  return ends.slice(0, mostWords + 1).map((end, at) => cut(piece, (ends[at - 1] ?? from) + 1, end));
}

/** `1..5`, `a..e`, `1..9..2`. Of a long sequence only the ends are made: the words between them match alike. */
function sequence({ text, marks }: Piece): readonly Piece[] | undefined {
  if (marks.includes('q')) return undefined;
  const match = /^(?:(-?\d{1,15})\.\.(-?\d{1,15})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,15}))?$/.exec(text);
  if (!match) return undefined;
  const [, low, high, first = '', last = '', by] = match;
  const letters = low === undefined;
  const from = letters ? (first.codePointAt(0) as number) : Number(low);
  const to = letters ? (last.codePointAt(0) as number) : Number(high);
  const step = Math.max(1, Math.abs(Number(by ?? 1)));
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  const show = (value: number): Piece => unquoted(letters ? String.fromCodePoint(value) : String(value));
  if (count > mostWords / 2) return [unquoted(low ?? first), unquoted(high ?? last)];
  return Array.from({ length: count }, (_, at) => show(from + Math.sign(to - from) * step * at));
}

const unquoted = (text: string): Piece => ({ text, marks: 'u'.repeat(text.length) });
const cut = ({ text, marks }: Piece, from: number, to: number): Piece => ({
  text: text.slice(from, to),
  marks: marks.slice(from, to),
});
const join = (...pieces: readonly Piece[]): Piece => ({
  text: pieces.map(({ text }) => text).join(''),
  marks: pieces.map(({ marks }) => marks).join(''),
});

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

/** The inside of `$'…'`. A NUL ends it in some shells and not in others, so it counts as unknown. */
export function decodeAnsi(text: string): string {
  return text.replace(
    /\\(?:x\{([0-9a-fA-F]{1,8})\}|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))/gs,
    (...parts) => {
      const [, braced, x, u, U, octal, control, other] = parts as (string | undefined)[];
      const hex = braced ?? x ?? u ?? U;
      if (hex !== undefined) return safeCodePoint(Number.parseInt(hex, 16));
      if (octal !== undefined) return safeCodePoint(Number.parseInt(octal, 8) & 0xff);
      if (control !== undefined) return unknown;
      return named[other ?? ''] ?? other ?? '';
    },
  );
}

const safeCodePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '');

/** `/dev/../proc/self/root/dev/fd/3` is `/dev/fd/3`. */
const straight = (path: string): string =>
  path.startsWith('/') ? posix.normalize(path).replace(/^(?:\/proc\/[^/]+(?:\/task\/[^/]+)?\/root(?=\/))+/, '') : path;

/** A path that reads what another process sends rather than a file on disk. */
export const isStream = (path: string): boolean =>
  path === '-' ||
  /^(?:\/dev\/(?:stdin|tty$)|\/dev\/fd\/|\/proc\/[^/]+\/(?:task\/.*)?fd\/|(?:.*\/)?fd\/\d+$)/.test(straight(path));

/** Of those, all but standard input: their source is unknown here. */
export const isDescriptor = (path: string): boolean => isStream(path) && !/^-$|\/(?:stdin|tty|0)$/.test(path);

/** Paths below these are no system programs: `/proc/self/exe`, `/dev/fd/3`. */
export const isInKernel = (path: string): boolean => /^\/(?:proc|dev)\//.test(straight(path));
