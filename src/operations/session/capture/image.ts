import { createHash } from 'node:crypto';
import { z } from 'zod';
import { accounted, type Call } from '../../../engine/call/call.ts';
import type { Content } from '../../../engine/call/operation.ts';
import { grabDesktop } from '../../../engine/capture/desktop.ts';
import { instanceClipboard } from '../../../engine/capture/clipboard.ts';
import type { RowsToDraw } from '../../../engine/capture/rows-to-draw.ts';
import type { Picture } from '../../../engine/picture/png.ts';
import { themeNamed } from '../../../engine/picture/themes.ts';
import { FairleadError } from '../../../contract/errors.ts';
import type { Terminal } from '../../../engine/terminal/terminal.ts';

/** Shared by the methods that take pictures. */

export const captureInput = {
  include_base64: z.boolean().default(false).describe('Add the PNG to the answer as base64'),
  theme: z
    .enum(['standard', 'midnight', 'daylight', 'classic'])
    .optional()
    .describe('Colours; default the theme in force'),
  os: z.boolean().default(false).describe('A picture of the desktop instead, if a program of the system can take one'),
};

export const Scale = z.number().int().min(1).max(4).optional().describe('1 to 4 pixels to a point; default 2 if small');

export const CapturedImage = z.object({
  path: z.string(),
  width: z.number().int(),
  height: z.number().int(),
  size_bytes: z.number().int(),
  sha256: z.string(),
  base64: z.string().optional(),
});

export const imageShape = { image: CapturedImage, type: z.literal('image/png') };

/** The colours of a picture. */
export const themeOf = ({ input, engine }: Pick<Call<{ readonly theme?: string | undefined }>, 'input' | 'engine'>) =>
  input.theme === undefined ? engine.theme : themeNamed(input.theme);

/** In words, where older rows begin to lack their colours. */
export const plainNote = ({ colouredFrom }: RowsToDraw, from: number): string =>
  from < colouredFrom ? `Rows before ${colouredFrom} come back from the log, without their colours.` : '';

/** What a caller should know of a picture, where there is anything. */
export function withNote(sentences: readonly string[]): { note?: string } {
  const note = sentences.filter((one) => one !== '').join(' ');
  return note === '' ? {} : { note };
}

/** A symbol, so that no JSON carries the bytes unless they were asked for. */
const png = Symbol('png');
type SavedImage = z.output<typeof CapturedImage> & { readonly [png]?: Uint8Array };

type Asking = Pick<Call<{ readonly include_base64: boolean; readonly os: boolean }>, 'input' | 'engine' | 'caller'> & {
  readonly signal: AbortSignal;
};

export type ImageKind = 'screen' | 'window' | 'region';

/** Saves a picture and tells of it. */
export async function saved(
  kind: ImageKind,
  { bytes, width, height }: Picture,
  { input, engine }: Pick<Asking, 'input' | 'engine'>,
): Promise<{ image: SavedImage; type: 'image/png' }> {
  const path = await engine.pictures.folder.save(kind, bytes, engine.clock.now());
  const image: SavedImage = {
    path,
    width,
    height,
    size_bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    ...(input.include_base64 && { base64: Buffer.from(bytes).toString('base64') }),
    [png]: bytes,
  };
  return { image, type: 'image/png' };
}

/** Which method took a picture of which kind. */
const methods: Readonly<Record<ImageKind, string>> = {
  screen: 'capture.screen',
  window: 'capture.window',
  region: 'capture.select',
};

/**
 * The desktop shows what no session does: a caller that may only look at sessions does not get it, and every picture of it is in the
 * audit trail, where looking at sessions is not.
 */
export async function desktop(
  kind: ImageKind,
  call: Asking,
): Promise<{ image: SavedImage; type: 'image/png'; mode: 'desktop'; tool: string }> {
  const what = { operation: methods[kind], access: 'control', terminal: undefined } as const;
  return await accounted(what, call, async (admit, note) => {
    note({ detail: 'desktop' });
    if (!call.caller.may('control')) {
      throw new FairleadError('not_permitted', 'This caller may only look at sessions, not at the desktop.', {
        hint: 'Leave os out.',
      });
    }
    await admit(call.input);
    const { program, ...picture } = await grabDesktop(call.engine.service(instanceClipboard).tools, call.signal);
    return { ...(await saved(kind, picture, call)), mode: 'desktop', tool: program };
  });
}

/** Clients and models refuse larger pictures, and would then show nothing at all. */
const longestSide = 8000;
const largestBytes = 3_500_000;

/** The picture, where a model can take it, and the words. */
export function withPicture(image: z.output<typeof CapturedImage>, words: readonly string[]): string | Content[] {
  const { [png]: bytes } = image as SavedImage;
  const { path, width, height, size_bytes, sha256 } = image;
  const facts = `PNG ${width}x${height}, ${size_bytes} bytes, sha256 ${sha256}: ${path}`;
  const isShown = bytes !== undefined && Math.max(width, height) <= longestSide && size_bytes <= largestBytes;
  const unshown = 'It is too large to be shown here: open the file, or take fewer rows.';
  const text = [facts, ...(isShown ? [] : [unshown]), ...words.filter((line) => line !== '')].join('\n');
  if (!isShown) return text;
  return [
    { type: 'image', bytes, mimeType: 'image/png' },
    { type: 'text', text },
  ];
}

/** The session, as every capture names it. */
export const aboutSession = ({ identity, state }: Terminal): { session_id: string; title: string } => ({
  session_id: String(identity.number),
  title: state.title.current,
});

export const desktopShape = {
  mode: z.literal('desktop').optional().describe('The picture is of the desktop'),
  tool: z.string().optional().describe('The program that took it'),
};
