import { fileURLToPath } from 'node:url';
import type * as canvasLibrary from '@napi-rs/canvas';
import { FairleadError } from '../../contract/errors.ts';
import { fontPoints } from './geometry.ts';

export type Canvas = typeof canvasLibrary;

/** Which of the four cuts of a font; bit 0 bold, bit 1 italic. */
export type Face = 0 | 1 | 2 | 3;

const folder = new URL('../../../assets/fonts/', import.meta.url);
const mono = 'Fairlead Mono';
/** The regular cut under a name of its own: it has signs the oblique ones lack. */
const upright = 'Fairlead Mono Upright';
const emoji = 'Fairlead Emoji';

let canvas: Promise<Canvas> | undefined;
let emojiReady = false;

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

/** Unpacking the emoji font takes over ten milliseconds, and most screens have none. */
export function loadEmoji(library: Canvas): void {
  if (emojiReady) return;
  register(library, 'TwemojiColr.woff2', emoji);
  emojiReady = true;
}

/** A font missing on disk leaves the system's fonts, then boxes: a poor picture is better than none. */
function register(library: Canvas, file: string, name: string): void {
  library.GlobalFonts.registerFromPath(fileURLToPath(new URL(file, folder)), name);
}

const emojiPattern = /\p{Emoji_Presentation}|\ufe0f/u;

export const isEmoji = (text: string): boolean => emojiPattern.test(text);

/** The CSS font for a text: the caller's family, ours, then whatever the system has. */
export function fontFor(text: string, face: Face, family: string, scale: number): string {
  const size = fontPoints * scale;
  const own = family === '' ? '' : `${family.split(',').map(quoted).join(', ')}, `;
  if (isEmoji(text)) return `${size}px "${emoji}", ${own}"${mono}"`;
  const cut = `${(face & 2) === 0 ? '' : 'italic '}${(face & 1) === 0 ? '' : 'bold '}`;
  return `${cut}${size}px ${own}"${mono}", "${upright}", "${emoji}"`;
}

const quoted = (name: string): string => `"${name.trim()}"`;
