import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation, renderJson } from '../../engine/call/operation.ts';
import { maySee } from '../../engine/call/principal.ts';
import { indexEntry, IndexEntry, type LogEntry } from '../../engine/recording/log/entry.ts';
import type { SessionLogs } from '../../engine/recording/log/session-logs.ts';
import { abortable } from '../../system/abortable.ts';
import { liveSession, session, sessionOf } from './shared.ts';

const RecordingId = z.string().describe('The id of the recording');
const same = { session_id: RecordingId, recording_id: z.string().describe('The same') };

export function logsOf({ logs }: Engine): SessionLogs {
  if (logs) return logs;
  throw new FairleadError('unsupported', 'This server does not record sessions.');
}

/** The reference's HTTP routes call a session a pane. */
function ofPane({ pane_id, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (pane_id !== undefined) return { ...rest, id: pane_id };
  throw new FairleadError('invalid_input', 'pane_id: is missing', { hint: 'GET /api/terminals lists the sessions.' });
}

const idsOf = ({ unterm_session_id: id }: Pick<LogEntry, 'unterm_session_id'>) => ({
  session_id: id,
  recording_id: id,
});

export const recording_start = operation({
  title: 'Start recording',
  summary: 'Record a session: a raw log now, markdown without secrets when it stops.',
  http: [{ method: 'POST', path: '/api/recording/start', takes: ['pane_id'], input: ofPane }],
  cliNames: ['session record start'],
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.object({
    ...session,
    with_input: z.boolean().default(false).describe('Record what is typed, too; never what is typed without echo'),
  }),
  output: z.object({ ...same, log_path: z.string(), md_path_when_done: z.string(), started_at: z.string() }),
  positional: ['id'],
  async run(call) {
    const terminal = await liveSession(call);
    const entry = await logsOf(call.engine).start(terminal, { input: call.input.with_input });
    const { log_path, md_path, started_at } = entry;
    return { ...idsOf(entry), log_path: log_path ?? '', md_path_when_done: md_path, started_at };
  },
});

export const recording_stop = operation({
  title: 'Stop recording',
  summary: 'Stop recording a session and render the markdown.',
  http: [{ method: 'POST', path: '/api/recording/stop', takes: ['pane_id'], input: ofPane }],
  cliNames: ['session record stop'],
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.object(session),
  output: z.object({
    ...same,
    ended_at: z.string(),
    block_count: z.number().int().describe('Commands recorded'),
    exit_reason: z.string(),
    md_path: z.string(),
    log_path: z.string().nullable().describe('null if no raw log is kept'),
    redaction_count: z.number().int().describe('Secrets masked'),
  }),
  positional: ['id'],
  async run(call) {
    const stopping = logsOf(call.engine).stop(await sessionOf(call));
    // A caller that leaves does not wait for the markdown; it is rendered all the same.
    const entry = await abortable(stopping, call.signal);
    const { ended_at, block_count, exit_reason, md_path, log_path, redaction_count } = entry;
    const ended = { ended_at: ended_at ?? '', exit_reason: exit_reason ?? '' };
    return { ...idsOf(entry), ...ended, block_count, md_path, log_path, redaction_count };
  },
});

export const recording_status = operation({
  title: 'Recording status',
  summary: 'Tell whether a session is being recorded.',
  cliNames: ['session record status'],
  access: 'observe',
  input: z.object(session),
  output: z.object({
    recording: z.boolean(),
    enabled: z.boolean().describe('The same'),
    session_id: RecordingId.optional(),
    recording_id: z.string().optional(),
    started_at: z.string().optional(),
    block_count: z.number().int().optional(),
    bytes: z.number().int().optional(),
    log_path: z.string().optional(),
    trace_ids: z.array(z.string()).optional(),
    problems: z.array(z.string()).optional().describe('What a person should put right'),
  }),
  positional: ['id'],
  async run(call) {
    const logs = logsOf(call.engine);
    const { id } = await sessionOf(call);
    const entry = logs.entryOf(id);
    const problems = logs.problems(id);
    return {
      recording: entry !== undefined,
      enabled: entry !== undefined,
      ...(entry && {
        ...idsOf(entry),
        started_at: entry.started_at,
        block_count: entry.block_count,
        bytes: entry.bytes_raw,
        log_path: entry.log_path ?? '',
        trace_ids: entry.trace_ids,
      }),
      ...(problems.length > 0 && { problems }),
    };
  },
});

export const recording_list = operation({
  title: 'List recordings',
  summary: 'List the recordings on disk, newest first; those with ended_at null are running.',
  http: [
    {
      method: 'GET',
      path: '/api/sessions',
      answer: ({ recordings }: { readonly recordings: unknown }) => ({ sessions: recordings }),
    },
  ],
  cliNames: ['sessions list'],
  access: 'observe',
  input: z.object({
    project: z.string().min(1).optional().describe('Only of this project: its path or its slug'),
    limit: z.number().int().min(1).max(10_000).default(1000).describe('At most so many'),
  }),
  output: z.object({ recordings: z.array(IndexEntry) }),
  rpcResult: ({ recordings }) => recordings,
  async run({ input: { project, limit }, engine, caller }) {
    const logs = logsOf(engine);
    const all = await logs.library.index.all();
    const live = (entry: LogEntry): LogEntry => {
      const now = logs.entryOf(entry.terminal);
      return now?.unterm_session_id === entry.unterm_session_id ? now : entry;
    };
    const wanted = all.filter(
      (entry) =>
        maySee({ owner: entry.owner }, caller) &&
        (project === undefined || entry.project_path === trimmed(project) || entry.project_slug === project),
    );
    return { recordings: wanted.slice(-limit).reverse().map(live).map(indexEntry) };
  },
  show: (answer) => {
    // On the command line the bare list of the line protocol arrives.
    const recordings = Array.isArray(answer) ? (answer as IndexEntry[]) : answer.recordings;
    return recordings.map(recordingLine).join('\n') || 'There are no recordings.';
  },
  render: ({ recordings }) => renderJson(recordings),
});

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path);

function recordingLine(entry: IndexEntry): string {
  const words = [
    entry.unterm_session_id,
    entry.started_at.slice(0, 19).replace('T', ' '),
    `session ${entry.tab_id}`.padEnd(11),
    (entry.exit_reason ?? 'recording').padEnd(17),
    `${entry.block_count} blocks`.padEnd(11),
    entry.md_path,
  ];
  return words.join('  ');
}

export const recording_read = operation({
  title: 'Read a recording',
  summary: "Read one recording's markdown, rendered with the redaction of today.",
  http: [
    {
      method: 'GET',
      path: '/api/sessions/:id/markdown',
      takes: ['chain', 'max_blocks'],
      input: ({ id, ...given }) => ({ ...given, recording_id: id }),
      text: ({ markdown }: { readonly markdown: string }) => markdown,
    },
  ],
  cliNames: ['sessions read'],
  access: 'observe',
  input: z.object({
    session_id: z
      .union([z.string(), z.number()])
      .optional()
      .describe('The id of the recording (unterm_session_id), not the number of a session'),
    recording_id: z.string().optional().describe('The same'),
    chain: z.boolean().default(false).describe('With the recordings that it continues, and that continue it'),
    max_blocks: z.number().int().min(1).optional().describe('The newest blocks, at most so many'),
  }),
  output: z.object({ markdown: z.string(), recording_id: z.string() }),
  positional: ['recording_id'],
  async run({ input, engine, caller, signal }) {
    const logs = logsOf(engine);
    const id = recordingId(input.recording_id ?? input.session_id);
    const entry = logs.library.find(id);
    if (!maySee({ owner: entry.owner }, caller)) {
      throw new FairleadError('not_found', `Recording not found: ${id}`);
    }
    const now = logs.entryOf(entry.terminal);
    const isLive = now?.unterm_session_id === id;
    if (isLive) await logs.flush(entry.terminal);
    const options = { chain: input.chain, maxBlocks: input.max_blocks };
    const markdown = await logs.library.documents.read(isLive ? now : entry, options, signal);
    return { markdown, recording_id: id };
  },
  show: ({ markdown }) => markdown,
  render: ({ markdown }) => markdown,
});

function recordingId(given: string | number | undefined): string {
  if (given === undefined)
    throw new FairleadError('invalid_input', "Missing 'session_id'", { data: { missing: 'session_id' } });
  const id = String(given).trim().toLowerCase();
  if (!/^\d{1,15}$/.test(id)) return id;
  throw new FairleadError('invalid_input', `Invalid session_id: ${id} is the number of a session, not of a recording`, {
    hint: 'session.recording_list shows the recordings of a session; the id is unterm_session_id.',
  });
}

export const recording_attach_trace = operation({
  title: 'Attach a trace id',
  summary: 'Note a trace id of the caller in the recording of a session.',
  cliNames: ['session record trace'],
  access: 'control',
  destructive: false,
  openWorld: false,
  idempotent: true,
  input: z.object({
    ...session,
    trace_id: z.string().trim().min(1).max(256).describe('Correlates the recording with logs elsewhere'),
  }),
  output: z.object({ trace_ids: z.array(z.string()) }),
  positional: ['id', 'trace_id'],
  async run(call) {
    const trace_ids = await logsOf(call.engine).attachTrace(await sessionOf(call), call.input.trace_id);
    return { trace_ids: [...trace_ids] };
  },
});

export const export_markdown = operation({
  title: 'Export as markdown',
  summary: 'Write what a session has printed so far as markdown, without a recording.',
  cliNames: ['session export'],
  cliShort: { path: 'o' },
  access: 'control',
  openWorld: false,
  input: z.object({
    ...session,
    path: z.string().min(1).max(4096).optional().describe('File to write, absolute; by default beside recordings'),
    max_blocks: z.number().int().min(1).optional().describe('The newest blocks, at most so many'),
    inline: z.boolean().default(false).describe('Answer with the markdown, too'),
  }),
  output: z.object({
    ...same,
    path: z.string(),
    bytes: z.number().int(),
    block_count: z.number().int(),
    markdown: z.string().optional(),
  }),
  positional: ['id'],
  about: ({ path }) => (path === undefined ? {} : { detail: path }),
  async run(call) {
    const { path, max_blocks: maxBlocks, inline } = call.input;
    const terminal = await sessionOf(call);
    const { entry, markdown } = await logsOf(call.engine).export(terminal, { path, maxBlocks }, call.signal);
    return {
      ...idsOf(entry),
      path: entry.md_path,
      bytes: Buffer.byteLength(markdown),
      block_count: entry.block_count,
      ...(inline && { markdown }),
    };
  },
});
