import { z } from 'zod';
import { operation, stream } from '../../../engine/call/operation.ts';
import { Keyframe } from '../../../engine/recording/keyframes/keyframe.ts';
import { Moment, RecordingId, replayCalled } from './shared.ts';

const Cells = z.number().int();
const Event = z.tuple([z.number(), z.string(), z.string()]);

export const seek = operation({
  title: 'Show a moment of a recording',
  summary: 'Show the masked screen of a recording at a moment.',
  access: 'observe',
  input: z.strictObject({ recording: RecordingId, t: Moment.describe('Seconds since the start, as it plays') }),
  output: z.object({
    recording: z.string(),
    t: z.number(),
    cols: Cells,
    rows: Cells,
    screen: z.string().describe('Escape text that draws it on a blank terminal of this size'),
    text: z.string(),
  }),
  positional: ['recording', 't'],
  async run({ input, engine, caller, signal }) {
    const entry = await replayCalled(input.recording, engine, caller);
    const { size, screen, text } = await engine.recordings.replays.seek(entry, input.t, signal);
    return { ...input, ...size, screen, text };
  },
  render: ({ text }) => text,
});

export const range = operation({
  title: 'Read a stretch of a recording',
  summary: 'Read the masked events of a recording after one moment and up to another.',
  access: 'observe',
  input: z.strictObject({
    recording: RecordingId,
    from: Moment.optional().describe('Seconds: events after this moment; left out, from the start'),
    to: Moment.optional().describe('Seconds: up to and with this moment; left out, to the end'),
    max_bytes: z
      .number()
      .int()
      .min(1)
      .max(8 << 20)
      .default(1 << 20)
      .describe('Stop after so much output'),
  }),
  output: z.object({
    recording: z.string(),
    cols: Cells.describe('Size at the start of the recording'),
    rows: Cells,
    events: z
      .array(Event)
      .describe('Seconds, code (o output, r resize, m marker, x exit), data: as in an asciicast of version 2'),
    to: z.number().describe('These are all up to here; go on from it'),
    more: z.boolean(),
  }),
  positional: ['recording', 'from', 'to'],
  async run({ input, engine, caller, signal }) {
    const { recording, from, to, max_bytes: maxBytes } = input;
    const found = await engine.recordings.replays.range(
      await replayCalled(recording, engine, caller),
      { from, to, maxBytes },
      signal,
    );
    const events = found.events.map(({ atMs, code, data }): [number, string, string] => [seconds(atMs), code, data]);
    return { recording, ...found.info.size, events, to: found.to, more: found.more };
  },
  render: ({ cols, rows, events }) => {
    const header = { version: 2, width: cols, height: rows };
    return [header, ...events].map((one) => JSON.stringify(one)).join('\n');
  },
});

export const keys = operation({
  title: 'List keyframes of a recording',
  summary: 'List the keyframes of a recording: masked screens from which its events go on.',
  access: 'observe',
  input: z.strictObject({
    recording: RecordingId,
    from: Moment.default(0).describe('Seconds: the last one up to here, and those after it'),
    to: Moment.optional().describe('Seconds: up to and with this moment'),
    screens: z.boolean().default(true).describe('False leaves the screens out'),
    limit: z.number().int().min(1).max(10_000).default(200).describe('At most so many'),
  }),
  output: z.object({
    recording: z.string(),
    keys: z.array(Keyframe.extend({ screen: Keyframe.shape.screen.optional() })),
    more: z.boolean(),
  }),
  positional: ['recording', 'from', 'to'],
  async run({ input, engine, caller, signal }) {
    const { recording, from, to = Number.POSITIVE_INFINITY, screens, limit } = input;
    const all = await engine.recordings.replays.keys(await replayCalled(recording, engine, caller), from, to, signal);
    const shown = all.slice(0, limit).map(({ screen, ...key }) => (screens ? { ...key, screen } : key));
    return { recording, keys: shown, more: all.length > limit };
  },
  render: ({ keys: all }) =>
    all
      .map(({ t, block }) => `${t.toFixed(1).padStart(8)} s${block === undefined ? '' : `  command ${block}`}`)
      .join('\n') || 'No keyframes: it is short enough to play from the start.',
});

const seconds = (ms: number): number => Math.round(ms * 1000) / 1e6;

export const followReplay = stream({
  title: 'Follow a recording',
  summary:
    'Follow a recording while it is made: first its masked screen as it is now, then the masked events behind it.',
  access: 'observe',
  input: z.strictObject({ recording: RecordingId }),
  item: z.object({
    t: z.number().describe('Seconds since the start, as it plays: it is known up to here'),
    cols: Cells.optional().describe('With the first item: the size of the screen'),
    rows: Cells.optional(),
    screen: z.string().optional().describe('With the first item: escape text that draws it on a blank terminal'),
    events: z.array(Event).describe('Seconds, code and data, as in an asciicast of version 2'),
    ended: z.boolean().describe('It has ended: this is the last item'),
  }),
  positional: ['recording'],
  async *run({ input, engine, caller, signal }) {
    const entry = await replayCalled(input.recording, engine, caller);
    for await (const { t, screen, events, isOver } of engine.recordings.replays.follow(entry, signal)) {
      const all = events.map(({ atMs, code, data }): [number, string, string] => [seconds(atMs), code, data]);
      yield { t, ...(screen && { ...screen.size, screen: screen.drawn }), events: all, ended: isOver };
    }
  },
  render: ({ events }) => events.map(([, code, data]) => (code === 'o' ? data : '')).join(''),
});
