import { paint, usedCells } from './ansi.ts';
import { readCells } from './xterm/cells.ts';
import { cellSize, type CoreLine } from './xterm/core.ts';

/** A row as escape text, from the default pen on. */
export interface PaintedRow {
  readonly row: number;
  readonly text: string;
  /** This row continues the one above it. */
  readonly wrapped: boolean;
}

/** No cell has a colour or a style: its text is all there is. */
export function hasNoColor({ _data: data, length }: CoreLine): boolean {
  for (let at = 0; at < length * cellSize; at += cellSize) if (data[at + 1] !== 0 || data[at + 2] !== 0) return false;
  return true;
}

/** The text of a line with its colours, without blanks at its end that have none. */
export function paintRow(line: CoreLine, cols: number): string {
  const cells = readCells(line, cols);
  return paint(cells.slice(0, usedCells(cells))).text;
}
