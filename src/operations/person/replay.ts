import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from '../../engine/call/call.ts';
import { operation } from '../../engine/call/operation.ts';
import { maySee } from '../../engine/call/principal.ts';
import type { Engine } from '../../engine/engine.ts';
import { Keyframe } from '../../engine/recording/keyframes/keyframe.ts';
import type { ReplayEntry } from '../../engine/recording/replay/entries.ts';
import { bytesText } from '../../lib/byte-count.ts';

const Id = z.string().min(1).max(255).describe('Id of a recording');
const Moment = z.number().min(0).max(1e9);
const Cells = z.number().int();

const Recording = z.object({
  id: z.string(),
  kind: z.enum(['cast', 'log']).describe('cast: an asciicast; log: the raw log of a session'),
  terminal: z.string().optional(),
  title: z.string().optional(),
  startedAt: z.string(),
  ms: z.number().optional().describe('How long it took; absent until it has ended'),
  playMs: z.number().optional().describe('How long it plays: casts cut long pauses'),
  blocks: z.object({ n: z.number().int(), failed: z.number().int().optional() }).optional().describe('Its commands'),
  bytes: z.number().int(),
  state: z.enum(['recording', 'finished', 'unfinished']).describe('unfinished: its server was killed'),
  masked: z.boolean().describe('Secrets are masked in the file itself; what is played here is always masked'),
});
type ListedRecording = z.output<typeof Recording>;

export const list = operation({
  title: 'List recordings',
  summary: 'List the recordings of this machine, newest first.',
  access: 'observe',
  input: z.strictObject({
    before: Id.optional().describe('Go on behind this recording'),
    limit: z.number().int().min(1).max(1000).default(100).describe('At most so many'),
    terminal: z.string().max(64).optional().describe('Only those of this terminal'),
  }),
  output: z.object({ recordings: z.array(Recording), more: z.boolean() }),
  async run({ input, engine, caller }) {
    const { before, limit, terminal } = input;
    const all = (await visible(engine, caller)).map(listed);
    const own = terminal === undefined ? all : all.filter((one) => one.terminal === terminal);
    const from = before === undefined ? 0 : own.findIndex(({ id }) => id === before) + 1;
    return { recordings: own.slice(from, from + limit), more: own.length > from + limit };
  },
  render: ({ recordings: all, more }) =>
    all.length === 0
      ? 'No recordings.'
      : [...all.map(line), ...(more ? ['More: --before and the last id.'] : [])].join('\n'),
});

export const seek = operation({
  title: 'Show a moment of a recording',
  summary: 'Show the masked screen of a recording at a moment.',
  access: 'observe',
  input: z.strictObject({ recording: Id, t: Moment.describe('Seconds since the start, as it plays') }),
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
    const entry = await called(input.recording, engine, caller);
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
    recording: Id,
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
      .array(z.tuple([z.number(), z.string(), z.string()]))
      .describe('Seconds, code (o output, r resize, m marker, x exit), data: as in an asciicast of version 2'),
    to: z.number().describe('These are all up to here; go on from it'),
    more: z.boolean(),
  }),
  positional: ['recording', 'from', 'to'],
  async run({ input, engine, caller, signal }) {
    const { recording, from, to, max_bytes: maxBytes } = input;
    const found = await engine.recordings.replays.range(
      await called(recording, engine, caller),
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
    recording: Id,
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
    const all = await engine.recordings.replays.keys(await called(recording, engine, caller), from, to, signal);
    const shown = all.slice(0, limit).map(({ screen, ...key }) => (screens ? { ...key, screen } : key));
    return { recording, keys: shown, more: all.length > limit };
  },
  render: ({ keys: all }) =>
    all
      .map(({ t, block }) => `${t.toFixed(1).padStart(8)} s${block === undefined ? '' : `  command ${block}`}`)
      .join('\n') || 'No keyframes: it is short enough to play from the start.',
});

const seconds = (ms: number): number => Math.round(ms * 1000) / 1e6;

const visible = (engine: Engine, caller: Caller): Promise<ReplayEntry[]> =>
  engine.recordings.replays.list(({ owner }) => maySee({ owner }, caller));

/** By its id alone: a page must not name files. */
async function called(id: string, engine: Engine, caller: Caller): Promise<ReplayEntry> {
  const found = (await visible(engine, caller)).find((entry) => entry.id === id);
  if (found) return found;
  throw new FairleadError('not_found', `There is no recording ${JSON.stringify(id.slice(0, 80))}.`, {
    hint: 'replay.list shows them with their ids.',
  });
}

function listed(entry: ReplayEntry): ListedRecording {
  const { id, kind, terminal, title, startTime, durationMs, playMs, blocks, bytes, state, masked } = entry;
  return {
    id,
    kind,
    ...(terminal === undefined ? {} : { terminal }),
    ...(title === undefined ? {} : { title }),
    startedAt: new Date(startTime).toISOString(),
    ...(durationMs === undefined ? {} : { ms: durationMs }),
    ...(playMs === undefined ? {} : { playMs }),
    ...(blocks === undefined ? {} : { blocks }),
    bytes,
    state,
    masked,
  };
}

function line({ id, kind, startedAt, playMs, bytes, state, title }: ListedRecording): string {
  const length = playMs === undefined ? '' : `${(playMs / 1000).toFixed(1)} s`;
  const when = startedAt.slice(0, 16).replace('T', ' ');
  const columns = [id.padEnd(16), kind.padEnd(4), when, length.padStart(9), bytesText(bytes).padStart(9), state];
  return [...columns, ...(title === undefined ? [] : [title])].join('  ');
}
