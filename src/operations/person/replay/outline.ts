import { z } from 'zod';
import { operation } from '../../../engine/call/operation.ts';
import type { ReplayEntry } from '../../../engine/recording/replay/entries.ts';
import { Moment, RecordingId, replayCalled, ReplayStretch, replayTitle, visibleReplays } from './shared.ts';

const Times = z.tuple([z.number(), z.number()]);
const WallClock = z.number().describe('In ms since 1970');

export const blocks = operation({
  title: 'List the commands of a recording',
  summary:
    'List the commands of a recording with exit codes, times and who typed, when it waited for a person, and how much is masked.',
  access: 'observe',
  input: z.strictObject({ recording: RecordingId }),
  output: z.object({
    recording: z.string(),
    kind: z.enum(['cast', 'log']),
    title: z.string().optional(),
    terminal: z.string().optional(),
    target: z.string().optional(),
    state: z.enum(['recording', 'finished', 'unfinished']),
    recovered: z.boolean().describe('Its server was killed: the last second may be missing'),
    startedAt: WallClock,
    endedAt: WallClock.optional(),
    playMs: z.number().describe('How long it plays'),
    cols: z.number().int(),
    rows: z.number().int(),
    blocks: z.array(
      z.object({
        n: z.number().int(),
        command: z.string().optional(),
        exitCode: z.number().int().optional(),
        t: Moment.describe('Seconds since the start, as it plays'),
        endT: Moment.optional().describe('Absent while it runs'),
        at: WallClock,
        endAt: WallClock.optional(),
        by: z.string().optional().describe('Who typed it'),
        kind: z.enum(['agent', 'person']).optional(),
      }),
    ),
    busy: z.array(Times).describe('ReplayStretches in which something was printed, in seconds'),
    waits: z.array(Times).describe('ReplayStretches in which it waited for a person'),
    people: z.array(
      z.object({ t: Moment, at: WallClock, by: z.string(), secret: z.boolean().describe('Typed without echo') }),
    ),
    masked: z.number().int().describe('Secrets that are masked in what is played'),
  }),
  positional: ['recording'],
  async run({ input, engine, caller, signal }) {
    const entry = await replayCalled(input.recording, engine, caller);
    const { size, ...outline } = await engine.recordings.replays.outline(entry, signal);
    const { id, kind, terminal, target, state, isRecovered, startTime, durationMs } = entry;
    const title = replayTitle(entry);
    return {
      recording: id,
      kind,
      ...(title !== undefined && { title }),
      ...(terminal !== undefined && { terminal }),
      ...(target !== undefined && { target }),
      state,
      recovered: isRecovered,
      ...(durationMs !== undefined && { endedAt: startTime + durationMs }),
      ...size,
      ...outline,
      blocks: [...outline.blocks],
      people: [...outline.people],
      busy: outline.busy.map(([t, endT]): [number, number] => [t, endT]),
      waits: outline.waits.map(([t, endT]): [number, number] => [t, endT]),
    };
  },
  render({ blocks: all, masked, recovered, state }) {
    const rows = all.map(({ n, command = '(unknown command)', exitCode, t, endT, by }) => {
      const length = endT === undefined ? 'runs' : `${(endT - t).toFixed(1)} s`;
      const exit = exitCode === undefined ? '-' : String(exitCode);
      const who = by === undefined ? '' : `  (${by})`;
      return `${String(n).padStart(4)}  ${t.toFixed(1).padStart(8)} s  ${length.padStart(9)}  ${exit.padStart(3)}  ${command}${who}`;
    });
    const notes = [
      ...(all.length === 0 ? ['No command marks here.'] : []),
      ...(masked > 0 ? [`${masked} ${masked === 1 ? 'secret is' : 'secrets are'} masked.`] : []),
      ...(recovered ? ['Recovered after a crash: the last second may be missing.'] : []),
      ...(state === 'recording' ? ['The recording goes on.'] : []),
    ];
    return [...rows, ...notes].join('\n');
  },
});

export const showMasked = operation({
  title: 'Show what is masked in a recording',
  summary:
    'Show the lines of a recording, or of a stretch of it, in which secrets are masked, as others would see them.',
  access: 'observe',
  input: z.strictObject({ recording: RecordingId, ...ReplayStretch }),
  output: z.object({
    recording: z.string(),
    lines: z.array(z.object({ t: Moment, text: z.string() })).describe('At most 500'),
  }),
  positional: ['recording', 'from', 'to'],
  async run({ input: { recording, from, to }, engine, caller, signal }) {
    const entry = await replayCalled(recording, engine, caller);
    return { recording, lines: [...(await engine.recordings.replays.masked(entry, { from, to }, signal))] };
  },
  render: ({ lines }) =>
    lines.map(({ t, text }) => `${t.toFixed(1).padStart(8)} s  ${text}`).join('\n') || 'Nothing is masked here.',
});

/** A search reads at most so many bytes of recordings; the next one goes on behind them. */
const mostRead = 256 << 20;
const perRecording = 5;

const Hit = z.object({
  recording: z.string(),
  t: Moment.describe('Seconds since the start, as it plays'),
  block: z.number().int().optional().describe('The command it belongs to'),
  where: z.enum(['command', 'output']),
  line: z.string(),
});

export const search = operation({
  title: 'Search recordings',
  summary: 'Search a text in the commands and the output of one recording, or of all of them, newest first.',
  access: 'observe',
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).describe('Upper and lower case are the same'),
    recording: RecordingId.optional().describe('Only in this one; without it, a few hits of each'),
    before: RecordingId.optional().describe('Go on behind this recording'),
    limit: z.number().int().min(1).max(1000).default(200).describe('At most so many hits'),
  }),
  output: z.object({
    hits: z.array(Hit),
    searched: z.number().int().describe('Recordings that were read'),
    more: z.boolean().describe('There may be more hits'),
    before: z.string().optional().describe('Where to go on'),
  }),
  positional: ['text', 'recording'],
  async run({ input, engine, caller, signal }) {
    const { text, recording, limit, before } = input;
    const { replays } = engine.recordings;
    const find = async (entry: ReplayEntry, most: number) => {
      const { hits, more } = await replays.findText(entry, { text, most }, signal);
      return { hits: hits.map((hit) => ({ recording: entry.id, ...hit })), more };
    };
    if (recording !== undefined) {
      const found = await find(await replayCalled(recording, engine, caller), limit);
      return { ...found, searched: 1 };
    }
    const all = await visibleReplays(engine, caller);
    const rest = before === undefined ? all : all.slice(all.findIndex(({ id }) => id === before) + 1);
    const hits: z.output<typeof Hit>[] = [];
    let [searched, read] = [0, 0];
    for (const entry of rest) {
      if (hits.length >= limit || read > mostRead) break;
      searched += 1;
      read += entry.bytes;
      // One that is gone or no longer kept raw has nothing to be found in.
      const found = entry.path === undefined ? { hits: [] } : await find(entry, perRecording).catch(unless(signal));
      hits.push(...found.hits);
    }
    const last = rest[searched - 1];
    const more = searched < rest.length;
    return { hits: hits.slice(0, limit), searched, more, ...(more && last && { before: last.id }) };
  },
  render: ({ hits, searched, more, before }) =>
    [
      ...hits.map(({ recording, t, line }) => `${recording}  ${t.toFixed(1).padStart(8)} s  ${line}`),
      ...(hits.length === 0 ? [`Not found in ${searched} ${searched === 1 ? 'recording' : 'recordings'}.`] : []),
      ...(more ? [before === undefined ? 'There are more hits.' : `Go on with --before ${before}.`] : []),
    ].join('\n'),
});

/** Passes over a recording that cannot be read, but not over a caller who left. */
const unless =
  (signal: AbortSignal) =>
  (_error: unknown): { hits: never[] } => {
    signal.throwIfAborted();
    return { hits: [] };
  };
