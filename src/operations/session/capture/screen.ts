import { z } from 'zod';
import type { Call } from '../../../engine/call/call.ts';
import { operation } from '../../../engine/call/operation.ts';
import type { Tile } from '../../../engine/capture/contact-sheet.ts';
import { drawSheet } from '../../../engine/capture/draw.ts';
import { lookAt } from '../../../engine/capture/session-tile.ts';
import { pauses } from '../../../system/turns.ts';
import { aboutSession, captureInput, desktop, desktopShape, imageShape, saved, themeOf, withPicture } from './image.ts';

/** All texts of one answer, in characters: well below the protocol's line limit. */
const mostText = 4 << 20;
const leastText = 2000;

const Capture = z.object({
  session_id: z.string(),
  title: z.string(),
  screen: z.string(),
  type: z.literal('text'),
  truncated: z.literal(true).optional().describe('The text was too long for this answer'),
});

export const Sheet = z.object({
  sessions: z.number().int(),
  columns: z.number().int(),
  cropped: z.number().int().describe('Sessions of which a part shows'),
  omitted: z.number().int().describe('Sessions for which there was no room'),
});

type Looking = Pick<Call<{ readonly theme?: string | undefined }>, 'input' | 'engine' | 'caller' | 'signal'>;

/** Every session of the caller, and the picture of all. */
export async function sheetOf({ input, engine, caller, signal }: Looking) {
  const terminals = engine.sessions.all(caller).toSorted((a, b) => a.identity.number - b.identity.number);
  await Promise.all(terminals.map((terminal) => terminal.sync(signal)));
  const most = Math.max(leastText, Math.floor(mostText / Math.max(1, terminals.length)));
  const pause = pauses(signal);
  const captures: z.output<typeof Capture>[] = [];
  const tiles: Tile[] = [];
  for (const terminal of terminals) {
    const { tile, text, isCut } = lookAt(terminal, most);
    tiles.push(tile);
    captures.push({
      ...aboutSession(terminal),
      screen: text,
      type: 'text',
      ...(isCut && { truncated: true as const }),
    });
    await pause();
  }
  const { columns, cropped, omitted, ...picture } = await drawSheet(tiles, themeOf({ input, engine }), signal);
  return { captures, picture, sheet: { sessions: tiles.length, columns, cropped, omitted } };
}

/** In words, what the sheet does not show. */
export function sheetNote({ sessions, cropped, omitted }: z.output<typeof Sheet>): { note?: string } {
  const less = [
    ...(cropped > 0 ? [`only a part of ${cropped} of ${sessions} sessions`] : []),
    ...(omitted > 0 ? [`nothing of ${omitted}`] : []),
  ];
  if (less.length === 0) return {};
  return {
    note: `To keep the picture small it shows ${less.join(' and ')}. A picture of one session shows all of it.`,
  };
}

export const screen = operation({
  title: 'Picture of all sessions',
  summary: 'The text of every session, and one PNG picture of them all with their titles.',
  access: 'observe',
  openWorld: true,
  pictures: true,
  input: z.object(captureInput),
  output: z.object({
    captures: z.array(Capture),
    ...imageShape,
    text_snapshot: z.literal(true),
    sheet: Sheet.optional(),
    ...desktopShape,
    note: z.string().optional(),
  }),
  cliNames: ['screenshot all'],
  cliDefault: true,
  async run(call) {
    const { captures, picture, sheet } = await sheetOf(call);
    if (call.input.os) return { captures, ...(await desktop('screen', call)), text_snapshot: true as const };
    const image = await saved('screen', picture, call);
    return { captures, ...image, text_snapshot: true as const, sheet, ...sheetNote(sheet) };
  },
  show: ({ image, note }) => [image.path, ...(note === undefined ? [] : [note])].join('\n'),
  render: ({ image, captures, sheet, mode, tool, note = '' }) =>
    withPicture(image, [
      mode === undefined ? '' : `mode: ${mode}, taken by ${tool}`,
      sheet === undefined ? '' : sheetWords(sheet),
      note,
      ...captures.map(captureWords),
    ]),
});

export const sheetWords = ({ sessions, columns, cropped, omitted }: z.output<typeof Sheet>): string =>
  `${sessions} sessions in ${columns} columns, ${cropped} cropped, ${omitted} omitted`;

const captureWords = ({ session_id, title, screen: text, truncated }: z.output<typeof Capture>): string =>
  `--- session ${session_id}: ${title}${truncated === true ? ' (text cut)' : ''}\n${text}`;
