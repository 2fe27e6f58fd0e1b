import { type AnyOperation, type Book, operationId } from './engine/call/operation.ts';
import { usageOf, verbsOf } from './faces/cli/verbs.ts';
import { MethodTable } from './faces/jsonrpc/methods.ts';
import { foldBooks } from './faces/mcp/tools.ts';
import { everyBook } from './operations/index.ts';
import { sessionBook } from './operations/session/index.ts';

/** Exactly what clients are offered of one operation; `null` where a face does not offer it. */
interface OfferedOperation {
  readonly id: string;
  readonly access: string;
  readonly method: string | null;
  readonly cli: readonly string[];
  /** What name, description and input schema cost a model in every conversation (o200k). */
  readonly tokens: number | null;
  readonly mcp: unknown;
}

const notCalled = (): Promise<never> => Promise.reject(new Error('A surface runs nothing.'));

/** One file for each operation, by its path below test/surface: `book/noun/verb.json`. */
export async function surfaceFiles(countTokens: (text: string) => number): Promise<Record<string, string>> {
  const methods = new MethodTable([sessionBook], notCalled).names;
  const usages = cliUsages(sessionBook);
  const files: Record<string, string> = {};
  for (const book of await everyBook()) {
    const { tools } = foldBooks([book], notCalled, { readOnly: false }).list();
    for (const [at, op] of operationsOf(book).entries()) {
      const id = operationId(op);
      const tool = tools[at];
      const shown = tool && { name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
      const offered: OfferedOperation = {
        id,
        access: op.access,
        method: book === sessionBook && methods.includes(id) ? id : null,
        cli: usages.get(op) ?? [],
        tokens: shown ? countTokens(JSON.stringify(shown)) : null,
        mcp: tool ?? null,
      };
      files[`${book.name}/${id.replace('.', '/')}.json`] = `${JSON.stringify(offered, null, 2)}\n`;
    }
  }
  return files;
}

const operationsOf = ({ nouns }: Book): AnyOperation[] => Object.values(nouns).flatMap((verbs) => Object.values(verbs));

function cliUsages(book: Book): Map<AnyOperation, string[]> {
  const usages = new Map<AnyOperation, string[]>();
  for (const verbs of verbsOf(book).values()) {
    for (const verb of verbs.values()) usages.set(verb.op, [...(usages.get(verb.op) ?? []), usageOf(verb)]);
  }
  return usages;
}
