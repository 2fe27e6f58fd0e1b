import type { CastReading } from '../cast/cast-reader.ts';
import type { MaskedEvent } from '../cast/event-mask.ts';
import type { Size } from '../../terminal/channel.ts';
import type { OutlineBlock } from './outline.ts';

interface ClipParts {
  readonly title: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly size: Size;
  /** What the screen shows at its start, and when that is. */
  readonly screen: string;
  readonly fromMs: number;
  readonly events: AsyncIterable<MaskedEvent>;
  readonly blocks: readonly OutlineBlock[];
  /** Its markers stand behind the marks of its commands, where a cast has them before. */
  readonly isLog: boolean;
}

const begins = /\x1b\](?:133|633);C/g;

/** A part of a recording as a cast of its own, masked, with a marker where each command begins. */
export function clipOf({ title, startedAt, size, ...parts }: ClipParts): CastReading {
  const info = { version: 2 as const, size, timestamp: Math.floor(startedAt / 1000), title, end: 0 };
  return { info, events: clipEvents(parts) };
}

async function* clipEvents({
  screen,
  fromMs,
  events,
  blocks,
  isLog,
}: Omit<ClipParts, 'title' | 'startedAt' | 'size'>): CastReading['events'] {
  if (screen !== '') yield { atMs: 0, code: 'o', data: screen, end: 0 };
  const commands = blocks.filter(({ t }) => t * 1000 >= fromMs).map(({ command = '' }) => command);
  let hasMarker = false;
  for await (const { atMs, code, data } of events) {
    const at = Math.max(0, atMs - fromMs);
    if (code === 'm') {
      if (isLog) continue;
      hasMarker = true;
    }
    for (const _ of code === 'o' ? data.matchAll(begins) : []) {
      const command = commands.shift();
      // Recordings that have markers of their own keep them.
      if (!hasMarker && command !== undefined) yield { atMs: at, code: 'm', data: command, end: 0 };
      hasMarker = false;
    }
    yield { atMs: at, code, data, end: 0 };
  }
}

/** The lines of an asciicast of version 2. */
export async function* castLines({ info, events }: CastReading): AsyncGenerator<Uint8Array, void, undefined> {
  const { cols: width, rows: height } = info.size;
  const { timestamp, title } = info;
  const header = { version: 2, width, height, timestamp, ...(title !== undefined && { title }) };
  yield Buffer.from(`${JSON.stringify(header)}\n`);
  for await (const { atMs, code, data } of events) {
    yield Buffer.from(`${JSON.stringify([Math.round(atMs * 1000) / 1e6, code, data])}\n`);
  }
}
