import type { EffectiveCommand } from './effective.ts';
import type { Word } from './word.ts';

/** Separators between names: every character that a program's name or path does not have. */
const apart = /[^\w./+@~-]+/;

/**
 * What a text may name: `touch`, `--exec=/usr/bin/touch`, `-ctouch x`, `system("touch x")`; to a shell also `tou""ch`. Lower-cased:
 * some file systems ignore case.
 */
function* namesIn(text: string): Generator<string> {
  const small = text.toLowerCase();
  yield* namesApart(small);
  if (/["'\\]/.test(small)) yield* namesApart(small.replaceAll(/\\\n|["'\\]/g, ''));
}

function* namesApart(text: string): Generator<string> {
  for (const piece of text.split(apart)) {
    const name = piece.slice(piece.lastIndexOf('/') + 1);
    yield name;
    // `@touch` and `-touch` in a recipe of make; `--rm` is an option.
    if (/^(?:[@+]|-[^-])/.test(name)) yield name.replace(/^[@+-]+/, '');
    if (/^-[a-z]./.test(piece) && name === piece) yield piece.slice(2);
  }
}

/** More than any honest line has. */
const mostPatterns = 200;

interface ToldNames {
  readonly by: string;
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly string[];
  /** A variable may bring in what stands elsewhere in the line. */
  readonly unsure: boolean;
}

/** Which unknown programs may be told to run another one: its name is among their words. */
export class Runners {
  readonly #line: string;
  readonly #all: readonly ToldNames[];
  #names: ReadonlySet<string> | undefined;

  constructor(line: string, commands: readonly EffectiveCommand[]) {
    this.#line = line;
    this.#all = commands.filter(({ told }) => told.length > 0).map(toldOf);
  }

  of(program: string): string | undefined {
    const name = program.toLowerCase();
    const one = this.#all.find(
      ({ names, patterns, unsure }) =>
        names.has(name) || patterns.some((pattern) => fits(pattern, name)) || (unsure && this.#somewhere(name)),
    );
    return one?.by;
  }

  #somewhere(name: string): boolean {
    this.#names ??= new Set(namesIn(this.#line));
    return this.#names.has(name);
  }
}

function toldOf({ words, told }: EffectiveCommand): ToldNames {
  const names = new Set<string>();
  for (const { text } of told) for (const name of namesIn(text)) names.add(name);
  const patterns = new Set<string>();
  for (const { text } of told) {
    for (const piece of text.split(/[\s;&|()<>"'`=]+/))
      if (/[*?[]/.test(piece) && patterns.size < mostPatterns) patterns.add(piece);
  }
  return {
    by: words[0]?.text ?? '',
    names,
    patterns: [...patterns],
    unsure: told.some(({ dynamic }: Word) => dynamic),
  };
}

/** `/usr/bin/tou[c]h`. Two letters must stand there: `*` is every file of a directory. */
function fits(pattern: string, name: string): boolean {
  const base = pattern.slice(pattern.lastIndexOf('/') + 1).toLowerCase();
  if (base.length > 255) return false;
  const literal = base.replaceAll(/\[[^\]]*\]|[*?\0{}]/g, '');
  if (literal.length < Math.min(2, name.length)) return false;
  const parts = base.replaceAll(/\[[^\]]*\]|[?{}[\]]/g, '?').split(/[*\0]+/);
  return inOrder(parts, name);
}

/** Whether the parts stand in the name one behind the other, the first and the last at its ends; `?` is any letter. */
function inOrder(parts: readonly string[], name: string): boolean {
  const [first = ''] = parts;
  const last = parts.length > 1 ? (parts.at(-1) ?? '') : '';
  if (!sameAt(first, name, 0) || (parts.length === 1 && first.length !== name.length)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    while (at + part.length <= name.length && !sameAt(part, name, at)) at += 1;
    at += part.length;
  }
  return at + last.length <= name.length && sameAt(last, name, name.length - last.length);
}

const sameAt = (part: string, name: string, at: number): boolean =>
  at + part.length <= name.length && [...part].every((letter, place) => letter === '?' || letter === name[at + place]);
