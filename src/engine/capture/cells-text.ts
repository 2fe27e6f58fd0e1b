import { plainText } from '../../lib/plain-text.ts';
import type { Grid } from '../screen/grid.ts';

/** The text in a part of the columns of a grid, a line for each row, without blanks at their ends. */
export function cellsText({ lines }: Grid, fromCol: number, colCount: number): string {
  const rows = lines.map(({ cells }) => {
    const part = cells.slice(fromCol, fromCol + colCount);
    const text = part.map((cell) => (cell.text === '' && cell.width !== 0 ? ' ' : cell.text)).join('');
    return plainText(text, { separator: ' ' }).text.trimEnd();
  });
  return rows.join('\n').trimEnd();
}
