import type { ReplayBlock, ReplayOutline } from '../replay-shapes.ts';

/** A coloured part of the scrubber, in seconds as the recording plays. */
export interface Stretch {
  readonly t: number;
  readonly endT: number;
  readonly look: 'ok' | 'bad' | 'need' | 'plain' | 'work';
}

/** One part for each command: green, red, amber while it waited for a person. Without marks, what was printed. */
export function stretchesOf({ blocks, busy, waits, playMs }: ReplayOutline): Stretch[] {
  const end = playMs / 1000;
  const commands = blocks.map(({ t, endT = end, exitCode, ...block }): Stretch => {
    const isOver = block.endAt !== undefined;
    return { t, endT, look: !isOver ? 'work' : exitCode === undefined ? 'plain' : exitCode === 0 ? 'ok' : 'bad' };
  });
  const shown = blocks.length > 0 ? commands : busy.map(([t, endT]): Stretch => ({ t, endT, look: 'plain' }));
  return [...shown, ...waits.map(([t, endT]): Stretch => ({ t, endT, look: 'need' }))];
}

/** The command at a moment: the one that runs, else the last that ran. */
export const blockAt = (blocks: readonly ReplayBlock[], t: number): ReplayBlock | undefined =>
  blocks.findLast((block) => block.t <= t + 0.0005);

/** Where `[` and `]` lead: the start of this command first, then that of the one before. */
export function previousStart(blocks: readonly ReplayBlock[], t: number): number {
  return blocks.findLast((block) => block.t < t - 0.75)?.t ?? 0;
}

export function nextStart(blocks: readonly ReplayBlock[], t: number, end: number): number {
  return blocks.find((block) => block.t > t + 0.001)?.t ?? end;
}

interface TimeLabel {
  readonly t: number;
  readonly at: number;
}

/** Times of the clock on the wall below the scrubber: the start, the end, and commands between them as far as there is room. */
export function labelsOf({ blocks, startedAt, endedAt, playMs }: ReplayOutline, width: number): TimeLabel[] {
  const end = playMs / 1000;
  const room = (86 / Math.max(width, 1)) * end;
  const first = { t: 0, at: startedAt };
  const last = { t: end, at: endedAt ?? startedAt + playMs };
  const labels: TimeLabel[] = [first];
  if (end === 0 || width < 200) return labels;
  for (const { t, at } of blocks) {
    const before = labels.at(-1) ?? first;
    if (t - before.t >= room && end - t >= 2 * room) labels.push({ t, at });
  }
  return [...labels, last];
}

/** `1:51` as seconds; undefined when it is none. */
export function secondsOf(text: string): number | undefined {
  const match = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,5}(?:\.\d+)?)$/.exec(text.trim());
  if (!match) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0'] = match;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
