import { FairleadError } from '../../contract/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { bind, unbind } from './handle.ts';

/** How far a reader has read: where in the output, on which row, and which picture of the screen it has seen. */
interface ReadCursor {
  readonly offset: number;
  readonly epoch: number;
  /** Absolute row the terminal's cursor stood on. */
  readonly row: number;
  /** The id of a picture in the screen's history. */
  readonly picture: number;
  /** It was the alternate screen: `row` means nothing on the other one. */
  readonly alternate: boolean;
}

/** Short, because models retype it; opaque to callers. */
export function encodeCursor(terminal: Terminal, { offset, epoch, row, picture, alternate }: ReadCursor): string {
  const numbers = [offset, epoch, row, picture].map((number) => number.toString(36)).join('.');
  return bind(terminal, `${alternate ? 'a' : 'n'}${numbers}`);
}

export function decodeCursor(terminal: Terminal, text: string): ReadCursor {
  const match = /^([an])([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})$/.exec(
    unbind(terminal, text) ?? '',
  );
  const [offset, epoch, row, picture] = (match ?? []).slice(2).map((part) => Number.parseInt(part, 36));
  if (match === null || offset === undefined || offset > terminal.log.end) {
    throw new FairleadError('invalid_input', `"${text.slice(0, 60)}" is not a cursor of this terminal.`, {
      hint: 'Pass the cursor of an earlier answer for the same terminal, or leave it out.',
    });
  }
  return { offset, epoch: epoch ?? 0, row: row ?? 0, picture: picture ?? 0, alternate: match[1] === 'a' };
}
