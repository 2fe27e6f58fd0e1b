import { renderText } from '../screen/render-text.ts';
import type { RowText } from '../screen/rows.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The reference's signs of an error, in its order: the first one in a row counts. */
export const errorPatterns: readonly string[] = [
  'error:',
  'Error:',
  'ERROR:',
  'error[',
  'fatal:',
  'Fatal:',
  'FATAL:',
  'panic:',
  'PANIC:',
  'not found',
  'command not found',
  'Permission denied',
  'permission denied',
  'No such file or directory',
  'failed',
  'FAILED',
  'traceback',
  'Traceback',
  'Exception',
  'exception:',
  'segfault',
  'Segmentation fault',
];

/** `0 failed`, `no errors found`: success in the words of failure. */
const goodNews = /\b(?:0|no|zero)\s+(?:\w+\s+)?(?:errors?|failed|failures?|failing|exceptions?)\b|\bfailed:?\s*0\b/i;
const onlyWarning = /\bwarn(?:ing)?\b/i;

type ErrorScope = 'viewport' | 'last_block' | 'scrollback';

interface ErrorLine {
  readonly row: number;
  readonly text: string;
  readonly pattern: string;
  readonly severity: 'error' | 'warning';
}

/** Rows that look like an error. Call it after `terminal.sync()`. */
export async function detectErrors(
  terminal: Terminal,
  scope: ErrorScope,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<ErrorLine[]> {
  const rows = scope === 'scrollback' ? (await terminal.feed.older.read({}, signal)).rows() : rowsIn(terminal, scope);
  return rows.flatMap(({ row, text }): ErrorLine[] => {
    const pattern = patterns.find((one) => text.includes(one));
    if (pattern === undefined || goodNews.test(text)) return [];
    return [{ row, text, pattern, severity: onlyWarning.test(text) ? 'warning' : 'error' }];
  });
}

function rowsIn(terminal: Terminal, scope: 'viewport' | 'last_block'): Pick<RowText, 'row' | 'text'>[] {
  const { screen, blocks, log } = terminal;
  const { size } = screen;
  if (scope === 'viewport') return screen.rowTexts(screen.viewportTop);
  const block = blocks.last;
  if (block === undefined) return [];
  const lines = renderText(log.read(block.outputFrom, block.outputTo ?? log.end).bytes, size).split('\n');
  // The output ends where the newest prompt begins: its last visible line locates the others.
  const rows = screen.rowTexts(screen.baseRow);
  let at = rows.length;
  return lines
    .toReversed()
    .map((text) => {
      const found = rows.slice(0, at).findLastIndex((row) => row.text.trimEnd() === text.trimEnd());
      if (found >= 0) at = found;
      return { row: rows[found]?.row ?? screen.baseRow, text };
    })
    .toReversed();
}
