import { FairleadError } from '../../../contract/errors.ts';
import { incompleteTail } from '../../../lib/utf8.ts';
import type { Size } from '../../terminal/channel.ts';
import { type CastEvent, type CastInfo, parseSize } from '../cast/cast-reader.ts';
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
export async function* logEvents(path: string): AsyncGenerator<CastEvent, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest: Buffer = Buffer.alloc(0);
  let first: number | undefined;
  let last = 0;
  for await (const record of readLog(path)) {
    first ??= record.micros;
    last = Math.max(last, record.micros - first);
    const event = (code: string, data: string): CastEvent => ({ atMs: last / 1000, code, data, end: record.end });
    if (record.name === 'out') {
      const all = rest.length === 0 ? record.data : Buffer.concat([rest, record.data]);
      const whole = all.length - incompleteTail(all);
      rest = all.subarray(whole);
      if (whole > 0) yield event('o', decoder.decode(all.subarray(0, whole)));
    } else yield* told(record).map(([code, data]) => event(code, data));
  }
}

function told({ name, data }: LogRecord): [code: string, data: string][] {
  if (name === 'resize') return [['r', data.toString()]];
  if (name === 'block_output') return [['m', data.toString()]];
  if (name === 'gap') return [['m', `${data.toString()} bytes could not be recorded`]];
  // A full-screen program had the screen when the recording began.
  return name === 'screen' ? [['o', '\x1b[?1049h']] : [];
}
