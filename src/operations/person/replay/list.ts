import { z } from 'zod';
import { operation } from '../../../engine/call/operation.ts';
import type { ReplayEntry } from '../../../engine/recording/replay/entries.ts';
import { bytesText } from '../../../lib/byte-count.ts';
import { RecordingId, replayTitle, visibleReplays } from './shared.ts';

const Recording = z.object({
  id: z.string(),
  kind: z.enum(['cast', 'log']).describe('cast: an asciicast; log: the raw log of a session'),
  terminal: z.string().optional(),
  title: z.string().optional().describe('Its title, else the name of the terminal, else its program'),
  target: z.string().optional().describe('What it was a terminal of: local, ssh:host'),
  by: z.array(z.string()).describe('Who typed, as far as that is known'),
  startedAt: z.string(),
  ms: z.number().optional().describe('How long it took; absent until it has ended'),
  playMs: z.number().optional().describe('How long it plays: casts cut long pauses'),
  blocks: z.object({ n: z.number().int(), failed: z.number().int().optional() }).optional().describe('Its commands'),
  bytes: z.number().int(),
  state: z.enum(['recording', 'finished', 'unfinished']).describe('unfinished: its server was killed'),
  masked: z.boolean().describe('Secrets are masked in the file itself; what is played here is always masked'),
  recovered: z.boolean().describe('Its server was killed: the last second may be missing'),
});
type ListedRecording = z.output<typeof Recording>;

export const list = operation({
  title: 'List recordings',
  summary: 'List the recordings of this machine: those that are being made, then the others, newest first.',
  access: 'observe',
  input: z.strictObject({
    before: RecordingId.optional().describe('Go on behind this recording'),
    limit: z.number().int().min(1).max(1000).default(100).describe('At most so many'),
    terminal: z.string().max(64).optional().describe('Only those of this terminal'),
  }),
  output: z.object({ recordings: z.array(Recording), more: z.boolean() }),
  async run({ input, engine, caller }) {
    const { before, limit, terminal } = input;
    const all = (await visibleReplays(engine, caller)).map(listed);
    const own = terminal === undefined ? all : all.filter((one) => one.terminal === terminal);
    const ordered = [...own.filter(isLive), ...own.filter((one) => !isLive(one))];
    const from = before === undefined ? 0 : ordered.findIndex(({ id }) => id === before) + 1;
    return { recordings: ordered.slice(from, from + limit), more: ordered.length > from + limit };
  },
  render: ({ recordings: all, more }) =>
    all.length === 0
      ? 'No recordings.'
      : [...all.map(line), ...(more ? ['More: --before and the last id.'] : [])].join('\n'),
});

const isLive = ({ state }: ListedRecording): boolean => state === 'recording';

function listed(entry: ReplayEntry): ListedRecording {
  const { id, kind, terminal, target, typists, startTime, durationMs, playMs, blocks, bytes, state, masked } = entry;
  const title = replayTitle(entry);
  return {
    id,
    kind,
    ...(terminal === undefined ? {} : { terminal }),
    ...(title === undefined ? {} : { title }),
    ...(target === undefined ? {} : { target }),
    by: [...typists],
    startedAt: new Date(startTime).toISOString(),
    ...(durationMs === undefined ? {} : { ms: durationMs }),
    ...(playMs === undefined ? {} : { playMs }),
    ...(blocks === undefined ? {} : { blocks }),
    bytes,
    state,
    masked,
    recovered: entry.isRecovered,
  };
}

function line({
  id,
  kind,
  startedAt,
  playMs,
  bytes,
  state,
  title,
  target,
  by,
  blocks,
  recovered,
}: ListedRecording): string {
  const length = playMs === undefined ? '' : `${(playMs / 1000).toFixed(1)} s`;
  const when = startedAt.slice(0, 16).replace('T', ' ');
  const columns = [id.padEnd(16), kind.padEnd(4), when, length.padStart(9), bytesText(bytes).padStart(9), state];
  const failed = blocks?.failed ? `, ${blocks.failed} failed` : '';
  const facts = [
    title,
    target === 'local' ? undefined : target,
    blocks && `${blocks.n} ${blocks.n === 1 ? 'command' : 'commands'}${failed}`,
    by.length === 0 ? undefined : `typed by ${by.join(', ')}`,
    recovered ? 'recovered after a crash' : undefined,
  ];
  return [...columns, ...facts.filter((fact) => fact !== undefined)].join('  ');
}
