import { z } from 'zod';
import { visible } from '../../contract/quote.ts';
import { remoteCode } from '../../contract/remote-errors.ts';
import { FairleadError } from '../../contract/errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { ssh } from '../../transports/ssh/index.ts';
import type { Casualties } from '../../transports/ssh/sessions/live-session.ts';
import { hintOf, nextOf, type Step, toolStep } from './advice.ts';
import { Id, Label } from './connect-for.ts';
import { leaksOf } from './leaks.ts';
import { itemLimit, MaxItems } from './limits.ts';
import { leakHint, SessionEntry, sessionEntry, sessionRow } from './session-entry.ts';
import { countText, replyText } from './text.ts';

export { connect } from './connect.ts';

const Base = z.object({ tool: z.string(), status: z.string() });
const Count = z.number().int().optional();

export const disconnect = operation({
  mcpName: 'ssh_disconnect',
  title: 'Disconnect a session',
  cost: 'O(children of the session), up to 2.5 s while commands end, blocking',
  summary: 'End a session with its commands, shells, transfers and forwards.',
  access: 'control',
  destructive: true,
  idempotent: true,
  openWorld: true,
  keyed: true,
  input: z.object({ session_id: Id }),
  output: Base.extend({
    session_id: z.string().optional(),
    commands_cancelled: Count,
    shells_closed: Count,
    transfers_aborted: Count,
    forwards_closed: Count,
    rsyncs_cancelled: Count,
  }),
  positional: ['session_id'],
  async run({ input, engine, caller }) {
    const gone = await engine.service(ssh).sessions.disconnect(input.session_id, caller.principal);
    return {
      tool: 'ssh_disconnect',
      status: 'ok',
      session_id: input.session_id,
      ...ended(gone),
      forwards_closed: gone.forward,
      rsyncs_cancelled: gone.rsync,
    };
  },
  render: (output) => replyText(output, { fields: { SESSION_ID: output.session_id } }),
});

export const sessions = operation({
  mcpName: 'ssh_sessions',
  title: 'List sessions',
  cost: 'O(sessions), one round trip each in parallel, at most 5 s, blocking',
  summary: 'List SSH sessions. Each is probed first; dead ones are removed.',
  access: 'observe',
  openWorld: true,
  input: z.object({
    agent_id: Label.optional(),
    max_items: MaxItems,
  }),
  output: Base.extend({
    agent_id_filter: z.string().optional(),
    sessions: z.array(SessionEntry).optional(),
    count: Count,
    total: Count,
    hint: z.string().optional(),
    warnings: z.array(z.string()).optional(),
    next: z.string().optional(),
  }),
  async run({ input, engine, caller, signal }) {
    const { sessions: all, settings } = engine.service(ssh);
    const { agent_id: agent } = input;
    const alive = await all.probed(caller.principal, agent, signal);
    const shown = alive.slice(0, itemLimit(input.max_items, settings)).map((session) => sessionEntry(session));
    return {
      tool: 'ssh_sessions',
      status: 'ok',
      ...(agent === undefined ? {} : { agent_id_filter: agent }),
      sessions: shown,
      count: shown.length,
      total: alive.length,
      ...hintOf(caller, leakHint(alive)),
      warnings: leaksOf(engine, caller),
      ...nextOf(caller, successors(shown)),
    };
  },
  render(output) {
    const { sessions: shown = [], count = 0, total = 0 } = output;
    return replyText(output, {
      fields: { COUNT: countText(count, total) },
      rows: shown.map((entry) => sessionRow(entry)),
    });
  },
});

export const disconnectAgent = operation({
  mcpName: 'ssh_disconnect_agent',
  title: 'Disconnect an agent',
  cost: 'O(sessions of the agent), up to 2.5 s, blocking',
  summary: 'End every session of an agent_id.',
  access: 'control',
  destructive: true,
  idempotent: true,
  openWorld: true,
  keyed: true,
  input: z.object({ agent_id: Label }),
  output: Base.extend({
    agent_id: z.string().optional(),
    sessions_closed: Count,
    commands_cancelled: Count,
    shells_closed: Count,
    transfers_aborted: Count,
  }),
  positional: ['agent_id'],
  async run({ input, engine, caller }) {
    const { sessions: all } = engine.service(ssh);
    const own = all.all(caller.principal).filter(({ agentId }) => agentId === input.agent_id);
    const gone = await Promise.all(own.map((session) => session.end({ by: 'disconnect' })));
    return {
      tool: 'ssh_disconnect_agent',
      status: 'ok',
      agent_id: input.agent_id,
      sessions_closed: own.length,
      ...ended({
        command: sum(gone, 'command'),
        shell: sum(gone, 'shell'),
        transfer: sum(gone, 'transfer'),
      }),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: { AGENT_ID: output.agent_id, SESSIONS: output.sessions_closed, COMMANDS: output.commands_cancelled },
    }),
});

/** Ids in one call. */
const maxIds = 64;

const Result = z.object({
  session_id: z.string(),
  status: z.enum(['ok', 'error']),
  code: z.string().optional(),
  reason: z.string().optional(),
});
type Result = z.output<typeof Result>;

export const disconnectMany = operation({
  mcpName: 'ssh_disconnect_many',
  title: 'Disconnect sessions',
  cost: 'O(ids), up to 2.5 s, blocking',
  summary: 'End several sessions; one that fails does not stop the others.',
  access: 'control',
  destructive: true,
  idempotent: true,
  openWorld: true,
  keyed: true,
  input: z.object({ session_ids: z.array(z.string().max(128)).min(1).max(maxIds) }),
  output: Base.extend({ results: z.array(Result).optional(), disconnected: Count, failed: Count }),
  positional: ['session_ids'],
  async run({ input, engine, caller }) {
    const { sessions: all } = engine.service(ssh);
    // A session is removed as soon as its end begins, so a repeated id is not found the second time.
    const results = await Promise.all(
      input.session_ids.map(async (session_id): Promise<Result> => {
        try {
          await all.disconnect(session_id, caller.principal);
          return { session_id, status: 'ok' };
        } catch (error) {
          if (!(error instanceof FairleadError)) throw error;
          return { session_id: visible(session_id), status: 'error', code: remoteCode(error), reason: error.message };
        }
      }),
    );
    const disconnected = results.filter(({ status }) => status === 'ok').length;
    return {
      tool: 'ssh_disconnect_many',
      status: 'ok',
      results,
      disconnected,
      failed: results.length - disconnected,
    };
  },
  render: (output) =>
    replyText(output, {
      fields: { DISCONNECTED: output.disconnected, FAILED: output.failed },
      rows:
        output.results?.map(({ session_id, status, code, reason }) =>
          status === 'ok' ? `${session_id}: ok` : `${session_id}: error [${code}] ${reason}`,
        ) ?? [],
    }),
});

const ended = (gone: Pick<Casualties, 'command' | 'shell' | 'transfer'>) => ({
  commands_cancelled: gone.command,
  shells_closed: gone.shell,
  transfers_aborted: gone.transfer,
});

const sum = (gone: readonly Casualties[], kind: keyof Casualties): number =>
  gone.reduce((total, one) => total + one[kind], 0);

/** Calls that clean up: by agent where one owns sessions, and for the first session by itself. */
function successors(shown: readonly SessionEntry[]): Step[] {
  const [first] = shown;
  if (first === undefined) return [];
  const agent = shown.find(({ agent_id }) => agent_id !== undefined)?.agent_id;
  const one = toolStep('ssh_disconnect', `(session_id=${first.session_id})`);
  return agent === undefined ? [one] : [toolStep('ssh_disconnect_agent', `(agent_id=${agent})`), one];
}
