import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import { quote } from '../../../contract/quote.ts';
import type { Caller } from '../../../engine/call/call.ts';
import { type AnyOperation, type AnyStream, type Book, entriesOf } from '../../../engine/call/operation.ts';
import { closest } from '../../../lib/closest.ts';

type ApiEntry =
  | { readonly kind: 'call'; readonly op: AnyOperation }
  | { readonly kind: 'stream'; readonly op: AnyStream };

/** Every operation of the books by its path below /api: `noun/verb`. */
export class ApiTable {
  readonly #entries = new Map<string, ApiEntry>();
  readonly #may: Caller['may'];

  constructor(books: readonly Book[], may: Caller['may']) {
    this.#may = may;
    for (const { nouns, streams = {} } of books) {
      for (const [id, op] of entriesOf(nouns)) this.#add(id, { kind: 'call', op });
      for (const [id, op] of entriesOf(streams)) this.#add(id, { kind: 'stream', op });
    }
  }

  #add(id: string, entry: ApiEntry): void {
    const path = id.replace('.', '/');
    if (this.#entries.has(path)) throw new TypeError(`Two operations are called ${id}.`);
    this.#entries.set(path, entry);
  }

  find(path: string): ApiEntry {
    const entry = this.#entries.get(path);
    if (entry) return entry;
    const [near] = closest(path, this.#entries.keys());
    const meant = near === undefined ? '' : `Did you mean /api/${near}? `;
    throw new FairleadError('unknown_operation', `There is no operation at /api/${quote(path)}.`, {
      hint: `${meant}GET /api lists the operations.`,
    });
  }

  /** What this server lets its callers do. */
  list(): object {
    const offered = [...this.#entries].filter(([, { op }]) => this.#may(op.access));
    return { operations: offered.map(([path, entry]) => outline(path, entry)) };
  }

  /** One of them, with its arguments and its answer as JSON Schema. */
  describe(path: string): object {
    const entry = this.find(path);
    const answer =
      entry.kind === 'call' ? { output: schema(entry.op.output, 'output') } : { item: schema(entry.op.item, 'output') };
    return { ...outline(path, entry), input: schema(entry.op.input, 'input'), ...answer };
  }
}

function outline(path: string, { kind, op }: ApiEntry): object {
  const { title, summary, access } = op;
  const also = 'http' in op && op.http ? { also: op.http.map(({ method, path: other }) => `${method} ${other}`) } : {};
  return { path: `/api/${path}`, kind, title, summary, access, ...('keyed' in op && { keyed: true }), ...also };
}

function schema(of: z.ZodType, io: 'input' | 'output'): object {
  return z.toJSONSchema(of, { io, unrepresentable: 'any' });
}
