import { type AnyEntry, type Book, entriesOf } from './engine/call/operation.ts';
import { usageOf, verbsOf } from './faces/cli/verbs.ts';
import { ApiTable } from './faces/http/api/table.ts';
import { MethodTable } from './faces/jsonrpc/methods.ts';
import { foldBooks } from './faces/mcp/tools.ts';
import { everyBook } from './operations/index.ts';
import { personBook } from './operations/person/index.ts';
import { resourceBook, subBook } from './operations/streams/index.ts';
import { settingsBook } from './operations/settings/index.ts';
import { sessionBook } from './operations/session/index.ts';

/** Exactly what clients are offered of one operation; `null` where a face does not offer it. */
interface OfferedOperation {
  readonly access: string;
  readonly method: string | null;
  readonly cli: readonly string[];
  /** What name, description and input schema cost a model in every conversation (o200k). */
  readonly tokens: number | null;
  readonly mcp: unknown;
  /** Its description at `GET /api/noun/verb`, where there is no tool that holds the same. */
  readonly http?: unknown;
}

const notCalled = (): Promise<never> => Promise.reject(new Error('A surface runs nothing.'));

/** One file for each operation and stream, by its path below test/surface: `book/noun/verb.json`. */
export async function surfaceFiles(countTokens: (text: string) => number): Promise<Record<string, string>> {
  const books = await everyBook();
  const api = new ApiTable(books, () => true);
  const methods = new MethodTable([sessionBook], notCalled).names;
  const cliBooks = [sessionBook, personBook, settingsBook, resourceBook, subBook];
  const usages = new Map(cliBooks.flatMap((book) => [...cliUsages(book)]));
  const files: Record<string, string> = {};
  for (const book of books) {
    const { tools } = foldBooks([book], notCalled, { readOnly: false }).list();
    const keep = (id: string, facts: object): void => {
      files[`${book.name}/${id.replace('.', '/')}.json`] = `${JSON.stringify({ id, ...facts }, null, 2)}\n`;
    };
    for (const [at, [id, op]] of entriesOf(book.nouns).entries()) {
      const tool = tools[at];
      const shown = tool && { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
      keep(id, {
        access: op.access,
        method: book === sessionBook && methods.includes(id) ? id : null,
        cli: usages.get(op) ?? [],
        tokens: shown ? countTokens(JSON.stringify(shown)) : null,
        mcp: tool ?? null,
        ...(!tool && { http: api.describe(id.replace('.', '/')) }),
      } satisfies OfferedOperation);
    }
    for (const [id, op] of entriesOf(book.streams ?? {}))
      keep(id, { access: op.access, cli: usages.get(op) ?? [], http: api.describe(id.replace('.', '/')) });
  }
  return files;
}

function cliUsages(book: Book): Map<AnyEntry, string[]> {
  const usages = new Map<AnyEntry, string[]>();
  for (const verbs of verbsOf(book).values()) {
    for (const verb of verbs.values()) usages.set(verb.op, [...(usages.get(verb.op) ?? []), usageOf(verb)]);
  }
  return usages;
}
