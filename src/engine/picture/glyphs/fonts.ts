import { fileURLToPath } from 'node:url';
import type * as canvasLibrary from '@napi-rs/canvas';
import { FairleadError } from '../../../contract/errors.ts';
import { fontPoints } from '../geometry.ts';
import { packageRoot } from '../../../system/package-root.ts';

export type Canvas = typeof canvasLibrary;

/** Which of the four cuts of a font; bit 0 bold, bit 1 italic. */
export type Face = 0 | 1 | 2 | 3;

const folder = new URL('assets/fonts/', packageRoot);
const mono = 'Fairlead Mono';
/** The regular cut under a name of its own: it has signs the oblique ones lack. */
const upright = 'Fairlead Mono Upright';

/**
 * Scripts with a font of their own, loaded when the first such character is drawn. The files are not compressed: the library
 * would unpack a WOFF2 file twice, 30 to 90 milliseconds each time, but maps these into memory. Only these characters name
 * the font, so a picture never depends on which fonts an earlier one needed.
 */
interface Script {
  readonly family: string;
  readonly file: string;
  readonly has: RegExp;
  /** Drawn from here even if the main font has it. */
  readonly first: RegExp;
  /** Comes as it is: no bold, no slant, and no font of the caller before it. */
  readonly plain?: true;
  /** Points. A square script looks lost in two cells at the size of the letters. */
  readonly size: number;
}

const han = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\u3000-\u303f\uff00-\uff60\uffe0-\uffe6]/u;
const scripts: readonly Script[] = [
  {
    family: 'Fairlead Emoji',
    file: 'TwemojiColr.ttf',
    has: /\p{Extended_Pictographic}|\p{Emoji_Presentation}|\ufe0f/u,
    first: /\p{Emoji_Presentation}|\ufe0f/u,
    plain: true,
    size: fontPoints,
  },
  { family: 'Fairlead Hangul', file: 'NotoSansKR.ttf', has: /\p{sc=Hang}/u, first: /\p{sc=Hang}/u, size: 14 },
  { family: 'Fairlead Han', file: 'NotoSansSC.ttf', has: han, first: han, size: 14 },
];

let canvas: Promise<Canvas> | undefined;
const loaded = new Set<Script>();

/** The drawing library with our fonts in it, loaded when the first picture is asked for. */
export function loadCanvas(): Promise<Canvas> {
  canvas ??= load();
  return canvas;
}

async function load(): Promise<Canvas> {
  let library: Canvas;
  try {
    library = await import('@napi-rs/canvas');
  } catch (cause) {
    throw new FairleadError(
      'unsupported',
      'Pictures cannot be drawn on this machine: the drawing library does not load.',
      {
        hint: 'Read the screen as text or as ansi text instead.',
        cause,
      },
    );
  }
  for (const cut of ['', '-Bold', '-Oblique', '-BoldOblique']) register(library, `DejaVuSansMono${cut}.ttf`, mono);
  register(library, 'DejaVuSansMono.ttf', upright);
  return library;
}

/** Makes the fonts ready that a text needs beyond the main one. */
export function loadFontsFor(text: string, library: Canvas): void {
  const script = scriptOf(text);
  if (script === undefined || loaded.has(script)) return;
  loaded.add(script);
  register(library, script.file, script.family);
}

function scriptOf(text: string): Script | undefined {
  return text.charCodeAt(0) < 0x1100 && text.length === 1 ? undefined : scripts.find(({ has }) => has.test(text));
}

/** A font missing on disk leaves the system's fonts, then boxes: a poor picture is better than none. */
function register(library: Canvas, file: string, name: string): void {
  library.GlobalFonts.registerFromPath(fileURLToPath(new URL(file, folder)), name);
}

/** Whether a text is drawn from a font of square characters, two cells wide. */
export const isSquare = (text: string): boolean => scriptOf(text)?.first.test(text) ?? false;

/** The CSS font for a text: the caller's family, ours, then whatever the system has. */
export function fontFor(text: string, face: Face, family: string, scale: number): string {
  const own = family === '' ? '' : `${family.split(',').map(quoted).join(', ')}, `;
  const script = scriptOf(text);
  const extra = script === undefined ? '' : `"${script.family}"`;
  if (script?.first.test(text) === true) {
    const before = script.plain === true ? '' : own;
    const cut = script.plain === true ? '' : cutOf(face);
    return `${cut}${script.size * scale}px ${before}${extra}, "${mono}", "${upright}"`;
  }
  return `${cutOf(face)}${fontPoints * scale}px ${own}"${mono}", "${upright}"${extra === '' ? '' : `, ${extra}`}`;
}

const cutOf = (face: Face): string => `${(face & 2) === 0 ? '' : 'italic '}${(face & 1) === 0 ? '' : 'bold '}`;
const quoted = (name: string): string => `"${name.trim()}"`;
