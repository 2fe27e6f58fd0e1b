import { style } from '../../screen/grid.ts';
import type { Cell } from '../../screen/grid.ts';
import type { Screen } from '../../screen/screen.ts';
import type { ProgramPrompt } from './prompt.ts';
import { type CursorView, mayAsk, question, secretQuestion } from './known-prompts.ts';

/** Rows above the cursor that may belong to a question. */
const contextRows = 12;

/** What the screen asks for where its cursor stands. Text after the cursor means that no program asks there. */
export function recognise(
  screen: Screen,
  program: Pick<CursorView, 'echo' | 'quietMs' | 'program' | 'reads'>,
): ProgramPrompt | undefined {
  const shown = atCursor(screen);
  if (!shown) return undefined;
  if (shown.behind.trim() !== '') return drawnField(shown);
  return question({ ...shown, bracketedPaste: screen.facts.modes.bracketedPaste, ...program });
}

/** Whether what the screen shows would be a question if a program began to read. */
export function mayBecomeQuestion(screen: Screen): boolean {
  const shown = atCursor(screen);
  return shown !== undefined && shown.behind.trim() === '' && mayAsk(shown);
}

interface AtCursor extends Pick<CursorView, 'line' | 'above' | 'lastRow' | 'inverse'> {
  /** What stands in the cursor's row from the cursor on. */
  readonly behind: string;
}

function atCursor(screen: Screen): AtCursor | undefined {
  const { cursor, viewportTop } = screen.facts;
  const top = Math.max(0, cursor.y - contextRows);
  const { lines } = screen.grid({ from: viewportTop + top, rows: cursor.y - top + 1 });
  const row = lines.at(-1);
  if (!row || lines.length !== cursor.y - top + 1) return undefined;
  // In the last column the cursor may stand on the last character, waiting to wrap.
  const end = cursor.x === row.cells.length - 1 && row.cells[cursor.x]?.text !== '' ? cursor.x + 1 : cursor.x;
  const shown = row.cells.slice(0, end);
  let first = lines.length - 1;
  while (first > 0 && lines[first]?.wrapped) first--;
  const texts = lines.map(({ cells }) => textOf(cells));
  const written = shown.filter(({ text }) => text.trim() !== '');
  return {
    line: texts.slice(first, -1).join('') + textOf(shown),
    above: joined(texts, lines.slice(0, first)),
    lastRow: cursor.y === screen.size.rows - 1,
    inverse: written.length > 0 && written.every((cell) => (cell.style & style.inverse) !== 0),
    behind: textOf(row.cells.slice(end)),
  };
}

/** A field for a secret, as pinentry draws it: `│ Passphrase: ****______ │`, with the question above it in the same box. */
const fieldBefore = /^\s*[│|](.{0,40}(?:pass(?:phrase|word|code)|\bPIN)\b.{0,40}:\s?)[*•]*$/iu;
const fieldAfter = /^[_*•\s]{2,}[│|]/u;
const boxed = /^\s*[│|](.*)[│|]\s*$/u;

/** The program that reads there is not in the foreground: it is the agent of the one that is. */
function drawnField({ line, above, behind }: AtCursor): ProgramPrompt | undefined {
  const label = fieldBefore.exec(line)?.[1]?.trim();
  if (label === undefined || !fieldAfter.test(behind)) return undefined;
  const first = above.findLastIndex((text) => !boxed.test(text)) + 1;
  const inside = above.slice(first).map((text) => boxed.exec(text)?.[1]?.trim() ?? '');
  return secretQuestion([...inside.filter((text) => text !== ''), label].join('\n'));
}

/** The lines that these rows show. */
function joined(texts: readonly string[], rows: readonly { readonly wrapped: boolean }[]): string[] {
  const above: string[] = [];
  for (const [at, { wrapped }] of rows.entries()) {
    if (wrapped && above.length > 0) above.push((above.pop() ?? '') + texts[at]);
    else above.push(texts[at] ?? '');
  }
  return above.map((text) => text.trimEnd());
}

function textOf(cells: readonly Cell[]): string {
  return cells.map(({ text, width }) => (width === 0 ? '' : text === '' ? ' ' : text)).join('');
}
