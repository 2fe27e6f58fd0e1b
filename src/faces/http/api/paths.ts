import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import { quote } from '../../../contract/quote.ts';
import { type AnyOperation, type Book, entriesOf, type HttpPath } from '../../../engine/call/operation.ts';
import type { HttpVisit } from '../route.ts';
import { readArguments } from './arguments.ts';

interface PathEntry {
  readonly op: AnyOperation;
  readonly route: HttpPath;
  readonly words: readonly string[];
}

export interface FoundPath extends PathEntry {
  /** Arguments that stand in the path. */
  readonly named: Readonly<Record<string, string>>;
}

/** What a reference fixes for its routes. */
const mostBytes = 1 << 20;

/** The paths that references fix for operations. */
export class ApiPaths {
  readonly #entries: readonly PathEntry[];

  constructor(books: readonly Book[]) {
    this.#entries = books.flatMap(({ nouns }) =>
      entriesOf(nouns).flatMap(([, op]) =>
        (op.http ?? []).map((route) => ({ op, route, words: route.path.split('/') })),
      ),
    );
    const names = this.#entries.map(({ route: { method, path } }) => `${method} ${path}`);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new TypeError(`Two operations are at ${twice}.`);
  }

  /** Those outside /api. */
  get elsewhere(): string[] {
    return [...new Set(this.#entries.map(({ route }) => route.path))].filter((path) => !path.startsWith('/api/'));
  }

  /** The operation at a path; the methods that the path has, when this one is none of them. */
  find(method: string, path: string): FoundPath | { readonly allow: string } | undefined {
    const given = path.split('/');
    const fitting = this.#entries.flatMap((entry) => {
      const named = match(entry.words, given);
      return named ? [{ ...entry, named }] : [];
    });
    const found = fitting.find(({ route }) => route.method === method);
    if (found || fitting.length === 0) return found;
    return { allow: fitting.map(({ route }) => route.method).join(', ') };
  }
}

function match(words: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  if (words.length !== given.length) return undefined;
  const named: Record<string, string> = {};
  for (const [at, word] of words.entries()) {
    const there = given[at] ?? '';
    if (!word.startsWith(':')) {
      if (word !== there) return undefined;
    } else if (there === '') return undefined;
    else named[word.slice(1)] = decoded(there);
  }
  return named;
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** The arguments of a request for such a path. A name that the operation does not know is refused: a typo must not pass as done. */
export async function argumentsAt({ op, route, named }: FoundPath, visit: HttpVisit): Promise<unknown> {
  const shape = op.input instanceof z.ZodObject ? (op.input.shape as Readonly<Record<string, z.ZodType>>) : {};
  const body = route.method === 'GET' ? queryOf(visit.request.url, shape) : await readArguments(visit, mostBytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const known = route.takes ?? (op.input instanceof z.ZodObject ? Object.keys(shape) : undefined);
  const unknown = known && Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new FairleadError('invalid_input', `There is no argument "${quote(unknown)}" here.`, {
      hint: known?.length === 0 ? 'It takes none.' : `It takes ${known?.join(', ')}.`,
    });
  }
  const given = { ...body, ...named };
  return route.input ? route.input(given) : given;
}

/** A query has only text: what must be a number or a truth value is made one. A project may be called `2024`. */
function queryOf(url = '', shape: Readonly<Record<string, z.ZodType>>): Record<string, unknown> {
  const at = url.indexOf('?');
  if (at < 0) return {};
  return Object.fromEntries(
    [...new URLSearchParams(url.slice(at + 1))].map(([name, text]) => {
      const isText =
        !/^(?:-?(?:0|[1-9]\d{0,15})|true|false)$/.test(text) || shape[name]?.safeParse(text).success === true;
      return [name, isText ? text : (JSON.parse(text) as unknown)];
    }),
  );
}
