import { FairleadError } from '../../../contract/errors.ts';
import { quote } from '../../../contract/quote.ts';
import { type AnyOperation, type AnyStream, type Book, entriesOf } from '../../../engine/call/operation.ts';

/** The operations and streams of the books by their ids. */
export class LiveTable {
  readonly #operations: ReadonlyMap<string, AnyOperation>;
  readonly #streams: ReadonlyMap<string, AnyStream>;

  constructor(books: readonly Book[]) {
    this.#operations = new Map(books.flatMap(({ nouns }) => entriesOf(nouns)));
    this.#streams = new Map(books.flatMap(({ streams = {} }) => entriesOf(streams)));
  }

  operation(id: unknown): AnyOperation {
    return this.#operations.get(String(id)) ?? unknown('operation', id);
  }

  stream(id: unknown): AnyStream {
    return this.#streams.get(String(id)) ?? unknown('stream', id);
  }
}

function unknown(what: string, id: unknown): never {
  throw new FairleadError('unknown_operation', `There is no ${what} ${quote(String(id).slice(0, 100))}.`, {
    hint: 'GET /api lists what there is.',
  });
}
