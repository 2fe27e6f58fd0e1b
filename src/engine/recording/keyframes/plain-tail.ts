/** So much before the first row that can be seen is read all the same: the redactor looks back that far at most. */
const leadChars = 64 << 10;

const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/;

/** Nothing but text, tabs and line ends: whatever it prints scrolls out in order. */
export const isPlain = (text: string): boolean => !control.test(text);

/**
 * The end of plain text, from the start of a line on, that fills the whole screen wherever the cursor was; undefined when the text
 * is too short for that, or a line in it does not begin in the first column.
 */
export function tailOf(text: string, rows: number): string | undefined {
  const from = text.lastIndexOf('\r\n', text.length - leadChars);
  if (from < 0) return undefined;
  const tail = text.slice(from + 2);
  let lines = 0;
  for (let at = tail.indexOf('\r\n'); at >= 0 && lines < 2 * rows; at = tail.indexOf('\r\n', at + 2)) lines++;
  return lines < 2 * rows ? undefined : tail;
}
