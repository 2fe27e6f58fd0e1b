import { readCells, lineText } from './xterm/cells.ts';
import type { CoreLine } from './xterm/core.ts';
import type { Emulator } from './xterm/emulator.ts';
import type { Line } from './grid.ts';
import { markHidden, mayHide } from './hidden.ts';
import { hasNoColor, type PaintedRow, paintRow } from './painted.ts';

export interface RowText {
  /** Absolute row number. */
  readonly row: number;
  readonly text: string;
  /** This row continues the one above it. */
  readonly wrapped: boolean;
  /** Characters a person does not see, between ⟦ and ⟧ in the text; counted only when marks were asked for. */
  readonly hidden?: number;
}

/** Rows of the screen that shows, from absolute row `from` (or the first retained one after it), at most `count`. */
function* linesFrom(
  { core, trimmed }: Emulator,
  from: number,
  count: number,
): Generator<[row: number, line: CoreLine]> {
  const { active, normal } = core.buffers;
  const first = active === normal ? trimmed : trimmed + normal.ybase;
  const start = Math.max(0, from - first);
  const end = Math.min(active.lines.length, start + Math.max(0, count - Math.max(0, first - from)));
  for (let i = start; i < end; i++) {
    const line = active.lines.get(i);
    if (line) yield [first + i, line];
  }
}

export function gridLines(emulator: Emulator, from: number, count: number): Line[] {
  const lines: Line[] = [];
  for (const [, line] of linesFrom(emulator, from, count)) {
    lines.push({ cells: readCells(line, emulator.core.cols), wrapped: line.isWrapped });
  }
  return lines;
}

export function rowTexts(emulator: Emulator, from: number, count: number, marks = false): RowText[] {
  const rows: RowText[] = [];
  for (const [row, line] of linesFrom(emulator, from, count)) {
    if (marks && mayHide(line)) {
      rows.push({ row, ...markHidden(readCells(line, emulator.core.cols)), wrapped: line.isWrapped });
    } else rows.push({ row, text: lineText(line, emulator.core.cols), wrapped: line.isWrapped });
  }
  return rows;
}

export function paintedRows(emulator: Emulator, from: number, count: number): PaintedRow[] {
  const { cols } = emulator.core;
  return [...linesFrom(emulator, from, count)].map(([row, line]) => ({
    row,
    text: hasNoColor(line) ? lineText(line, cols) : paintRow(line, cols),
    wrapped: line.isWrapped,
  }));
}

/** The rows as one text, without the blank lines at its end. */
export function joinRows(rows: readonly RowText[], wrap: 'join' | 'keep'): string {
  const lines: string[] = [];
  for (const { text, wrapped } of rows) {
    if (wrap === 'join' && wrapped && lines.length > 0) lines[lines.length - 1] += text;
    else lines.push(text);
  }
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines.join('\n');
}
