import { refuseOldRows } from '../reading/epoch.ts';
import type { Grid, Line } from '../screen/grid.ts';
import type { RowText } from '../screen/rows.ts';
import { Screen } from '../screen/screen.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Rows of a terminal that can be drawn, by their absolute numbers. */
export interface RowsToDraw {
  /** The oldest that is to be had. */
  readonly first: number;
  /** Rows before this one have left the emulator: their text is left, in the colours of plain text. */
  readonly colouredFrom: number;
  readonly grid: (from: number, count: number) => Grid;
  readonly texts: (from: number, count: number) => string[];
}

/** Those from `from` on, as far back as the scrollback goes. Call it after `terminal.sync()`. */
export async function rowsToDraw(terminal: Terminal, from: number, signal: AbortSignal): Promise<RowsToDraw> {
  const { screen } = terminal;
  const { alternate, baseRow, viewportTop, epoch } = screen.facts;
  const wanted = alternate ? viewportTop : baseRow;
  if (alternate || from >= baseRow) return joined(terminal, [], wanted);
  const { rows, first } = await terminal.feed.older.read({}, signal);
  refuseOldRows(terminal, epoch);
  // More may have left the emulator meanwhile.
  const start = Math.max(first, from);
  return joined(terminal, rows(start, Math.max(0, screen.baseRow - start)), start);
}

function joined({ screen, clock }: Terminal, older: readonly RowText[], first: number): RowsToDraw {
  const colouredFrom = first + older.length;
  const plainOf = (from: number, count: number): readonly RowText[] =>
    older.slice(Math.max(0, from - first), Math.max(0, Math.min(from + count - first, older.length)));
  return {
    first,
    colouredFrom,
    grid(from, count) {
      const plain = plainOf(from, count);
      const { lines, cursor, ...live } = screen.grid({ from: from + plain.length, rows: count - plain.length });
      const all = [...plainLines(plain, { cols: live.cols, clock }), ...lines];
      return { ...live, rows: all.length, lines: all, cursor: { ...cursor, y: cursor.y + plain.length } };
    },
    texts(from, count) {
      const plain = plainOf(from, count);
      return [...plain, ...screen.rowTexts(from + plain.length, count - plain.length)].map(({ text }) => text);
    },
  };
}

/** Printed at one time on a screen of its own, which knows how wide characters are. */
const rowsAtOnce = 200;
const withoutWrap = '\x1b[?7l';

function plainLines(rows: readonly RowText[], { cols, clock }: { cols: number; clock: Terminal['clock'] }): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const part = rows.slice(at, at + rowsAtOnce);
    using screen = new Screen({ size: { cols, rows: part.length }, scrollback: 0, clock });
    screen.feed(Buffer.from(withoutWrap + part.map(({ text }) => text).join('\r\n')));
    lines.push(...screen.grid().lines.map(({ cells }, row) => ({ cells, wrapped: part[row]?.wrapped ?? false })));
  }
  return lines;
}
