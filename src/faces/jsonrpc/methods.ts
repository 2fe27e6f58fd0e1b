import type { CallContext, CallOperation } from '../../engine/call/call.ts';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import { type AnyOperation, type Book, entriesOf } from '../../engine/call/operation.ts';
import { rpcError, type RpcError } from './wire.ts';

export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

/** All methods by name: the ids of the operations. */
export class MethodTable {
  readonly #methods = new Map<string, readonly [Book, AnyOperation]>();
  readonly #call: CallOperation;
  readonly #unknownHint: { readonly hint?: string };

  constructor(books: readonly Book[], call: CallOperation) {
    this.#call = call;
    const hint = books.find(({ unknownHint }) => unknownHint !== undefined)?.unknownHint;
    this.#unknownHint = hint === undefined ? {} : { hint };
    for (const book of books) {
      for (const [id, op] of entriesOf(book.nouns)) this.#methods.set(id, [book, op]);
    }
  }

  get names(): readonly string[] {
    return [...this.#methods.keys()];
  }

  /** Several calls of it in a row may run at the same time. */
  isTogether(method: string): boolean {
    return this.#methods.get(method)?.[1].together === true;
  }

  async run(method: string, params: unknown, context: Omit<CallContext, 'engine'>): Promise<RpcAnswer> {
    const [book, op] = this.#methods.get(method) ?? [];
    if (!book || !op) {
      const error = new FairleadError('unknown_operation', `Unknown method: ${quote(method)}`, this.#unknownHint);
      return { error: rpcError(error, error.message) };
    }
    try {
      const output = await this.#call(op, params, context);
      return { result: op.rpcResult ? op.rpcResult(output) : output };
    } catch (thrown) {
      const error = thrown instanceof FairleadError ? thrown : new FairleadError('internal', 'Internal error.');
      return { error: rpcError(error, book.renderError(error, method)) };
    }
  }
}
