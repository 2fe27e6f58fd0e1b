import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import { operation } from '../../../engine/call/operation.ts';
import { castLines } from '../../../engine/recording/replay/clip.ts';
import { exportCast } from '../../../engine/recording/export/export-cast.ts';
import { bytesText } from '../../../lib/byte-count.ts';
import { RecordingId, replayCalled, ReplayStretch, replayTitle } from './shared.ts';

const types = {
  cast: 'application/x-asciicast',
  gif: 'image/gif',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
} as const;
const formats = ['cast', 'gif', 'svg', 'txt', 'md'] as const;

/** A larger file is refused: it would have to be kept in memory. */
const mostBytes = 64 << 20;

const exported = z.object({
  name: z.string().describe('Name of the file'),
  type: z.string(),
  size: z.number().int().describe('Bytes'),
  masked: z.number().int().describe('Lines in which secrets are masked'),
  bytes: z.instanceof(Uint8Array).describe('Base64'),
});

const exportFile = operation({
  title: 'Export a recording',
  summary:
    'Make a file of a recording, or of a stretch of it: an asciicast, a GIF, an SVG, text or Markdown. Secrets are masked.',
  access: 'observe',
  http: [
    { method: 'POST', path: '/api/recordings/:recording/export', file: (made: z.output<typeof exported>) => made },
  ],
  input: z.strictObject({
    recording: RecordingId,
    format: z.enum(formats).default('cast').describe('Of the file'),
    ...ReplayStretch,
    speed: z.number().min(0.1).max(100).default(1).describe('Of a GIF or an SVG: 2 is twice as fast'),
  }),
  output: exported,
  positional: ['recording', 'format'],
  async run({ input, engine, caller, signal }) {
    const { recording, format, from, to, speed } = input;
    const entry = await replayCalled(recording, engine, caller);
    const { replays } = engine.recordings;
    const clip = await replays.clip(entry, { from, to }, signal);
    const title = clip.info.title ?? replayTitle(entry);
    const options = { metadata: { title: title ?? null }, theme: engine.theme.name, speed, progress: () => {}, signal };
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of format === 'cast' ? castLines(clip) : exportCast(clip, format, options)) {
      signal.throwIfAborted();
      size += chunk.length;
      if (size > mostBytes) throw tooLarge(recording);
      chunks.push(chunk);
    }
    const { length: hidden } = await replays.masked(entry, { from, to }, signal);
    const isClip = from !== undefined || to !== undefined;
    const name = fileName(entry.startTime, entry.id, isClip ? { from: from ?? 0, to } : undefined, format);
    return { name, type: types[format], size, masked: hidden, bytes: Buffer.concat(chunks) };
  },
  render: ({ name, type, size, bytes, masked }) =>
    /^image\/gif|^image\/svg/.test(type)
      ? `${name}: ${bytesText(size)}, masked in ${masked} lines. \`fairlead recordings export\` writes such files.`
      : Buffer.from(bytes).toString(),
});
export { exportFile as export };

/** Our own: a title may be anything. */
function fileName(
  startTime: number,
  id: string,
  clip: { readonly from: number; readonly to: number | undefined } | undefined,
  format: string,
): string {
  const when = new Date(startTime).toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-');
  const part = clip ? `-${clip.from.toFixed(0)}s-${clip.to === undefined ? 'end' : `${clip.to.toFixed(0)}s`}` : '';
  return `fairlead-${when}-${id.replaceAll(/[^\w-]/g, '').slice(0, 16)}${part}.${format}`;
}

const tooLarge = (recording: string): FairleadError =>
  new FairleadError('too_large', `The file would have more than ${mostBytes >> 20} MB.`, {
    hint: `Export a stretch with from and to, or on this machine: fairlead recordings export ${recording}.`,
  });

const Removed = z.object({
  id: z.string(),
  title: z.string().optional(),
  startedAt: z.string(),
  bytes: z.number().int(),
});

export const remove = operation({
  title: 'Remove recordings',
  summary:
    'Remove recordings with their files, for good. One that is being made is refused, and then nothing is removed.',
  access: 'administer',
  destructive: true,
  idempotent: false,
  openWorld: false,
  input: z.strictObject({ recordings: z.array(RecordingId).min(1).max(100).describe('Their ids') }),
  output: z.object({ removed: z.array(Removed) }),
  positional: ['recordings'],
  about: ({ recordings }) => ({ detail: `${recordings.length} recordings`, changes: recordings }),
  async run({ input, engine, caller }) {
    const entries = await Promise.all([...new Set(input.recordings)].map((id) => replayCalled(id, engine, caller)));
    const live = entries.find(({ state }) => state === 'recording');
    if (live) {
      throw new FairleadError('conflict', `${live.id} is being recorded. Nothing was removed.`, {
        hint: 'Stop the recording first.',
      });
    }
    const removed: z.output<typeof Removed>[] = [];
    for (const entry of entries) {
      await engine.recordings.replays.remove(entry);
      const title = replayTitle(entry);
      const startedAt = new Date(entry.startTime).toISOString();
      removed.push({ id: entry.id, ...(title !== undefined && { title }), startedAt, bytes: entry.bytes });
    }
    return { removed };
  },
  render: ({ removed }) =>
    removed
      .map(
        ({ id, title, startedAt, bytes }) =>
          `Removed ${[id, title, startedAt, bytesText(bytes)].filter((one) => one !== undefined).join(', ')}.`,
      )
      .join('\n'),
});
