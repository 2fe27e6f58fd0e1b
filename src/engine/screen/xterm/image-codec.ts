import { type CoreAttributes, createCore } from './core.ts';
import type { Facts } from './facts.ts';
import type { Image } from './image.ts';

/** A sleeping screen: the image, and what is told of it without waking it up. */
export interface SavedScreen {
  readonly image: Image;
  readonly facts: Facts;
}

/** A pen as plain numbers: the emulator's own class cannot be written down. */
interface Pen {
  readonly fg: number;
  readonly bg: number;
  readonly ext: number;
  readonly url: number;
}

/** Of another version of this format nothing is read. */
const version = 1;

/** Bytes another process can make the same screen of. Taken of a live emulator, they must be made before it goes on. */
export function encodeScreen({ image, facts }: SavedScreen): Uint8Array {
  const { normal, alt, state, carry, ...rest } = image;
  const head = Buffer.from(
    JSON.stringify({
      version,
      rest,
      facts,
      carry: Buffer.from(carry).toString('base64'),
      normal: { ...normal.kept, savedCurAttrData: penOf(normal.kept.savedCurAttrData) },
      alt: { ...alt.kept, savedCurAttrData: penOf(alt.kept.savedCurAttrData) },
      state: { ...state, handler: { ...state.handler, _curAttrData: penOf(state.handler._curAttrData) } },
      lines: [normal.lines.length, alt.lines?.length ?? -1],
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, normal.lines, alt.lines ?? new Uint8Array(0)]);
}

/** Any pen of the emulator's, to make others of. */
let anyPen: CoreAttributes | undefined;

/** Undefined when the bytes are not of this version. */
export function decodeScreen(bytes: Uint8Array): SavedScreen | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < 4) return undefined;
  const headEnd = 4 + buffer.readUInt32BE(0);
  const read = parse(buffer.toString('utf8', 4, headEnd));
  if (read?.['version'] !== version) return undefined;
  const { rest, facts, carry, normal, alt, state, lines } = read as {
    rest: Pick<Image, 'size' | 'scrollback' | 'trimmed' | 'epoch'>;
    facts: Facts;
    carry: string;
    normal: Image['normal']['kept'];
    alt: Image['alt']['kept'];
    state: Image['state'];
    lines: [number, number];
  };
  anyPen ??= createCore({ cols: 2, rows: 1 }, 0)._inputHandler._curAttrData.clone();
  const pen = anyPen;
  const own = (part: number, from: number): Uint8Array => new Uint8Array(buffer.subarray(from, from + part));
  const made = (kept: Image['normal']['kept']) => ({
    ...kept,
    // What was undefined is null in JSON, or left out; the emulator asks for undefined.
    savedCharset: kept.savedCharset ?? undefined,
    savedCurAttrData: penFrom(kept.savedCurAttrData as unknown as Pen, pen),
  });
  const { charsets, handler, service } = state;
  const dec = service.decPrivateModes;
  const image: Image = {
    ...rest,
    carry: Buffer.from(carry, 'base64'),
    normal: { kept: made(normal), lines: own(lines[0], headEnd) },
    alt: { kept: made(alt), lines: lines[1] < 0 ? undefined : own(lines[1], headEnd + lines[0]) },
    state: {
      ...state,
      service: {
        ...service,
        decPrivateModes: { ...dec, cursorBlink: dec.cursorBlink, cursorStyle: dec.cursorStyle },
      },
      charsets: {
        glevel: charsets.glevel,
        charset: charsets.charset ?? undefined,
        _charsets: charsets._charsets.map((one) => one ?? undefined),
      },
      handler: { ...handler, _curAttrData: penFrom(handler._curAttrData as unknown as Pen, pen) },
    },
  };
  const { modes } = facts;
  return { image, facts: { ...facts, modes: { ...modes, cursorBlink: modes.cursorBlink } } };
}

function penOf({ fg, bg, extended }: CoreAttributes): Pen {
  return { fg, bg, ext: extended._ext, url: extended._urlId };
}

function penFrom({ fg, bg, ext, url }: Pen, like: CoreAttributes): CoreAttributes {
  const pen = like.clone();
  pen.fg = fg;
  pen.bg = bg;
  pen.extended = Object.assign(like.extended.clone(), { _ext: ext, _urlId: url });
  return pen;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
