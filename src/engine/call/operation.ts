import type { z } from 'zod';
import type { FairleadError } from '../../contract/errors.ts';
import type { AuditNote } from './audit/note.ts';
import type { Call, StreamCall } from './call.ts';

/** What a call can do to the world. Policy is written in these words; add one only when a policy must tell it apart. */
export type Access = 'observe' | 'control' | 'open' | 'administer';

/** A piece of an answer as people and models see it. */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly bytes: Uint8Array; readonly mimeType: string };

/** A path that a reference fixes for an operation on HTTP, besides `POST /api/noun/verb`. */
export interface HttpPath {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** `/api/sessions/:id/markdown`: a word after a colon is an argument. */
  readonly path: string;
  /** The arguments, of those in the body or, with GET, in the query; without it, the same. */
  readonly input?: (given: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Arguments that it takes, where `input` gives the operation others. */
  readonly takes?: readonly string[];
  /** The answer as JSON; without it, the output. */
  readonly answer?: (output: never) => unknown;
  /** The answer as plain text instead. */
  readonly text?: (output: never) => string;
  /** The answer as a file to be saved under this name. */
  readonly file?: (output: never) => { readonly name: string; readonly type: string; readonly bytes: Uint8Array };
}

/** What an operation and a stream have in common: the words, the arguments and what a gate judges by. */
export interface CatalogueEntry<In extends z.ZodType> {
  readonly title: string;
  /** What a caller needs to know to use it well. The first sentence stands alone in lists. */
  readonly summary: string;
  readonly access: Access;
  readonly input: In;
  /** Fields whose faults have a code of their own, where a reference fixes one. */
  readonly faults?: Readonly<Record<string, (reason: string, value: unknown) => FairleadError>>;
  /** What the audit trail says of a call before it is known how it goes, so of a refused one too; without it, `commands`. */
  readonly about?: (input: z.output<In>) => AuditNote;
  /** Other names on the command line, `noun verb`, where the verb may have two words. */
  readonly cliNames?: readonly string[];
  /** Input fields with a letter of their own on the command line: `-o`. */
  readonly cliShort?: { readonly [field in keyof z.input<In> & string]?: string };
  /** Another name of a field on the command line, where an option of that name takes a value elsewhere. */
  readonly cliFlags?: { readonly [field in keyof z.input<In> & string]?: string };
  /** On the command line its noun means it, when no verb is given. */
  readonly cliDefault?: true;
  /** The session it is about may be left out: then it means another or all. The command line chooses none by itself. */
  readonly sessionOptional?: true;
  /** Input fields the command line takes by position, in order. */
  readonly positional?: readonly (keyof z.input<In> & string)[];
}

export interface Operation<In extends z.ZodType = z.ZodType, Out extends z.ZodType = z.ZodType>
  extends CatalogueEntry<In> {
  /** Other paths on HTTP. */
  readonly http?: readonly HttpPath[];
  /** The page that the answer leads to: on the command line it is opened in a browser. */
  readonly page?: (output: z.output<Out>) => string;
  /** What a call costs and whether it waits, where the reference says so at the end of each description. */
  readonly cost?: string;
  readonly output: Out;
  /** The name on MCP where a reference document fixes one; otherwise `noun_verb`. */
  readonly mcpName?: string;
  /** False: it changes something, though only what its own caller sees. Unless told otherwise, `access` tells. */
  readonly readOnly?: boolean;
  /** Can end, erase or replace something for good. Unless told otherwise, everything that does not merely observe can. */
  readonly destructive?: boolean;
  /** Doing it twice is the same as doing it once. Reads are, always. */
  readonly idempotent?: boolean;
  /** A call that comes with a key is done once: the same key again gives the same answer (engine/call/idempotency.ts). */
  readonly keyed?: true;
  /** Takes a while and changes nothing for another one like it: several in a row are done together, where answers have an order. */
  readonly together?: true;
  /** Can reach past what this server keeps: programs, the network. Unless told otherwise, as `destructive`. */
  readonly openWorld?: boolean;
  /**
   * Some answers are pictures. Such a tool publishes no output schema: a client that must show structured results
   * shows them instead of the picture (docs/decisions).
   */
  readonly pictures?: boolean;
  /** The result on JSON-RPC where a reference fixes another shape than an object. */
  readonly rpcResult?: (output: z.output<Out>) => unknown;
  /** The command lines it would have a shell run: what a policy judges. */
  readonly commands?: (input: z.output<In>) => readonly string[];
  /** It notes its commands itself, once it knows whether they may be recorded. A refusal is noted regardless. */
  readonly notesCommands?: true;
  /**
   * The input field whose content only `run` sees: the gate and the audit trail get its length. A door that can carry bytes brings it
   * as `Call.body` in its place, and overwrites those afterwards.
   */
  readonly secretField?: keyof z.input<In> & string;
  /** Calls of one connection to the same terminal within this time are one entry of the audit trail: keys would drown the rest. */
  readonly auditSpanMs?: number;
  /** Words for a person at a command line, where the plain facts are not what they want to see. */
  readonly show?: (output: z.output<Out>) => string;
  /** The exit code of the command line, where an answer is not simply a success. */
  readonly exitCode?: (output: z.output<Out>) => number;
  /** The same where that of the far side can be asked for. */
  readonly passthrough?: (output: z.output<Out>, wanted: boolean) => number;
  /** The last of them is a command line: all the words that are left. */
  readonly lastTakesRest?: true;
  readonly run: (call: Call<z.output<In>>) => Promise<z.output<Out>>;
  /** Words (or pictures) for people and models. JSON faces never call it. */
  readonly render: (output: z.output<Out>) => string | readonly Content[];
}

/**
 * An operation that goes on: it yields items until the caller leaves or it has nothing more to say. Each item carries new state, never
 * a difference, so that a slow reader may be given the newest one in place of all. Faces pull: the next item is made when the last
 * one was taken.
 */
export interface StreamOperation<In extends z.ZodType = z.ZodType, Item extends z.ZodType = z.ZodType>
  extends CatalogueEntry<In> {
  readonly item: Item;
  readonly run: (call: StreamCall<z.output<In>>) => AsyncIterable<z.output<Item>>;
  /** One item in words for people, with the end of its last line. JSON faces never call it. */
  readonly render: (item: z.output<Item>) => string;
}

/** What clients are told of an operation, so that they ask the person first where that is due. */
interface Hints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** Whatever is left unsaid counts as dangerous: forgetting a field must not let a client run something unasked. */
export function hintsOf({
  access,
  readOnly = access === 'observe',
  destructive,
  idempotent,
  openWorld,
}: AnyOperation): Hints {
  return {
    readOnly,
    destructive: destructive ?? !readOnly,
    idempotent: idempotent ?? readOnly,
    openWorld: openWorld ?? !readOnly,
  };
}

/** Declares an operation. Without words of its own, people and models read its answer as JSON. */
export const operation = <In extends z.ZodType, Out extends z.ZodType>(
  op: Omit<Operation<In, Out>, 'render'> & Partial<Pick<Operation<In, Out>, 'render'>>,
): Operation<In, Out> => ({ render: renderJson, ...op });

export const renderJson = (value: unknown): string => JSON.stringify(value, null, 2);

export const stream = <In extends z.ZodType, Item extends z.ZodType>(
  op: StreamOperation<In, Item>,
): StreamOperation<In, Item> => op;

// A table holds operations of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyOperation = Operation<any, any>;
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyStream = StreamOperation<any, any>;
/** Either of them, with what only an operation may have. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyEntry = CatalogueEntry<any> &
  Pick<AnyOperation, 'render'> &
  Partial<Pick<AnyOperation, 'lastTakesRest' | 'passthrough' | 'show' | 'exitCode' | 'secretField' | 'page'>>;

/** A group of operations that share a reference document, and so a way of saying what went wrong. */
export interface Book {
  readonly name: string;
  readonly summary: string;
  /** Its reference prints every default in the schemas, those that are false too. */
  readonly spellsDefaults?: true;
  /** noun → verb → operation. The id of an operation is `noun.verb`. */
  readonly nouns: Readonly<Record<string, Readonly<Record<string, AnyOperation>>>>;
  /** Tells a caller who asked for an unknown operation where to look. */
  readonly unknownHint?: string;
  /** For the person alone: no model is offered it, so MCP never folds it. */
  readonly forPerson?: true;
  /** On MCP its operations are the resource methods, never tools. */
  readonly asResources?: true;
  /** Schemes of resources (`shell://`) that are served where this book is offered. */
  readonly schemes?: readonly string[];
  /** The same for what goes on; folded only by faces that can carry it. */
  readonly streams?: Readonly<Record<string, Readonly<Record<string, AnyStream>>>>;
  /** An error in the words of the book's reference. `data` of the error goes to the structured part. */
  readonly renderError: (error: FairleadError, tool: string) => string;
  /** The structured part of an error, where the reference fixes its shape; otherwise `error` with code and message. */
  readonly errorFacts?: (error: FairleadError, tool: string) => Readonly<Record<string, unknown>>;
}

const ids = new WeakMap<AnyOperation | AnyStream, string>();

const personal = new WeakSet<AnyOperation | AnyStream>();

/** It is the person's, through whatever door it is called. */
export const isForPerson = (op: AnyOperation | AnyStream): boolean => personal.has(op);

/** Makes a book, and so gives each of its operations its id. */
export function defineBook(book: Book): Book {
  if (book.forPerson) {
    for (const [, op] of [...entriesOf(book.nouns), ...entriesOf(book.streams ?? {})]) personal.add(op);
  }
  for (const [id, op] of [...entriesOf(book.nouns), ...entriesOf(book.streams ?? {})]) ids.set(op, id);
  return book;
}

/** Every entry of such a table with its id. */
export function entriesOf<T>(table: Readonly<Record<string, Readonly<Record<string, T>>>>): (readonly [string, T])[] {
  return Object.entries(table).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, op]) => [`${noun}.${verb}`, op] as const),
  );
}

/** `noun.verb`: the one name every face derives its own from. */
export function operationId(op: AnyOperation | AnyStream): string {
  return ids.get(op) ?? 'unnamed';
}
