import type { Log } from '../../system/incident.ts';
import type { CallOperation } from '../../engine/call/call.ts';
import type { Book } from '../../engine/call/operation.ts';
import type { Prompt } from '../../operations/prompt.ts';
import { foldPrompt } from './prompts.ts';
import { PersonDoor, type PersonPages } from './elicit/elicit.ts';
import type { McpResources, McpSurface } from './surface.ts';
import { chooseToolsets, foldBooks } from './tools.ts';

export interface Catalogue {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly instructions: string;
  readonly books: readonly Book[];
  /** Names of books, or `all`. */
  readonly toolsets: readonly string[];
  readonly prompts: readonly Prompt[];
  readonly readOnly: boolean;
  readonly call: CallOperation;
  readonly resources?: Omit<McpResources, 'call'>;
  readonly log?: Log | undefined;
  /** Where a person answers what no client may carry. */
  readonly pages?: PersonPages;
  readonly clientGone?: McpSurface['clientGone'];
}

/** Folds what the product offers into what MCP shows of it, once for the life of the process. */
export function mcpSurface(catalogue: Catalogue): McpSurface {
  const { name, version, title, description, instructions, readOnly, resources, log, pages, clientGone } = catalogue;
  const books = chooseToolsets(catalogue.books, catalogue.toolsets);
  const tools = foldBooks(books, catalogue.call, { readOnly, log });
  const schemes = new Set(books.flatMap((book) => book.schemes ?? []));
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    instructions,
    may: (access) => !readOnly || access === 'observe',
    offers: (what) => tools.has(what) || schemes.has(what),
    tools,
    prompts: catalogue.prompts.map(foldPrompt),
    ...(resources !== undefined && { resources: { ...resources, call: catalogue.call } }),
    ...(pages !== undefined && { person: new PersonDoor(pages) }),
    ...(clientGone !== undefined && { clientGone }),
  };
}
