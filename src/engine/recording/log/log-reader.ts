import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type LogEvent, parseLogLine } from './log-line.ts';

const pageBytes = 256 << 10;
/** A longer line is none of ours. */
const longestLine = 8 << 20;

/** An event, and the place in the file behind its line. */
export type LogRecord = LogEvent & { readonly end: number };

/**
 * The events of a raw log up to its last whole line: a crash may have torn the one behind it. Lines that are no events are
 * skipped. `from` is a place between two lines, `to` limits the bytes of the file that are read.
 */
export async function* readLog(
  path: string,
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<LogRecord, void, void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const page = Buffer.alloc(pageBytes);
    let rest = '';
    let at = from;
    for (let end = from; at < to; ) {
      const { bytesRead } = await handle.read(page, 0, Math.min(pageBytes, to - at), at);
      if (bytesRead === 0) return;
      at += bytesRead;
      const lines = (rest + page.toString('latin1', 0, bytesRead)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > longestLine) {
        end += rest.length;
        rest = '';
      }
      for (const line of lines) {
        end += line.length + 1;
        const event = parseLogLine(line);
        if (event !== undefined && event !== 'malformed') yield { ...event, end };
      }
    }
  } finally {
    await handle.close();
  }
}
