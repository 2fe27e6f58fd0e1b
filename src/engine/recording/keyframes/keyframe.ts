import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { CastInfo, CastPlace } from '../cast/cast-reader.ts';

const Seconds = z.number().min(0);
const Count = z.number().int().min(0);

/** A masked screen at one moment of a cast, and where its events go on. One line of the keys file. */
export const Keyframe = z.object({
  t: Seconds.describe('Cast seconds'),
  at: z
    .number()
    .describe(
      'Wall clock, in milliseconds since the epoch; as if nothing was cut when it was made from the cast alone',
    ),
  off: Count.optional().describe(
    'Offset in the output log of the terminal; absent when it was made from the cast alone',
  ),
  pos: Count.describe('Byte in the cast at which the next event begins'),
  base: Seconds.optional().describe('Time of the last event before pos, where that is not t'),
  skip: Count.optional().describe('Characters of the event at pos that the screen shows already'),
  block: Count.optional().describe('The command of the cast that begins here, counted from 1'),
  size: z.object({ cols: z.number().int().min(1), rows: z.number().int().min(1) }),
  screen: z.string().describe('Escape text that draws the masked screen on a blank terminal of this size'),
});
export type Keyframe = z.output<typeof Keyframe>;

export const keyLine = (key: Keyframe): string => `${JSON.stringify(key)}\n`;

/** Where to read on behind a keyframe. */
export const placeBehind = ({ pos, base, t }: Keyframe): CastPlace => ({ pos, atMs: (base ?? t) * 1000 });

/** The start of a cast, as a keyframe: a blank screen. */
export const blankKey = ({ end, size, timestamp = 0 }: CastInfo): Keyframe => ({
  t: 0,
  at: timestamp * 1000,
  pos: end,
  size,
  screen: '',
});

/** Larger than any file that `Keyframer` makes. */
const largestFile = 128 << 20;

interface ReadKeys {
  readonly keys: readonly Keyframe[];
  /** Bytes of the file up to and with each of them. */
  readonly ends: readonly number[];
  /** Something that is no keyframe follows them. */
  readonly torn: boolean;
  readonly modified: number;
}

/** What a keys file holds; undefined when there is none. Ends at the first line that is no keyframe or goes backwards. */
export async function readKeys(path: string): Promise<ReadKeys | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const modified = found.mtimeMs;
  if (found.size > largestFile) return { keys: [], ends: [], torn: true, modified };
  const file = await readFile(path);
  const keys: Keyframe[] = [];
  const ends: number[] = [];
  for (let from = 0, end = file.indexOf(10); end >= 0; from = end + 1, end = file.indexOf(10, from)) {
    const key = parseKey(file.toString('utf8', from, end));
    const last = keys.at(-1);
    if (key === undefined || (last !== undefined && (key.t < last.t || key.pos < last.pos))) break;
    keys.push(key);
    ends.push(end + 1);
  }
  return { keys, ends, torn: (ends.at(-1) ?? 0) < file.length, modified };
}

function parseKey(line: string): Keyframe | undefined {
  try {
    return Keyframe.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
