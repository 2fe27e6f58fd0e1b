import { createReadStream } from 'node:fs';
import { FairleadError } from '../../../contract/errors.ts';
import type { Size } from '../../terminal/channel.ts';

export interface CastEvent {
  /** Milliseconds since the start of the cast, in whole microseconds. */
  readonly atMs: number;
  /** `o` output, `i` input, `r` resize, `m` marker, `x` exit; others may come. */
  readonly code: string;
  readonly data: string;
  /** Bytes of the file up to and with this event. */
  readonly end: number;
}

export interface CastInfo {
  readonly version: 2 | 3;
  readonly size: Size;
  /** Seconds since the epoch. */
  readonly timestamp: number | undefined;
  readonly title: string | undefined;
  /** Bytes of the header's line. */
  readonly end: number;
}

export interface CastReading {
  readonly info: CastInfo;
  /** To be read once. Leaving early closes the file. */
  readonly events: AsyncGenerator<CastEvent, void, undefined>;
}

/** A place between two events. */
export interface CastPlace {
  /** Bytes of the file before it. */
  readonly pos: number;
  /** Time of the last event before it; events of version 3 count from there. */
  readonly atMs: number;
}

interface ReadOptions {
  /** For a file that was broken off: events end at the first line that is not whole, without an error. */
  readonly lenient?: boolean;
}

/** An event of a hundred megabytes is no event; the file is something else. */
const longestLine = 64 << 20;

/** What an asciicast says of itself in its first line. */
export async function readHeader(path: string): Promise<CastInfo> {
  const lines = readLines(path, true);
  try {
    return await headerOf(path, lines);
  } finally {
    await lines.return();
  }
}

/** Opens an asciicast, version 2 or 3. */
export async function readCast(path: string, { lenient = false }: ReadOptions = {}): Promise<CastReading> {
  const lines = readLines(path, lenient);
  try {
    const info = await headerOf(path, lines);
    return { info, events: readEvents(path, info, lines, lenient) };
  } catch (thrown) {
    await lines.return();
    throw thrown;
  }
}

async function headerOf(path: string, lines: AsyncGenerator<Line, void, undefined>): Promise<CastInfo> {
  const first = await lines.next();
  const info = first.done === true ? undefined : parseHeader(path, first.value);
  if (info === undefined) throw notACast(path, 'its first line is no header');
  return info;
}

/** The events behind a place, up to the last whole line before the byte `to`. Leaving early closes the file. */
export function readCastFrom(
  path: string,
  info: CastInfo,
  { pos, atMs }: CastPlace,
  to?: number,
): AsyncGenerator<CastEvent, void, undefined> {
  return readEvents(path, info, readLines(path, true, { pos, to }), true, atMs);
}

async function* readEvents(
  path: string,
  info: CastInfo,
  lines: AsyncGenerator<Line, void, undefined>,
  lenient: boolean,
  fromMs = 0,
): AsyncGenerator<CastEvent, void, undefined> {
  let micros = Math.round(fromMs * 1000);
  for await (const line of lines) {
    if (line.text === '' || line.text.startsWith('#')) continue;
    const event = parseEvent(line.text);
    if (event === undefined) {
      if (lenient) return;
      throw notACast(path, `line ${line.number} is no event`);
    }
    micros = Math.round(event.time * 1e6) + (info.version === 3 ? micros : 0);
    yield { atMs: micros / 1000, code: event.code, data: event.data, end: line.end };
  }
}

interface Line {
  readonly text: string;
  readonly number: number;
  readonly end: number;
}

/** A last line without its line end counts unless the file was broken off. */
async function* readLines(
  path: string,
  wholeOnly: boolean,
  { pos = 0, to }: { readonly pos?: number; readonly to?: number | undefined } = {},
): AsyncGenerator<Line, void, undefined> {
  if (to !== undefined && to <= pos) return;
  let parts: Buffer[] = [];
  let length = 0;
  let end = pos;
  let number = 0;
  const line = (): Line => {
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    parts = [];
    length = 0;
    return { text, number: ++number, end };
  };
  for await (const chunk of createReadStream(path, {
    start: pos,
    ...(to === undefined ? {} : { end: to - 1 }),
  }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      end += at + 1 - from;
      from = at + 1;
      yield line();
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    end += chunk.length - from;
    if (length > longestLine) throw notACast(path, `line ${number + 1} is too long`);
  }
  if (length > 0 && !wholeOnly) yield line();
}

function parseHeader(path: string, line: Line): CastInfo | undefined {
  const header = parseObject(line.text);
  if (header === undefined) return undefined;
  const version = header['version'];
  if (version !== 2 && version !== 3) {
    throw new FairleadError(
      'unsupported',
      `${path} is an asciicast of version ${String(version)}; 2 and 3 can be read.`,
      {
        hint: 'Convert it with `asciinema convert`.',
      },
    );
  }
  const term = version === 3 ? header['term'] : { cols: header['width'], rows: header['height'] };
  const { cols, rows } = (typeof term === 'object' && term !== null ? term : {}) as Record<string, unknown>;
  const { timestamp, title } = header;
  if (!isSize(cols) || !isSize(rows)) return undefined;
  return {
    version,
    size: { cols, rows },
    timestamp: typeof timestamp === 'number' ? timestamp : undefined,
    title: typeof title === 'string' ? title : undefined,
    end: line.end,
  };
}

function parseEvent(text: string): { time: number; code: string; data: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return undefined;
    const [time, code, data] = value as unknown[];
    if (typeof time !== 'number' || typeof code !== 'string' || typeof data !== 'string') return undefined;
    return { time, code, data };
  } catch {
    return undefined;
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 10_000;
}

/** The size a resize event asks for. */
export function parseSize(data: string): Size | undefined {
  const match = /^(\d{1,4})x(\d{1,4})$/.exec(data);
  return match === null ? undefined : { cols: Number(match[1]), rows: Number(match[2]) };
}

function notACast(path: string, why: string): FairleadError {
  return new FairleadError('invalid_input', `${path} is not an asciicast: ${why}.`);
}
