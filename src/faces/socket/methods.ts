import { FairleadError } from '../../contract/errors.ts';
import type { Caller, CallOperation } from '../../engine/call/call.ts';
import type { CallStream } from '../../engine/call/call-stream.ts';
import { type AnyOperation, type AnyStream, type Book, entriesOf } from '../../engine/call/operation.ts';

/** What a socket serves: books, and the engine that runs them. */
export interface SocketOffer {
  readonly books: readonly Book[];
  /** Every connection is this caller: the folder of the socket lets no other user in. */
  readonly caller: Caller;
  readonly call: CallOperation;
  readonly stream: CallStream;
}

/** The operations and streams of books by the names of their methods. */
export class SocketMethods {
  readonly #offer: SocketOffer;
  readonly #operations: ReadonlyMap<string, AnyOperation>;
  readonly #streams: ReadonlyMap<string, AnyStream>;

  constructor(offer: SocketOffer) {
    this.#offer = offer;
    this.#operations = new Map(offer.books.flatMap(({ nouns }) => entriesOf(nouns)));
    this.#streams = new Map(offer.books.flatMap(({ streams = {} }) => entriesOf(streams)));
  }

  /** The answer of an operation, or undefined and one `item` after another of a stream. */
  async run(method: string, params: unknown, { connection, signal, body, item }: MethodContext): Promise<unknown> {
    const { caller, call, stream } = this.#offer;
    const op = this.#operations.get(method);
    if (op) return await call(op, params, { caller, signal: connection, body });
    const going = this.#streams.get(method);
    if (!going) throw new FairleadError('unknown_operation', `There is no method "${method.slice(0, 80)}".`);
    for await (const one of stream(going, params, { caller, signal })) await item(one);
    return undefined;
  }
}

export interface MethodContext {
  /** Aborted when the client hangs up. */
  readonly connection: AbortSignal;
  /** Aborted when the client cancels the stream, too. */
  readonly signal: AbortSignal;
  /** Bytes that came behind the request, overwritten once it is done. */
  readonly body: Buffer | undefined;
  /** Sends an item of a stream; settles when there is room for the next. */
  readonly item: (item: unknown) => Promise<void>;
}
