import type { Terminal } from '@xterm/xterm';
import type { SearchLine } from './search.ts';

/** The lines of the buffer; rows that were wrapped are one. */
export function* linesOf(xterm: Terminal): Generator<SearchLine> {
  const { active } = xterm.buffer;
  let from = 0;
  let text = '';
  for (let row = 0; row <= active.length; row++) {
    const line = active.getLine(row);
    if (!line?.isWrapped && row > 0) {
      yield { row: from, text: text.trimEnd() };
      [from, text] = [row, ''];
    }
    // A wrapped row is whole, so that columns can be counted; the end of the line is cut above.
    text += line?.translateToString(false) ?? '';
  }
}

/** The size a terminal would have if it filled this place with letters of this size. */
export function sizeFor(
  xterm: Terminal,
  place: HTMLElement,
  fontSize: number,
): { cols: number; rows: number } | undefined {
  const row = place.querySelector('.xterm-rows')?.firstElementChild?.getBoundingClientRect();
  const now = Number(xterm.options.fontSize);
  const outer = place.parentElement;
  if (!row || !outer || row.height === 0 || now === 0) return undefined;
  const scale = fontSize / now;
  const style = getComputedStyle(outer);
  const width = outer.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  const height = outer.clientHeight - Number.parseFloat(style.paddingTop) - Number.parseFloat(style.paddingBottom);
  const cell = { width: (row.width / xterm.cols) * scale, height: row.height * scale };
  const cols = Math.floor((width - scrollBar) / cell.width);
  const rows = Math.floor(height / cell.height);
  return { cols: Math.min(1000, Math.max(20, cols)), rows: Math.min(1000, Math.max(5, rows)) };
}
const scrollBar = 16;

/** Tells, whenever rows move, how many lines came since the person scrolled up; 0 at the bottom. */
export function watchScrolling(xterm: Terminal, tell: (newLines: number) => void): void {
  let seen: number | undefined;
  const look = (): void => {
    const { viewportY, baseY } = xterm.buffer.active;
    if (viewportY >= baseY) seen = undefined;
    else seen ??= baseY;
    tell(seen === undefined ? 0 : Math.max(0, baseY - seen));
  };
  xterm.onScroll(look);
  xterm.onWriteParsed(look);
  xterm.element?.querySelector('.xterm-viewport')?.addEventListener('scroll', look, { passive: true });
  xterm.element?.addEventListener('wheel', () => requestAnimationFrame(look), { passive: true });
}

/** Where the screen is taller than its place (a phone, a card in the dock), the row of the cursor is what has to be seen. */
export function keepCursorInView(xterm: Terminal, place: HTMLElement): void {
  const outer = place.parentElement;
  if (!outer) return;
  const look = (): void => {
    const rows = place.querySelector('.xterm-rows')?.getBoundingClientRect();
    if (!rows || outer.scrollHeight <= outer.clientHeight) return;
    const { top, bottom } = outer.getBoundingClientRect();
    const height = rows.height / xterm.rows;
    const row = rows.top + xterm.buffer.active.cursorY * height;
    if (row + 2 * height > bottom) outer.scrollTop += row + 2 * height - bottom;
    else if (row < top) outer.scrollTop -= top - row + height;
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(outer);
  sizes.observe(place);
  xterm.onCursorMove(look);
}

/** What is selected, as plain text with wrapped rows joined; empty without a selection. */
export const selectedText = (xterm: Terminal): string => xterm.getSelection();
