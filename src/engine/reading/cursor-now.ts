import type { Terminal } from '../terminal/terminal.ts';
import { encodeCursor } from './cursor.ts';
import { takePicture } from './screen-history.ts';

/** Where a reader who has seen everything up to now would read on. */
export async function cursorNow(terminal: Terminal, signal: AbortSignal): Promise<string> {
  await terminal.sync(signal);
  const { epoch, viewportTop, cursor, alternate } = terminal.screen.facts;
  const { id } = takePicture(terminal);
  return encodeCursor(terminal, {
    offset: terminal.shownTo,
    epoch,
    row: viewportTop + cursor.y,
    picture: id,
    alternate,
  });
}
