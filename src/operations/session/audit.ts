import { z } from 'zod';
import type { TerminalRef } from '../../contract/ids.ts';
import type { AuditQuery } from '../../engine/call/audit/read.ts';
import { auditTrail } from '../../engine/call/audit/trail.ts';
import { operation, renderJson } from '../../engine/call/operation.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';

const Entry = z.object({
  timestamp: z.string(),
  method: z.string(),
  session_id: z.string().nullable(),
  detail: z.string(),
  allowed: z.boolean(),
  error: z.string().optional(),
  seq: z.number().int(),
  client: z.string(),
  peer: z.string().optional().describe('Where the client called from'),
  origin: z.string(),
  duration_ms: z.number().int(),
});

const mostEntries = 5000;

export const audit_log = operation({
  title: 'Audit log',
  summary: 'Calls that changed something or were refused, newest first.',
  http: [{ method: 'GET', path: '/api/audit' }],
  access: 'observe',
  input: z.object({
    limit: z.number().int().min(1).default(50).describe('More than 5000 means 5000'),
    session_id: z.union([z.string(), z.number()]).optional().describe('Only of this session'),
    since: z.iso.datetime({ offset: true }).optional().describe('Only from this time on, such as 2026-01-31T08:00:00Z'),
    method: z.string().optional().describe('Only this method'),
    client: z.string().optional().describe('Only what this client did'),
  }),
  output: z.object({ entries: z.array(Entry) }),
  rpcResult: ({ entries }) => entries,
  async run({ input, engine, caller, signal }) {
    const { limit, since, method, client } = input;
    const session = namesOf(input.session_id, engine.sessions.all(caller));
    const from = since === undefined ? undefined : Date.parse(since);
    const wanted: AuditQuery = {
      since: from,
      fits: (record) =>
        (session === undefined || session.includes(record.terminal)) &&
        (from === undefined || Date.parse(record.at) >= from) &&
        (method === undefined || record.operation === method) &&
        (client === undefined || record.caller === client),
    };
    const most = Math.min(limit, mostEntries);
    const found = await engine.service(auditTrail).newest(wanted, engine.audit.entries(), most, signal);
    return {
      entries: found.map((record) => ({
        timestamp: record.at,
        method: record.operation,
        session_id: record.terminal ?? null,
        detail: record.detail ?? '',
        allowed: record.allowed,
        ...(record.error === undefined ? {} : { error: record.error }),
        seq: record.seq,
        client: record.caller,
        ...(record.peer === undefined ? {} : { peer: record.peer }),
        origin: record.origin,
        duration_ms: record.durationMs,
      })),
    };
  },
  render: ({ entries }) => renderJson(entries),
});

/** Books name a session by number or by id. For a session that is gone, only the given name is known. */
function namesOf(given: TerminalRef | undefined, all: readonly Terminal[]): readonly unknown[] | undefined {
  if (given === undefined) return undefined;
  const names = all.map(({ id, identity: { number } }) => [id, String(number)]);
  return names.find((both) => both.includes(String(given))) ?? [String(given)];
}
