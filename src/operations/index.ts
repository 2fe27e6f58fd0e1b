import type { Book } from '../engine/call/operation.ts';
import { coreBook } from './core/index.ts';
import { sshBook } from './remote/index.ts';
import { terminalBook } from './terminal/index.ts';

/** What is offered unless somebody chooses, in the order in which faces list them. */
export const usualBooks: readonly Book[] = [coreBook, terminalBook, sshBook];

/** Every book. Those that few ask for are loaded only now: a server that has yet to say hello waits for none of them. */
export const allBooks = async (): Promise<readonly Book[]> => [
  ...usualBooks,
  (await import('./session/index.ts')).sessionBook,
];
