import type { Terminal } from '../terminal/terminal.ts';
import { encodeCursor } from './cursor.ts';

/** The cursor of a reader that has seen everything up to now. */
export async function cursorNow(terminal: Terminal, reader: string, signal: AbortSignal): Promise<string> {
  await terminal.sync(signal);
  const { screen } = terminal;
  const { epoch, viewportTop, cursor, alternate } = screen.facts;
  const { id } = screen.history.take(screen, reader);
  return encodeCursor(terminal, {
    offset: terminal.feed.shownTo,
    epoch,
    row: viewportTop + cursor.y,
    picture: id,
    alternate,
  });
}
