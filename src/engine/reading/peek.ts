import type { Clock } from '../../lib/clock.ts';
import { plainText } from '../../lib/plain-text.ts';
import { onAbort } from '../../system/on-abort.ts';
import { type Cell, type Color, defaultColor, type Line, style, trueColor } from '../screen/grid.ts';
import { darkTheme, paletteColor } from '../screen/theme.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Text that looks alike: colour of the text and of its ground (0: the default, 1–16: a colour), bold, dim and inverse in one number. */
export type PeekRun = readonly [text: string, look: number];

/** A small picture of a terminal, as text. */
export interface Peek {
  /** `tail`: the last rows up to the cursor; `grid`: the whole screen of a full-screen program. */
  readonly mode: 'tail' | 'grid';
  readonly rows: readonly (readonly PeekRun[])[];
  readonly cols: number;
  readonly cursor?: { readonly x: number; readonly y: number };
}

export interface PeekSize {
  readonly rows: number;
  readonly cols: number;
}

/** Bits of a look. */
const groundShift = 5;
const bold = 1 << 10;
const dim = 1 << 11;
const inverse = 1 << 12;

/** The screen must be up to date. */
export function peekOf({ screen }: Terminal, size: PeekSize): Peek {
  const { cols, lines, cursor } = screen.grid();
  if (screen.alternate) return { mode: 'grid', cols, rows: lines.map((line) => runs(line, cols)), ...at(cursor, 0) };
  const last = Math.max(
    cursor.y,
    lines.findLastIndex(({ cells }) => cells.some(({ text }) => text.trim() !== '')),
  );
  const first = Math.max(0, last + 1 - size.rows);
  const shown = lines.slice(first, last + 1);
  return { mode: 'tail', cols, rows: shown.map((line) => runs(line, size.cols)), ...at(cursor, first) };
}

function at({ x, y, visible }: { x: number; y: number; visible: boolean }, first: number): Pick<Peek, 'cursor'> {
  return visible && y >= first ? { cursor: { x, y: y - first } } : {};
}

function runs({ cells }: Line, most: number): PeekRun[] {
  const found: [string, number][] = [];
  for (const cell of cells.slice(0, most)) {
    if (cell.width === 0) continue;
    const look = lookOf(cell);
    const text = cell.text === '' ? ' ' : cell.text;
    const last = found.at(-1);
    if (last?.[1] === look) last[0] += text;
    else found.push([text, look]);
  }
  const end = found.at(-1);
  if (end && (end[1] & ~31) === 0) end[0] = end[0].trimEnd();
  return found.filter(([text]) => text !== '').map(([text, look]) => [plainText(text, { separator: ' ' }).text, look]);
}

function lookOf({ fg, bg, style: bits }: Cell): number {
  return (
    nearest(fg) |
    (nearest(bg) << groundShift) |
    (bits & style.bold ? bold : 0) |
    (bits & style.dim ? dim : 0) |
    (bits & style.inverse ? inverse : 0)
  );
}

const known = new Map<Color, number>();
const mostKnown = 4096;

/** 1–16: the ANSI colour that comes closest; 0: the default. */
function nearest(color: Color): number {
  if (color === defaultColor) return 0;
  if (color < 16) return color + 1;
  const before = known.get(color);
  if (before !== undefined) return before;
  const rgb = color >= trueColor ? color - trueColor : paletteColor(darkTheme, color);
  let best = 0;
  for (let index = 1; index < 16; index++) if (distance(rgb, index) < distance(rgb, best)) best = index;
  if (known.size >= mostKnown) known.clear();
  known.set(color, best + 1);
  return best + 1;
}

function distance(rgb: number, index: number): number {
  const other = paletteColor(darkTheme, index);
  return [16, 8, 0].reduce((sum, shift) => sum + (((rgb >> shift) & 0xff) - ((other >> shift) & 0xff)) ** 2, 0);
}

export interface PeekItem extends Peek {
  readonly terminal: string;
}

/** A picture is made at most this often for each terminal. */
const everyMs = 250;
const everyMsOfMany = 500;
const everyMsOfGrids = 1000;
const many = 20;

/** Small pictures of these terminals: each at once, and again when it has changed. A slow reader gets the newest. */
export async function* watchPeeks(
  terminals: readonly Terminal[],
  size: PeekSize,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<PeekItem, void, void> {
  const dirty = new Set(terminals);
  const sent = new Map<Terminal, { readonly at: number; readonly picture: string; readonly isGrid: boolean }>();
  let wake = (): void => {};
  const listening = terminals.flatMap((terminal) => {
    const stir = (): void => {
      dirty.add(terminal);
      wake();
    };
    return [terminal.output.on(stir), terminal.screen.resized.on(stir), terminal.screen.cleared.on(stir)];
  });
  using _abort = onAbort(signal, () => wake());
  const dueAt = (terminal: Terminal): number => {
    const last = sent.get(terminal);
    if (!last) return 0;
    return last.at + (last.isGrid ? everyMsOfGrids : terminals.length > many ? everyMsOfMany : everyMs);
  };
  try {
    while (!signal.aborted) {
      const [next] = [...dirty].toSorted((a, b) => dueAt(a) - dueAt(b));
      const left = next ? dueAt(next) - clock.monotonic() : Number.POSITIVE_INFINITY;
      if (!next || left > 0) {
        await new Promise<void>((resolve) => {
          const timer = Number.isFinite(left) ? clock.after(left, resolve) : undefined;
          wake = () => {
            timer?.[Symbol.dispose]();
            resolve();
          };
        });
        continue;
      }
      dirty.delete(next);
      await next.feed.sync(signal);
      const peek = peekOf(next, size);
      const picture = JSON.stringify(peek);
      const isSame = sent.get(next)?.picture === picture;
      sent.set(next, { at: clock.monotonic(), picture, isGrid: peek.mode === 'grid' });
      if (!isSame) yield { terminal: next.id, ...peek };
    }
  } finally {
    for (const one of listening) one[Symbol.dispose]();
  }
}
