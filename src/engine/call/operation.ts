import type { z } from 'zod';
import type { FairleadError } from '../../contract/errors.ts';
import type { AuditNote } from './audit/note.ts';
import type { Call } from './call.ts';

/** What a call can do to the world. Policy is written in these words; add one only when a policy must tell it apart. */
export type Access = 'observe' | 'control' | 'open' | 'administer';

/** A piece of an answer as people and models see it. */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly bytes: Uint8Array; readonly mimeType: string };

export interface Operation<In extends z.ZodType = z.ZodType, Out extends z.ZodType = z.ZodType> {
  /** What a caller needs to know to use it well. The first sentence stands alone in lists. */
  readonly summary: string;
  /** What a call costs and whether it waits, where the reference says so at the end of each description. */
  readonly cost?: string;
  readonly access: Access;
  readonly input: In;
  readonly output: Out;
  /** The name on MCP where a reference document fixes one; otherwise `noun_verb`. */
  readonly mcpName?: string;
  readonly title: string;
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
  /** Fields whose faults have a code of their own, where a reference fixes one. */
  readonly faults?: Readonly<Record<string, (reason: string, value: unknown) => FairleadError>>;
  /** The command lines it would have a shell run: what a policy judges. */
  readonly commands?: (input: z.output<In>) => readonly string[];
  /** What the audit trail says of a call before it is known how it goes, so of a refused one too; without it, `commands`. */
  readonly about?: (input: z.output<In>) => AuditNote;
  /** It notes itself what it ran, once it knows whether anybody may see it. A refusal is noted all the same. */
  readonly notesCommands?: true;
  /** Other names on the command line, `noun verb`. */
  readonly cliNames?: readonly string[];
  /** Words for a person at a command line, where the plain facts are not what they want to see. */
  readonly show?: (output: z.output<Out>) => string;
  /** The exit code of the command line, where an answer is not simply a success (R-RPC-152). */
  readonly exitCode?: (output: z.output<Out>) => number;
  /** The same where that of the far side can be asked for. */
  readonly passthrough?: (output: z.output<Out>, wanted: boolean) => number;
  /** Input fields the command line takes by position, in order. */
  readonly positional?: readonly (keyof z.input<In> & string)[];
  /** The last of them is a command line: all the words that are left. */
  readonly lastTakesRest?: true;
  readonly run: (call: Call<z.output<In>>) => Promise<z.output<Out>>;
  /** Words (or pictures) for people and models. JSON faces never call it. */
  readonly render: (output: z.output<Out>) => string | readonly Content[];
}

/** What clients are told of an operation, so that they ask the person first where that is due. */
export interface Hints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** Whatever is left unsaid counts as dangerous: forgetting a field must not let a client run something unasked. */
export function hintsOf({ access, destructive, idempotent, openWorld }: AnyOperation): Hints {
  const readOnly = access === 'observe';
  return {
    readOnly,
    destructive: destructive ?? !readOnly,
    idempotent: idempotent ?? readOnly,
    openWorld: openWorld ?? !readOnly,
  };
}

export const operation = <In extends z.ZodType, Out extends z.ZodType>(op: Operation<In, Out>): Operation<In, Out> =>
  op;

// A table holds operations of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyOperation = Operation<any, any>;

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
  /** An error in the words of the book's reference. `data` of the error goes to the structured part. */
  readonly renderError: (error: FairleadError, tool: string) => string;
  /** The structured part of an error, where the reference fixes its shape; otherwise `error` with code and message. */
  readonly errorFacts?: (error: FairleadError, tool: string) => Readonly<Record<string, unknown>>;
}

const ids = new WeakMap<AnyOperation, string>();

/** Makes a book, and so gives each of its operations its id. */
export function defineBook(book: Book): Book {
  for (const [noun, verbs] of Object.entries(book.nouns)) {
    for (const [verb, op] of Object.entries(verbs)) ids.set(op, `${noun}.${verb}`);
  }
  return book;
}

/** `noun.verb`: the one name every face derives its own from. */
export function operationId(op: AnyOperation): string {
  return ids.get(op) ?? 'unnamed';
}
