/**
 * The one place of the page that reaches into xterm.js beyond its public interface (version 6.0.0, pinned; test/web/xterm-core.test.ts
 * fails when the package changes). It offers neither rows before its first one nor a bound for what a sequence may do.
 */

interface CoreLine {
  isWrapped: boolean;
}

interface CoreLines {
  readonly length: number;
  readonly maxLength: number;
  get(index: number): CoreLine | undefined;
  splice(start: number, deleteCount: number, ...items: CoreLine[]): void;
}

export interface CoreMarker {
  readonly line: number;
  readonly isDisposed: boolean;
  dispose(): void;
}

interface CoreBuffer {
  readonly lines: CoreLines;
  x: number;
  y: number;
  ybase: number;
  ydisp: number;
  savedY: number;
  addMarker(line: number): CoreMarker;
}

interface CoreParams {
  readonly params: number[] | Int32Array;
  length: number;
}

interface Core {
  readonly cols: number;
  readonly rows: number;
  readonly buffers: { readonly normal: CoreBuffer; readonly alt: CoreBuffer; readonly active: CoreBuffer };
  /** Only where it is shown. */
  readonly _viewport?: { _sync(): void };
  readonly _inputHandler: {
    eraseInDisplay(params: CoreParams, onlyUnprotected: boolean): boolean;
    registerCsiHandler(id: { prefix?: string; final: string }, run: (params: CoreParams) => boolean): unknown;
  };
}

/** What this needs of a terminal of xterm.js, in the page or without one. */
export interface XtermLike {
  readonly cols: number;
  readonly rows: number;
  write(data: string, parsed?: () => void): void;
  dispose(): void;
}

const coreOf = (xterm: XtermLike): Core => (xterm as unknown as { readonly _core: Core })._core;

/** A mark on a row of the normal screen that moves with it, also while a full-screen program has the screen. `row`: from its first kept one. */
export const markRow = (xterm: XtermLike, row: number): CoreMarker => coreOf(xterm).buffers.normal.addMarker(row);

/** The first row of the normal screen, counted from its first kept one. */
export const screenTop = (xterm: XtermLike): number => coreOf(xterm).buffers.normal.ybase;

/** The row that the cursor is on; undefined while a full-screen program has the screen. */
export function cursorRow(xterm: XtermLike): number | undefined {
  const { active, normal } = coreOf(xterm).buffers;
  return active === normal ? normal.ybase + normal.y : undefined;
}

/** How many rows can still come before the first one. */
export function roomAbove(xterm: XtermLike): number {
  const { lines } = coreOf(xterm).buffers.normal;
  return lines.maxLength - lines.length;
}

/**
 * Puts the rows of another terminal of the same width before the first row. What is looked at stays in sight, and marks stay on their
 * rows.
 */
export function putAbove(xterm: XtermLike, from: XtermLike, count: number): void {
  const source = coreOf(from).buffers.normal.lines;
  const { normal } = coreOf(xterm).buffers;
  const rows = Array.from({ length: count }, (_, at) => source.get(at)).filter((line) => line !== undefined);
  normal.lines.splice(0, 0, ...rows);
  normal.ybase += rows.length;
  normal.ydisp += rows.length;
  normal.savedY += rows.length;
  // The scroll bar learns of rows only when something scrolls.
  const { _viewport: viewport, buffers } = coreOf(xterm);
  if (buffers.active === normal) viewport?._sync();
}

/** Rows continue the one above them. */
export function joinRows(xterm: XtermLike, rows: readonly number[]): void {
  const { lines } = coreOf(xterm).buffers.normal;
  for (const row of rows) {
    const line = lines.get(row);
    if (line) line.isWrapped = true;
  }
}

/**
 * Keeps sequences to what they can do at most on a screen of this size. xterm.js obeys some as often as they say, up to two thousand
 * million times, and throws at one; either would stop the page.
 */
export function boundSequences(xterm: XtermLike): void {
  const core = coreOf(xterm);
  const { _inputHandler: input } = core;
  const clamp = (final: string, most: () => number): void => {
    input.registerCsiHandler({ final }, ({ params }) => {
      if ((params[0] ?? 0) > most()) params[0] = most();
      return false;
    });
  };
  for (const final of ['L', 'M', 'S', 'T']) clamp(final, () => core.rows);
  for (const final of ['I', 'Z', 'b']) clamp(final, () => core.cols);
  for (const id of [{ final: 'J' }, { prefix: '?', final: 'J' }]) {
    input.registerCsiHandler(id, (numbers) => {
      const { x, y, ybase, lines } = core.buffers.active;
      if (numbers.params[0] !== 1 || x < core.cols - 1) return false;
      // From the last cell, everything before it is everything; it would look for a row below.
      if (y >= core.rows - 1) {
        numbers.params[0] = 2;
        return false;
      }
      const mistaken = lines.get(y + 1);
      const wasWrapped = mistaken?.isWrapped ?? false;
      input.eraseInDisplay(numbers, id.prefix === '?');
      if (mistaken) mistaken.isWrapped = wasWrapped;
      const next = lines.get(ybase + y + 1);
      if (next) next.isWrapped = false;
      return true;
    });
  }
}

/** xterm.js keeps the old height of an alternate screen that is not in use; once it is, rows below the last would be printed on. */
export function fitAlternate(xterm: XtermLike): void {
  const { lines } = coreOf(xterm).buffers.alt as { lines: { length: number; maxLength: number } };
  if (lines.length === 0) lines.maxLength = xterm.rows;
}
