import type { Book } from '../engine/operation.ts';
import { coreBook } from './core/index.ts';
import { sshBook } from './remote/index.ts';
import { sessionBook } from './session/index.ts';
import { terminalBook } from './terminal/index.ts';

/** Every book, in the order in which faces list them. */
export const books: readonly Book[] = [coreBook, terminalBook, sshBook, sessionBook];
