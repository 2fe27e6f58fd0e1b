import type { SKRSContext2D } from '@napi-rs/canvas';
import { composed, hasMarks, type GraphemePart } from './combining.ts';
import { type Canvas, type Face, fontFor, isSquare, loadCanvas, loadFontsFor } from './fonts.ts';
import { emptyMask, type Mask, MaskPainter, topLevel } from './mask.ts';
import { isShape, shapeMask } from './shapes.ts';
import type { Pause } from '../../../system/turns.ts';

/** What decides the pixels of a glyph besides its text. */
interface GlyphStyle {
  readonly face: Face;
  /** Tenths of a pixel its cell starts right of a whole one: 0, 2, 4, 6 or 8. */
  readonly phase: number;
  readonly cells: 1 | 2;
}

/** A glyph to be drawn, and where its mask belongs. */
export interface GlyphRequest extends GlyphStyle {
  readonly text: string;
  readonly store: Map<string, Mask>;
}

interface Letter extends GlyphRequest {
  readonly font: string;
  readonly drawn: string;
  /** Where the look of a character that the font lacks is kept, to know it by. */
  readonly absent?: string;
}

/** Masks of all pictures of one size and font, kept until there are too many; then all go, since a screen needs few. */
const maxMasks = 20_000;
/** Glyphs drawn on one sheet: bounds its size, and how long the loop waits for one. */
const sheetGlyphs = 96;
const sheetColumns = 16;
/** Graphemes can be made as long as one likes; what is seen of them is their first few marks. */
const maxText = 32;
/** A code point that no font may have. */
const nobody = '\u{10fffe}';

const control = /^[\x00-\x1f\x7f-\x9f]/;
/** Signs that are black by their meaning. Any other emoji of nothing but black is drawn in the colour of the text. */
const black = /^[\u25aa\u25fc\u25fe\u26ab\u2b1b\u{1f5a4}]/u;

/** The glyphs of one scale and font family, drawn once each and kept as masks. */
export class GlyphCache {
  readonly #family: string;
  readonly #scale: number;
  readonly #cellTenths: number;
  readonly #cellHeight: number;
  readonly #baseline: number;
  readonly #stores: Map<string, Mask>[] = [];
  readonly #advances = new Map<string, number>();
  #count = 0;

  constructor(family: string, scale: number, cellTenths: number, cellHeight: number) {
    this.#family = family;
    this.#scale = scale;
    this.#cellTenths = cellTenths;
    this.#cellHeight = cellHeight;
    this.#baseline = 13 * scale;
  }

  /** Masks of one style by text. Reading from it is the quick path; `prepare` fills it. */
  store({ face, phase, cells }: GlyphStyle): Map<string, Mask> {
    const at = (face * 5 + phase / 2) * 2 + cells - 1;
    const found = this.#stores[at];
    if (found !== undefined) return found;
    const made = new Map<string, Mask>();
    this.#stores[at] = made;
    return made;
  }

  /** Forgets everything when the cache is full. A picture under way keeps the stores it holds. */
  trim(): void {
    if (this.#count <= maxMasks) return;
    this.#stores.length = 0;
    this.#advances.clear();
    this.#count = 0;
  }

  /** Draws what is not there yet, a sheet at a time. `pause` is awaited between sheets. */
  async prepare(missing: readonly GlyphRequest[], pause: Pause): Promise<void> {
    const letters: Letter[] = [];
    const compared = new Set<string>();
    for (const glyph of missing) {
      const { text, store, face, phase, cells } = glyph;
      const code = text.codePointAt(0) ?? 0;
      if (isShape(text)) this.#keep(store, text, this.#shape(code, glyph));
      else if (control.test(text)) this.#keep(store, text, this.#box(glyph));
      else {
        const drawn = drawable(text);
        const font = fontFor(drawn, face, this.#family, this.#scale);
        const absent = code > 0x7e ? nobody + font : undefined;
        if (absent !== undefined && !store.has(absent) && !compared.has(`${phase}${cells}${font}`)) {
          compared.add(`${phase}${cells}${font}`);
          letters.push({ ...glyph, text: absent, drawn: nobody, font });
        }
        letters.push({ ...glyph, drawn, font, ...(absent === undefined ? {} : { absent }) });
      }
    }
    if (letters.length === 0) return;
    const library = await loadCanvas();
    for (const { drawn } of letters) loadFontsFor(drawn, library);
    for (let from = 0; from < letters.length; from += sheetGlyphs) {
      this.#sheet(library, letters.slice(from, from + sheetGlyphs));
      await pause();
    }
  }

  #keep(store: Map<string, Mask>, text: string, mask: Mask): void {
    if (!store.has(text)) this.#count++;
    store.set(text, mask);
  }

  #edges({ phase, cells }: GlyphStyle): { from: number; to: number } {
    return { from: Math.round(phase / 10), to: Math.round((phase + this.#cellTenths * cells) / 10) };
  }

  #shape(code: number, style: GlyphStyle): Mask {
    const { from, to } = this.#edges(style);
    return shapeMask(code, from, to - from, this.#cellHeight, this.#scale);
  }

  /** Stands for a character that no font has. */
  #box(style: GlyphStyle): Mask {
    const { from, to } = this.#edges(style);
    const line = this.#scale;
    const painter = new MaskPainter(to - from - 2 * line, 11 * line);
    const { width, height } = painter;
    painter.rect(0, 0, width, line);
    painter.rect(0, height - line, width, height);
    painter.rect(0, 0, line, height);
    painter.rect(width - line, 0, width, height);
    return painter.mask(from + line, this.#baseline - 10 * line);
  }

  /** Measuring costs three times as much as drawing: once for all places of a text, and once for all of ASCII. */
  #advance(context: SKRSContext2D, font: string, drawn: string): number {
    const measured = this.#family === '' && drawn.length === 1 && drawn < '\x7f' ? 'M' : drawn;
    const key = font + measured;
    let advance = this.#advances.get(key);
    if (advance === undefined) this.#advances.set(key, (advance = context.measureText(measured).width));
    return advance;
  }

  #sheet(library: Canvas, glyphs: readonly Letter[]): void {
    const margin = Math.ceil(this.#cellTenths / 30);
    const slotWidth = Math.ceil((this.#cellTenths * 2) / 10) + 2 * margin + 1;
    const slotHeight = this.#cellHeight;
    const width = slotWidth * sheetColumns;
    const canvas = library.createCanvas(width, slotHeight * Math.ceil(glyphs.length / sheetColumns));
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.letterSpacing = '0.01px';
    let font = '';
    glyphs.forEach((glyph, index) => {
      if (glyph.font !== font) context.font = font = glyph.font;
      const room = (this.#cellTenths * glyph.cells) / 10;
      const pieces = piecesOf(context, glyph);
      const advance = this.#advance(context, font, pieces[0].text);
      const squeeze = Math.min(1, (room * 1.02) / advance);
      // A letter too wide for its cell gets narrower; an emoji keeps its proportions.
      const flatten = glyph.cells === 1 ? 1 : squeeze;
      const slotX = (index % sheetColumns) * slotWidth;
      const slotY = Math.floor(index / sheetColumns) * slotHeight;
      context.save();
      context.beginPath();
      context.rect(slotX, slotY, slotWidth, slotHeight);
      context.clip();
      context.translate(
        slotX + margin + glyph.phase / 10 + (room - advance * squeeze) / 2,
        slotY + this.#baseline - (1 - flatten) * 4 * this.#scale,
      );
      if (squeeze < 1) context.scale(squeeze, flatten);
      for (const piece of pieces) context.fillText(piece.text, piece.x, 0);
      context.restore();
    });
    const pixels = canvas.data();
    glyphs.forEach((glyph, index) => {
      const slotX = (index % sheetColumns) * slotWidth;
      const slotY = Math.floor(index / sheetColumns) * slotHeight;
      const at = (slotY * width + slotX) * 4;
      const cut = readMask(pixels, at, width * 4, slotWidth, slotHeight, margin);
      const mask = isDark(cut) && !black.test(glyph.text) ? { ...cut, rgba: undefined } : cut;
      const absent = glyph.absent !== undefined && same(mask, glyph.store.get(glyph.absent));
      this.#keep(glyph.store, glyph.text, absent ? this.#box(glyph) : mask);
    });
  }
}

/** Signs that the fonts lack, and others that mean and look the same. */
const standIns: Readonly<Record<string, string>> = {
  '⤷': '↳',
  '⤶': '↲',
  '⮕': '➔',
  '⎵': '␣',
  '⦿': '◉',
  '⦾': '◎',
  '⭘': '○',
  '🞂': '▸',
  '⧉': '❐',
};

/** Half a surrogate pair would not pass the border to the library. */
const drawable = (text: string): string => standIns[text] ?? text.slice(0, maxText).replace(/\p{Cs}/gu, '\ufffd');

/** Most are one piece; emoji come with marks of their own, which are no marks to draw. */
function piecesOf(context: SKRSContext2D, { drawn }: Letter): readonly [GraphemePart, ...GraphemePart[]] {
  return hasMarks(drawn) && !isSquare(drawn) ? composed(context, drawn) : [{ text: drawn, x: 0 }];
}

/** Nothing in it is brighter than a dark grey: it would not be seen on a dark ground. */
function isDark({ rgba }: Mask): boolean {
  return rgba !== undefined && rgba.every((value, index) => index % 4 === 3 || value < 110);
}

/** Cuts a glyph out of its slot: only the rectangle that has something in it. */
function readMask(sheet: Uint8Array, at: number, stride: number, width: number, height: number, margin: number): Mask {
  let left = width;
  let right = -1;
  let top = height;
  let bottom = -1;
  let colored = false;
  for (let y = 0; y < height; y++) {
    for (let x = 0, byte = at + y * stride; x < width; x++, byte += 4) {
      const alpha = sheet[byte + 3] ?? 0;
      if (alpha < 9) continue;
      if (sheet[byte] !== alpha || sheet[byte + 1] !== alpha || sheet[byte + 2] !== alpha) colored = true;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  }
  if (right < 0) return emptyMask;
  const size = { x: left - margin, y: top, width: right - left + 1, height: bottom - top + 1 };
  const levels = new Uint8Array(size.width * size.height);
  const rgba = colored ? new Uint8Array(levels.length * 4) : undefined;
  for (let y = 0, to = 0; y < size.height; y++) {
    for (let x = 0; x < size.width; x++, to++) {
      const byte = at + (y + top) * stride + (x + left) * 4;
      levels[to] = Math.round(((sheet[byte + 3] ?? 0) * topLevel) / 255);
      rgba?.set(sheet.subarray(byte, byte + 4), to * 4);
    }
  }
  return rgba === undefined ? { ...size, levels } : { ...size, levels, rgba };
}

function same(one: Mask, other: Mask | undefined): boolean {
  return (
    other !== undefined &&
    one.x === other.x &&
    one.y === other.y &&
    one.width === other.width &&
    one.levels.length === other.levels.length &&
    one.levels.every((level, index) => level === other.levels[index])
  );
}

const caches = new Map<string, GlyphCache>();
/** Sizes and fonts in use at once; four scales of the bundled font, and a few of the caller's. */
const maxCaches = 8;

export function glyphCache(family: string, scale: number, cellTenths: number, cellHeight: number): GlyphCache {
  const key = `${scale} ${family}`;
  let cache = caches.get(key);
  if (cache === undefined) {
    cache = new GlyphCache(family, scale, cellTenths, cellHeight);
    if (caches.size >= maxCaches) caches.delete(caches.keys().next().value ?? '');
    caches.set(key, cache);
  }
  cache.trim();
  return cache;
}
