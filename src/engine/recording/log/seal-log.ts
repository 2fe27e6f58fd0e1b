import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { BlockCount } from './block-count.ts';
import type { LogEntry } from './entry.ts';
import { readLog } from './log-reader.ts';

/**
 * Ends the raw log of a process that died: cut behind its last whole line, with the facts that its events tell. Without the
 * file, the facts of the entry stand.
 */
export async function sealLog(entry: LogEntry): Promise<LogEntry> {
  if (entry.ended_at !== null) return entry;
  const blocks = new BlockCount();
  let { micros, end, bytes, lost } = { micros: Date.parse(entry.started_at) * 1000, end: 0, bytes: 0, lost: 0 };
  let isMarked = false;
  const { log_path } = entry;
  const sealed = { ...entry, exit_reason: 'recovered' as const };
  if (log_path === null) return { ...sealed, ended_at: entry.started_at };
  try {
    for await (const event of readLog(log_path)) {
      ({ micros, end } = event);
      blocks.accept(event.name, event.data);
      isMarked ||= event.name.startsWith('block_');
      if (event.name === 'out') bytes += event.data.length;
      if (event.name === 'gap') lost += Number(event.data.toString()) || 0;
    }
    await cutAt(log_path, end);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { ...sealed, ended_at: entry.started_at, log_path: null };
  }
  return {
    ...sealed,
    ended_at: new Date(micros / 1000).toISOString(),
    block_count: blocks.value,
    bytes_raw: bytes,
    osc133_active: isMarked,
    to_offset: entry.from_offset + bytes + lost,
  };
}

async function cutAt(path: string, bytes: number): Promise<void> {
  const handle = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if ((await handle.stat()).size > bytes) await handle.truncate(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
