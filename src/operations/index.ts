import type { Book } from '../engine/call/operation.ts';
import { coreBook } from './core/index.ts';
import { sshBook } from './remote/index.ts';
import { resourceBook, subBook } from './streams/index.ts';
import { terminalBook } from './terminal/index.ts';

/** The default books, in the order in which faces list them. */
export const usualBooks: readonly Book[] = [coreBook, terminalBook, sshBook, subBook];

/** Every book that a model may be offered. The session book is loaded on demand, so that `fairlead mcp` answers its first message sooner. */
export const allBooks = async (): Promise<readonly Book[]> => [
  ...usualBooks,
  (await import('./session/index.ts')).sessionBook,
];

/** Those that are no toolsets, too: what is for the person alone, and what can be followed by a URI. */
export const everyBook = async (): Promise<readonly Book[]> => [
  ...(await allBooks()),
  resourceBook,
  (await import('./person/index.ts')).personBook,
  (await import('./settings/index.ts')).settingsBook,
];
