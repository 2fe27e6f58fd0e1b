import { type Cell, defaultColor, type Grid, style, underlineKind } from '../screen/grid.ts';
import { mix, paletteOf, type Rgb, rgbOf } from './color.ts';
import { type Face, isSquare } from './glyphs/fonts.ts';
import { frameButtons, frameTop, type Geometry } from './geometry.ts';
import type { GlyphCache, GlyphRequest } from './glyphs/glyphs.ts';
import { emptyMask, type Mask } from './glyphs/mask.ts';
import type { Pause } from '../../system/turns.ts';
import { type Rect, underlineBars } from './underline.ts';

/** Two colours that meet in a cell. `inked` when something of the first is drawn on the second. */
export interface Ink {
  readonly fg: Rgb;
  readonly bg: Rgb;
  inked: boolean;
}

/** A mask in its place: the whole pixel at or left of its cell's edge, and the top of its row. */
export interface Placed {
  readonly x: number;
  readonly y: number;
  readonly mask: Mask;
  readonly ink: number;
}

export interface Bar extends Rect {
  readonly ink: number;
}

/** A picture before it has pixels: what is to be painted, in order. */
export interface Plan {
  readonly inks: readonly Ink[];
  /** Filled with the second colour of their ink. */
  readonly grounds: readonly Bar[];
  readonly glyphs: readonly Placed[];
  /** Lines under, through and over text, and thin cursors: filled with the first colour of their ink. */
  readonly lines: readonly Bar[];
}

const lineStyles = style.underline | style.strike | style.overline;

/** Collects what a grid needs, then draws the glyphs that were never drawn before. */
export async function planPicture(grid: Grid, geometry: Geometry, cache: GlyphCache, pause: Pause): Promise<Plan> {
  const planner = new Planner(grid, geometry, cache);
  await planner.collect(pause);
  await cache.prepare(planner.missing, pause);
  return planner.plan();
}

interface Waiting {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly store: Map<string, Mask>;
  readonly ink: number;
}

class Planner {
  readonly missing: GlyphRequest[] = [];
  readonly #grid: Grid;
  readonly #geometry: Geometry;
  readonly #cache: GlyphCache;
  readonly #inks: Ink[] = [];
  readonly #inkOf = new Map<number, number>();
  readonly #grounds: Bar[] = [];
  readonly #lines: Bar[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #asked = new Map<Map<string, Mask>, Set<string>>();

  constructor(grid: Grid, geometry: Geometry, cache: GlyphCache) {
    this.#grid = grid;
    this.#geometry = geometry;
    this.#cache = cache;
  }

  plan(): Plan {
    const glyphs = this.#waiting.map(({ x, y, text, store, ink }) => ({
      x,
      y,
      mask: store.get(text) ?? emptyMask,
      ink,
    }));
    return { inks: this.#inks, grounds: this.#grounds, glyphs, lines: this.#lines };
  }

  async collect(pause: Pause): Promise<void> {
    const { rows } = this.#geometry;
    const palette = paletteOf(this.#geometry.theme);
    this.#ink(palette.foreground, palette.background);
    for (let row = rows.from; row < rows.to; row++) {
      this.#row(row);
      await pause();
    }
    if (this.#geometry.chrome && this.#geometry.title !== '') this.#title();
  }

  /** The first is the theme's own pair: what blank parts of the picture have. */
  #ink(fg: Rgb, bg: Rgb): number {
    const key = fg * 0x1000000 + bg;
    let index = this.#inkOf.get(key);
    if (index === undefined) {
      index = this.#inks.push({ fg, bg, inked: false }) - 1;
      this.#inkOf.set(key, index);
    }
    return index;
  }

  #use(ink: number): void {
    const used = this.#inks[ink];
    if (used !== undefined) used.inked = true;
  }

  #row(row: number): void {
    const { cols, top, rows, cellHeight } = this.#geometry;
    const cells = this.#grid.lines[row]?.cells ?? [];
    const y = top + (row - rows.from) * cellHeight;
    const cursor = this.#cursorColumn(row, cells);
    let ground = 0;
    let groundFrom = cols.from;
    let last: Cell | undefined;
    let ink = 0;
    for (let col = cols.from; col < cols.to; col++) {
      const cell = cells[col];
      if (cell === undefined) ink = 0;
      else if (!sameLook(cell, last)) ink = this.#inkFor(cell);
      last = cell;
      const width = cell?.width === 2 && col + 1 < cols.to ? 2 : 1;
      let own = ink;
      if (cursor !== undefined && col >= cursor.from && col < cursor.to && this.#grid.cursor.shape === 'block') {
        own = this.#cursorInk();
      }
      if (this.#inks[own]?.bg !== this.#inks[ground]?.bg) {
        this.#ground(ground, groundFrom, col, y);
        ground = own;
        groundFrom = col;
      }
      if (cell === undefined || (cell.style & style.invisible) !== 0) continue;
      if (cell.text !== '' && cell.text !== ' ') this.#glyph(cell, width, col, y, own);
      if ((cell.style & lineStyles) !== 0) this.#lineBars(cell, col, y, own);
    }
    this.#ground(ground, groundFrom, cols.to, y);
    if (cursor !== undefined && this.#grid.cursor.shape !== 'block') this.#thinCursor(cursor, y);
  }

  /** The pixel where a column begins. */
  #x(col: number): number {
    const { left, cellTenths, cols } = this.#geometry;
    return left + Math.round(((col - cols.from) * cellTenths) / 10);
  }

  #ground(ink: number, from: number, to: number, y: number): void {
    if (from >= to || this.#inks[ink]?.bg === this.#inks[0]?.bg) return;
    this.#grounds.push({ x0: this.#x(from), y0: y, x1: this.#x(to), y1: y + this.#geometry.cellHeight, ink });
  }

  #inkFor(cell: Cell): number {
    const palette = paletteOf(this.#geometry.theme);
    let fg = rgbOf(cell.fg, palette, palette.foreground);
    let bg = rgbOf(cell.bg, palette, palette.background);
    if ((cell.style & style.inverse) !== 0) [fg, bg] = [bg, fg];
    if ((cell.style & style.dim) !== 0) fg = mix(fg, bg, 0.55);
    return this.#ink(fg, bg);
  }

  #underlineInk({ underlineColor = defaultColor, style: bits }: Cell, over: number): number {
    const palette = paletteOf(this.#geometry.theme);
    const bg = this.#inks[over]?.bg ?? palette.background;
    const fg = rgbOf(underlineColor, palette, palette.foreground);
    const ink = this.#ink((bits & style.dim) === 0 ? fg : mix(fg, bg, 0.55), bg);
    this.#use(ink);
    return ink;
  }

  #cursorInk(): number {
    const palette = paletteOf(this.#geometry.theme);
    return this.#ink(palette.background, palette.cursor);
  }

  #cursorColumn(row: number, cells: readonly Cell[]): { from: number; to: number } | undefined {
    const { cursor, lines, rows, cols } = this.#grid;
    if (!cursor.visible || row !== Math.max(0, lines.length - rows) + cursor.y) return undefined;
    // A cursor waiting behind the last column, as after a full line, is shown on it.
    let from = Math.min(cursor.x, cols - 1);
    if (cells[from]?.width === 0 && from > 0) from--;
    return { from, to: from + (cells[from]?.width === 2 ? 2 : 1) };
  }

  #thinCursor({ from, to }: { from: number; to: number }, y: number): void {
    const { cols, scale, cellHeight } = this.#geometry;
    if (from < cols.from || from >= cols.to) return;
    const palette = paletteOf(this.#geometry.theme);
    const ink = this.#ink(palette.cursor, palette.background);
    this.#use(ink);
    const x0 = this.#x(from);
    const bottom = y + cellHeight;
    if (this.#grid.cursor.shape === 'bar') this.#lines.push({ x0, y0: y, x1: x0 + 2 * scale, y1: bottom, ink });
    else this.#lines.push({ x0, y0: bottom - 2 * scale, x1: this.#x(to), y1: bottom, ink });
  }

  #glyph(cell: Cell, cells: 1 | 2, col: number, y: number, ink: number): void {
    const { left, cellTenths, cols } = this.#geometry;
    const face = (((cell.style & style.bold) === 0 ? 0 : 1) | ((cell.style & style.italic) === 0 ? 0 : 2)) as Face;
    this.#place(cell.text, face, cells, left, (col - cols.from) * cellTenths, y, ink);
  }

  #place(text: string, face: Face, cells: 1 | 2, left: number, tenths: number, y: number, ink: number): void {
    const phase = tenths % 10;
    const store = this.#cache.store({ face, phase, cells });
    if (!store.has(text)) this.#ask({ face, phase, cells, text, store });
    this.#use(ink);
    this.#waiting.push({ x: left + (tenths - phase) / 10, y, text, store, ink });
  }

  /** In the middle of the frame's bar, cut to leave the buttons free. */
  #title(): void {
    const { width, cellTenths, cellHeight, scale, title, theme } = this.#geometry;
    const { foreground, background } = paletteOf(theme);
    const ink = this.#ink(mix(foreground, background, 0.6), background);
    const room = Math.floor(((width - 2 * frameButtons * scale) * 10) / cellTenths);
    const signs: { text: string; cells: 1 | 2; at: number }[] = [];
    let used = 0;
    for (const { segment: text } of new Intl.Segmenter().segment(title.slice(0, 500))) {
      const cells = isSquare(text) ? 2 : 1;
      if (used + cells > room) break;
      if (text.trim() !== '') signs.push({ text, cells, at: used });
      used += cells;
    }
    const left = Math.round((width - (used * cellTenths) / 10) / 2);
    const y = Math.round((frameTop * scale - cellHeight) / 2);
    for (const { text, cells, at } of signs) this.#place(text, 0, cells, left, at * cellTenths, y, ink);
  }

  #ask(wanted: GlyphRequest): void {
    let asked = this.#asked.get(wanted.store);
    if (asked === undefined) this.#asked.set(wanted.store, (asked = new Set()));
    if (asked.has(wanted.text)) return;
    asked.add(wanted.text);
    this.missing.push(wanted);
  }

  #lineBars(cell: Cell, col: number, y: number, ink: number): void {
    const { scale, left } = this.#geometry;
    const bits = cell.style;
    const x0 = this.#x(col);
    const x1 = this.#x(col + 1);
    const bar = (points: number): void => {
      this.#lines.push({ x0, y0: y + points * scale, x1, y1: y + (points + 1) * scale, ink });
    };
    this.#use(ink);
    if ((bits & style.underline) !== 0) {
      const under = cell.underlineColor === undefined ? ink : this.#underlineInk(cell, ink);
      for (const rect of underlineBars(underlineKind(bits), { x0, x1, y }, left, scale)) {
        this.#lines.push({ ...rect, ink: under });
      }
    }
    if ((bits & style.strike) !== 0) bar(9);
    if ((bits & style.overline) !== 0) bar(0);
  }
}

/** Style bits that change a cell's colours. */
const colorStyles = style.inverse | style.dim;

function sameLook(one: Cell, other: Cell | undefined): boolean {
  return (
    other !== undefined && one.fg === other.fg && one.bg === other.bg && ((one.style ^ other.style) & colorStyles) === 0
  );
}
