import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { uuid7 } from '../../../lib/uuid7.ts';
import { ownIdentity } from '../../../system/process-identity.ts';
import type { LogEntry } from './entry.ts';
import type { LogPlace } from './log-place.ts';
import type { Loggable } from './session-logs.ts';

let lastMs = 0;

/** The entry of a recording that begins now. Ids sort by time, and those of one process in their order. */
export function newEntry(
  terminal: Pick<Loggable, 'id' | 'identity'>,
  { project, slug }: Pick<LogPlace, 'project' | 'slug'>,
  { version, time }: { readonly version: string; readonly time: number },
): Omit<LogEntry, 'log_path' | 'md_path' | 'from_offset'> {
  lastMs = Math.max(time, lastMs + 1);
  const id = uuid7(lastMs, randomBytes(10));
  const { number, owner, program, name, target } = terminal.identity;
  return {
    unterm_session_id: id,
    tab_id: number,
    project_path: project,
    project_slug: slug,
    started_at: new Date(time).toISOString(),
    ended_at: null,
    block_count: 0,
    bytes_raw: 0,
    recording_id: id,
    total_lines: 0,
    exit_reason: null,
    parent_session_id: null,
    osc133_active: false,
    redaction_active: false,
    redaction_count: 0,
    trace_ids: [],
    shell: program,
    hostname: hostname(),
    version,
    terminal: terminal.id,
    ...(owner !== undefined && { owner }),
    ...(name !== undefined && { name }),
    ...(target !== undefined && { target }),
    input: false,
    writer: ownIdentity(),
  };
}
