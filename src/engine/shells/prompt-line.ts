import type { Terminal } from '../terminal/terminal.ts';

/** What stands before the cursor, rows that were wrapped joined. Call it after `terminal.sync()`. */
export function cursorLine({ screen }: Terminal): string {
  const { cursor, viewportTop } = screen.facts;
  const at = viewportTop + cursor.y;
  const rows = screen.rowTexts(Math.max(screen.baseRow, at - 5), 7).filter(({ row }) => row <= at);
  let first = rows.length - 1;
  while (first > 0 && rows[first]?.wrapped === true) first--;
  const last = (rows.at(-1)?.text ?? '').padEnd(cursor.x).slice(0, widthToIndex(rows.at(-1)?.text ?? '', cursor.x));
  return rows
    .slice(first, -1)
    .map(({ text }) => text)
    .concat(last)
    .join('');
}

/** Where column `x` lies in a string in which wide characters take one position. */
function widthToIndex(text: string, x: number): number {
  if (/^[ -~]*$/.test(text)) return x;
  let column = 0;
  let index = 0;
  for (const character of text) {
    if (column >= x) return index;
    column +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
        character,
      )
        ? 2
        : 1;
    index += character.length;
  }
  return index + (x - column);
}

/** As shells of the POSIX family end their prompts. */
const shellPrompt = /[$#%❯➜λ]\s?$/u;
/** A shell wants the rest of a command. */
const continuation = /^(?:\S{0,20}> |\.\.\.+>? |\s*\.\.\.: )$/;
/** As interpreters end theirs: `>>> `, `sqlite> `, `In [1]: `, `irb(main):001:0> `. */
const interpreterPrompt = /(?:>|\]:|\(\w+\)|»|\?>)\s?$/;

export const looksLikeShellPrompt = (line: string): boolean => shellPrompt.test(line);
export const looksLikeContinuation = (line: string): boolean => continuation.test(line);
export const looksLikePrompt = (line: string): boolean => shellPrompt.test(line) || interpreterPrompt.test(line);
