import { style } from '../screen/grid.ts';
import type { Cell } from '../screen/grid.ts';
import type { Screen } from '../screen/screen.ts';
import type { Attention } from './attention.ts';
import { type Asked, question } from './questions.ts';

/** Rows above the cursor that may belong to a question. */
const contextRows = 12;

/** What the screen asks a person for where its cursor stands. Text after the cursor means that nobody is asked there. */
export function recognise(
  screen: Screen,
  program: Pick<Asked, 'echo' | 'quietMs' | 'program' | 'reads'>,
): Attention | undefined {
  const { cursor, viewportTop, modes } = screen.facts;
  const top = Math.max(0, cursor.y - contextRows);
  const { lines } = screen.grid({ from: viewportTop + top, rows: cursor.y - top + 1 });
  const row = lines.at(-1);
  if (!row || lines.length !== cursor.y - top + 1) return undefined;
  // In the last column the cursor may stand on the last character, waiting to wrap.
  const end = cursor.x === row.cells.length - 1 && row.cells[cursor.x]?.text !== '' ? cursor.x + 1 : cursor.x;
  if (row.cells.slice(end).some(({ text }) => text.trim() !== '')) return undefined;
  const shown = row.cells.slice(0, end);
  let first = lines.length - 1;
  while (first > 0 && lines[first]?.wrapped) first--;
  const texts = lines.map(({ cells }) => textOf(cells));
  const written = shown.filter(({ text }) => text.trim() !== '');
  return question({
    line: texts.slice(first, -1).join('') + textOf(shown),
    above: texts.slice(0, first).map((text) => text.trimEnd()),
    lastRow: cursor.y === screen.size.rows - 1,
    inverse: written.length > 0 && written.every((cell) => (cell.style & style.inverse) !== 0),
    bracketedPaste: modes.bracketedPaste,
    ...program,
  });
}

function textOf(cells: readonly Cell[]): string {
  return cells.map(({ text, width }) => (width === 0 ? '' : text === '' ? ' ' : text)).join('');
}
