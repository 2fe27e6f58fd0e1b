import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import { recordsBackwards } from './read.ts';
import { dayOf, trailFiles, type TrailRecord } from './records.ts';

export interface TrailQuery {
  /** Behind the record with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** Only of this day, in UTC. */
  readonly day?: string | undefined;
  readonly fits: (record: TrailRecord) => boolean;
}

export interface TrailPage {
  readonly records: TrailRecord[];
  /** The id to go on behind; undefined at the beginning of the trail. */
  readonly next?: string;
  /** The oldest day on disk. */
  readonly keptSince?: string;
}

/** A record's id says where to look for it: its day, its writer and its number. */
export const recordId = ({ at, writer, n }: Pick<TrailRecord, 'at' | 'writer' | 'n'>): string =>
  `${at.slice(0, 10)}.${writer}.${n}`;

const idForm = /^(\d{4}-\d{2}-\d{2})\.[\w-]{1,64}\.\d+$/;

/** Reads backwards from a record on and stops when it has enough. */
export async function trailPage(
  root: string,
  { before, limit, day, fits }: TrailQuery,
  signal: AbortSignal,
  unread: (error: Error) => void,
): Promise<TrailPage> {
  const [, from] = before === undefined ? [] : (idForm.exec(before) ?? []);
  if (before !== undefined && from === undefined) {
    throw new FairleadError('invalid_input', 'before: is not the id of a record', {
      hint: 'Take it from `next` of the page before it.',
    });
  }
  const lastDay = [day, from].filter((one) => one !== undefined).toSorted()[0];
  const [oldest] = trailFiles(root);
  const keptSince = oldest && dayOf(oldest);
  const records: TrailRecord[] = [];
  // Behind the day of the record everything is older, whether it was found or not.
  let isBehind = before === undefined;
  for await (const record of recordsBackwards(root, { firstDay: day ?? '', lastDay }, signal, unread)) {
    if (!isBehind && record.at.slice(0, 10) === from) {
      isBehind = recordId(record) === before;
      continue;
    }
    if (!fits(record)) continue;
    if (records.length === limit) {
      const next = recordId(records.at(-1) as TrailRecord);
      return { records, next, ...(keptSince !== undefined && { keptSince }) };
    }
    records.push(record);
  }
  return { records, ...(keptSince !== undefined && { keptSince }) };
}

/** A file as it is on disk, if it is not larger than this. */
export async function wholeFile(path: string, mostBytes: number): Promise<Buffer> {
  const { size } = await stat(path);
  if (size > mostBytes) {
    throw new FairleadError('limit_reached', `${basename(path)} has ${size} bytes; at most ${mostBytes} fit.`, {
      hint: `Copy the file itself: ${path}`,
    });
  }
  return await readFile(path);
}
