import { z } from 'zod';
import type { WriterIdentity } from '../../../system/process-identity.ts';

const exitReasons = [
  'recording_stopped',
  'session_exit',
  'rotated_size',
  'rotated_blocks',
  'rotated_idle',
  'server_shutdown',
  'user_export',
  'recovered',
] as const;
export type ExitReason = (typeof exitReasons)[number];

/** A recording as the index lists it. The first ten fields are those of the reference. */
export const IndexEntry = z.object({
  unterm_session_id: z.string().describe('The id of the recording'),
  tab_id: z.number().int().describe('The session that was recorded'),
  project_path: z.string().nullable(),
  project_slug: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable().describe('null while it runs'),
  block_count: z.number().int(),
  bytes_raw: z.number().int().describe('Output recorded'),
  log_path: z.string().nullable().describe('null if no raw log is kept'),
  md_path: z.string(),
  recording_id: z.string().describe('The same as unterm_session_id'),
  total_lines: z.number().int(),
  exit_reason: z.enum(exitReasons).nullable(),
  parent_session_id: z.string().nullable().describe('The recording that this one continues'),
  osc133_active: z.boolean().describe('The shell marked its commands'),
  redaction_active: z.boolean(),
  redaction_count: z.number().int(),
  trace_ids: z.array(z.string()),
});
export type IndexEntry = z.output<typeof IndexEntry>;

const Writer = z.looseObject({ pid: z.number(), host: z.string() }).transform((writer) => writer as WriterIdentity);

/** The same with what only we need, a file each: what another process needs to close it, or to go on behind it. */
export const LogEntry = IndexEntry.extend({
  shell: z.string(),
  hostname: z.string(),
  version: z.string(),
  /** The terminal, whichever process serves it. */
  terminal: z.string(),
  /** Whose terminal it is; undefined: of all callers of the instance. */
  owner: z.string().optional(),
  /** Offsets of its first byte in the output of the terminal, and behind its last. */
  from_offset: z.number().int(),
  to_offset: z.number().int().optional(),
  /** The name of the terminal and what it is one of; commands that failed; who typed. Absent in older entries. */
  name: z.string().optional(),
  target: z.string().optional(),
  failed_count: z.number().int().optional(),
  typists: z.array(z.string()).optional(),
  /** Typed text is recorded, too. */
  input: z.boolean(),
  /** The markdown stands where a caller wanted it: it is not ours to remove. */
  is_exported: z.literal(true).optional(),
  writer: Writer,
});
export type LogEntry = z.output<typeof LogEntry>;

export const indexEntry = (entry: LogEntry): IndexEntry => IndexEntry.parse(entry);
