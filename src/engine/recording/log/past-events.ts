import type { RecordingSource } from '../source.ts';
import type { LogEvent, LogEventName } from './log-line.ts';
import { MarkedOutput, markEvents } from './marked-output.ts';

/** What a terminal still has of its output, as the events of a log. Times are those of its commands. */
export function pastEvents(source: RecordingSource, sinceMs: number): LogEvent[] {
  const { cols, rows } = source.size;
  const { from, bytes, missed, marks } = source.past(0);
  const output = new MarkedOutput(from);
  const times = marks.map(({ time }) => time);
  for (const mark of marks) output.mark(mark);
  const events: LogEvent[] = [];
  let micros = sinceMs * 1000;
  const add = (name: LogEventName, data: Buffer | string): void =>
    void events.push({ micros, name, data: typeof data === 'string' ? Buffer.from(data) : data });
  add('resize', `${cols}x${rows}`);
  if (missed > 0) add('gap', String(missed));
  for (const piece of [...output.output(bytes), ...output.end()]) {
    if ('bytes' in piece) add('out', piece.bytes);
    else {
      micros = Math.max(micros, Math.round((times.shift() ?? 0) * 1000));
      for (const [name, text] of markEvents(piece.mark)) add(name, text);
    }
  }
  return events;
}
