import { FairleadError } from '../../../contract/errors.ts';
import { incompleteTail } from '../../../lib/utf8.ts';
import type { Size } from '../../terminal/channel.ts';
import { type CastEvent, type CastInfo, type CastPlace, parseSize } from '../cast/cast-reader.ts';
import { type LogRecord, readLog } from '../log/log-reader.ts';

/** Of a log that does not tell: as most programs expect it. */
const usualSize: Size = { cols: 80, rows: 24 };

/** What a raw log says of itself, in the words of a cast. */
export async function logInfo(path: string): Promise<CastInfo> {
  try {
    for await (const { name, data, micros } of readLog(path)) {
      const size = name === 'resize' ? parseSize(data.toString()) : undefined;
      return { version: 2, size: size ?? usualSize, timestamp: micros / 1e6, title: undefined, end: 0 };
    }
  } catch (cause) {
    throw new FairleadError('not_found', 'The raw log of this recording is gone.', {
      hint: 'Its markdown may still be there: session.recording_read.',
      cause,
    });
  }
  return { version: 2, size: usualSize, timestamp: undefined, title: undefined, end: 0 };
}

/** The events of a raw log as those of a cast, unmasked. Times count from the first one; pauses are not cut. */
export async function* logEvents(
  path: string,
  { timestamp }: Pick<CastInfo, 'timestamp'>,
  { pos, atMs }: CastPlace = { pos: 0, atMs: 0 },
): AsyncGenerator<CastEvent, void, undefined> {
  const converter = new LogConverter(timestamp, atMs);
  for await (const record of readLog(path, { from: pos })) yield* converter.events(record);
}

/** Makes the records of a raw log events of a cast. */
export class LogConverter {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #first: number | undefined;
  /** The beginning of a character. */
  #rest: Buffer = Buffer.alloc(0);
  #lastMicros: number;

  /** Goes on at a place between two records; `timestamp` is that of the log. */
  constructor(timestamp: number | undefined, atMs = 0) {
    this.#first = timestamp === undefined ? undefined : Math.round(timestamp * 1e6);
    this.#lastMicros = Math.round(atMs * 1000);
  }

  /** Playing can begin behind the last record: no character is cut there. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }

  /** Milliseconds since the start. */
  at({ micros }: Pick<LogRecord, 'micros'>): number {
    this.#first ??= micros;
    this.#lastMicros = Math.max(this.#lastMicros, micros - this.#first);
    return this.#lastMicros / 1000;
  }

  events(record: LogRecord): CastEvent[] {
    const atMs = this.at(record);
    const event = (code: string, data: string): CastEvent => ({ atMs, code, data, end: record.end });
    if (record.name !== 'out') return told(record).map(([code, data]) => event(code, data));
    const all = this.#rest.length === 0 ? record.data : Buffer.concat([this.#rest, record.data]);
    const whole = all.length - incompleteTail(all);
    this.#rest = all.subarray(whole);
    return whole > 0 ? [event('o', this.#decoder.decode(all.subarray(0, whole)))] : [];
  }
}

function told({ name, data }: LogRecord): [code: string, data: string][] {
  if (name === 'resize') return [['r', data.toString()]];
  if (name === 'block_output') return [['m', data.toString()]];
  if (name === 'gap') return [['m', `${data.toString()} bytes could not be recorded`]];
  // A full-screen program had the screen when the recording began.
  return name === 'screen' ? [['o', '\x1b[?1049h']] : [];
}
