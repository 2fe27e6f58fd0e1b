import type { CallToolResult, InputRequiredResult, ListToolsResult, Tool } from '@modelcontextprotocol/server';
import { FairleadError } from '../../contract/errors.ts';
import { quote, visible } from '../../contract/quote.ts';
import type { CallOperation } from '../../engine/call/call.ts';
import { incident, type Log } from '../../system/incident.ts';
import { type AnyOperation, type Book, entriesOf, hintsOf } from '../../engine/call/operation.ts';
import { closest } from '../../lib/closest.ts';
import { failure, refusedCall, success, withNotices } from './answer.ts';
import { callKey } from './call-key.ts';
import { inputSchema, outputSchema } from './schema.ts';
import type { McpTool, ToolRequest } from './surface.ts';

/** All tools by name, in a fixed order. */
export class ToolTable {
  readonly #tools = new Map<string, McpTool>();
  readonly #withheld: ReadonlyMap<string, CallToolResult>;
  #list: ListToolsResult | undefined;

  /** `withheld`: tools that exist but are not offered here, with the refusal that says why. */
  constructor(tools: readonly McpTool[], withheld: ReadonlyMap<string, CallToolResult> = new Map()) {
    for (const tool of tools) {
      if (this.#tools.has(tool.name)) throw new TypeError(`Two tools are called ${tool.name}.`);
      this.#tools.set(tool.name, tool);
    }
    this.#withheld = withheld;
  }

  [Symbol.iterator](): Iterator<McpTool> {
    return this.#tools.values();
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Schemas are made at the first call, so that the handshake does not wait for them. */
  list(): ListToolsResult {
    this.#list ??= { tools: [...this.#tools.values()].map((tool) => tool.definition()) };
    return this.#list;
  }

  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    request: ToolRequest,
  ): Promise<CallToolResult | InputRequiredResult> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return this.#refuse(name);
    return tool.run(input, request);
  }

  #refuse(name: string): CallToolResult {
    const withheld = this.#withheld.get(name);
    if (withheld !== undefined) return withheld;
    const near = closest(name, this.#tools.keys());
    const message = `Unknown tool: "${visible(quote(name))}"`;
    const hint = near.length > 0 ? `Did you mean ${near.map((other) => `"${other}"`).join(', ')}?` : undefined;
    return refusedCall(hint === undefined ? `Error: ${message}` : `Error: ${message}. ${hint}`, {
      code: 'unknown_operation',
      message,
      ...(hint !== undefined && { hint, closest: near }),
    });
  }
}

/** The books named by `--toolsets`, in catalogue order. */
export function chooseToolsets(all: readonly Book[], wanted: readonly string[]): readonly Book[] {
  const books = all.filter(isToolset);
  if (wanted.includes('all')) return books;
  const known = books.map(({ name }) => name);
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0 || wanted.length === 0) {
    const fault = wanted.length === 0 ? '--toolsets names none' : `Unknown toolset: ${unknown.join(', ')}`;
    throw new FairleadError('invalid_input', `${fault}.`, {
      hint: `Choose from ${[...known, 'all'].join(', ')}.`,
    });
  }
  return books.filter(({ name }) => wanted.includes(name));
}

/** A model must not answer for the person: what is for the person alone is never a tool. */
const isToolset = ({ forPerson, asResources }: Book): boolean => forPerson !== true && asResources !== true;

interface FoldOptions {
  readonly readOnly: boolean;
  readonly log?: Log | undefined;
}

/** Folds books into tools. Read-only keeps the operations that only observe; the others are refused, and the refusal says why. */
export function foldBooks(books: readonly Book[], call: CallOperation, { readOnly, log }: FoldOptions): ToolTable {
  const tools: McpTool[] = [];
  const withheld = new Map<string, CallToolResult>();
  for (const [book, name, op] of operations(books)) {
    if (isOffered(op, readOnly)) {
      tools.push(fold(book, name, op, call, log));
      continue;
    }
    const reason = `${name} changes things, and this server was started read-only (--read-only).`;
    withheld.set(name, failure(book, name, new FairleadError('not_permitted', reason)));
  }
  return new ToolTable(tools, withheld);
}

const isOffered = ({ access }: AnyOperation, readOnly: boolean): boolean => !readOnly || access === 'observe';

/** The names of the tools that these books offer, without making the tools. */
export function* offeredNames(books: readonly Book[], readOnly: boolean): Generator<string> {
  for (const [, name, op] of operations(books)) if (isOffered(op, readOnly)) yield name;
}

function* operations(books: readonly Book[]): Generator<[Book, string, AnyOperation]> {
  for (const book of books.filter(isToolset)) {
    for (const [id, op] of entriesOf(book.nouns)) yield [book, op.mcpName ?? id.replace('.', '_'), op];
  }
}

function fold(book: Book, name: string, op: AnyOperation, call: CallOperation, log: Log | undefined): McpTool {
  let definition: Tool | undefined;
  return {
    name,
    definition: () => (definition ??= define(book, name, op)),
    async run(input, { caller, signal, progress, person, context }) {
      const notices: string[] = [];
      const told = { ...caller, tell: (notice: string) => void notices.push(notice) };
      try {
        const key = op.keyed === true ? callKey(context) : undefined;
        const output = await call(op, input, { caller: told, signal, progress, person, key });
        return withNotices(success(op, output), notices);
      } catch (thrown) {
        // `call` rejects only with FairleadError; a renderer that throws is the way anything else gets here.
        const error = thrown instanceof FairleadError ? thrown : incident(thrown, name, log);
        return withNotices(failure(book, name, error, op), notices);
      }
    },
  };
}

function define(book: Book, name: string, op: AnyOperation): Tool {
  const { readOnly, destructive, idempotent, openWorld } = hintsOf(op);
  const inErrors = Object.keys(book.errorFacts?.(new FairleadError('internal', ''), name) ?? {});
  return {
    name,
    title: op.title,
    description: op.cost === undefined ? op.summary : `${op.summary}\nCost: ${op.cost}.`,
    inputSchema: inputSchema(op.input, book.spellsDefaults),
    ...(op.pictures !== true && { outputSchema: outputSchema(op.output, inErrors) }),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: openWorld,
    },
  };
}
