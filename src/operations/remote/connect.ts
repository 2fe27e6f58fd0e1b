import { z } from 'zod';
import type { Caller } from '../../engine/call/call.ts';
import { operation } from '../../engine/call/operation.ts';
import { ssh } from '../../transports/ssh/index.ts';
import type { LiveSession } from '../../transports/ssh/sessions/live-session.ts';
import type { ConnectOutcome } from '../../transports/ssh/sessions/sessions.ts';
import { hintOf, nextOf, toolStep } from './advice.ts';
import { connectFor, Id, Label } from './connect-for.ts';
import { usually } from './limits.ts';
import { deadline, leakHint, login, ownerFields, SessionEntry, sessionEntry, sessionRow } from './session-entry.ts';
import { replyText, type Value } from './text.ts';

const tool = 'ssh_connect';

const Output = z.object({
  tool: z.string(),
  status: z.string(),
  session_id: z.string().optional(),
  host: z.string().optional(),
  port: z.number().int().optional(),
  username: z.string().optional(),
  agent_id: z.string().optional(),
  name: z.string().optional(),
  retry: z.number().int().optional(),
  compression_enabled: z.boolean().optional(),
  persistent: z.boolean().optional(),
  expires_at: z.string().optional(),
  replaced: z.number().int().optional(),
  host_key: z.object({ fingerprint: z.string(), state: z.string() }).optional(),
  matches: z.array(SessionEntry).optional(),
  count: z.number().int().optional(),
  hints: z.array(z.string()).optional(),
  warnings: z.array(z.string()).optional(),
  next: z.string().optional(),
});
type Output = z.output<typeof Output>;

export const connect = operation({
  mcpName: tool,
  title: 'Connect over SSH',
  summary: 'Log in to a host and keep the session. By default it stops and lists matching sessions if there are any.',
  cost: 'O(1), a TCP and SSH handshake, 0.1 to 2 s, blocking; a reused session one round trip',
  access: 'open',
  destructive: false,
  idempotent: true,
  openWorld: true,
  keyed: true,
  input: z.object({
    address: z.string().min(1).max(300).optional().describe('host[:port]'),
    username: z.string().min(1).max(256).optional(),
    session_id: Id.optional().describe('Use this one if it is alive'),
    password: z.string().max(4096).optional().describe('Better left out: the person is asked'),
    key_path: z.string().min(1).max(4096).optional().describe('Private key'),
    reuse: z.enum(['suggest', 'auto', 'force_new']).default('suggest'),
    agent_id: Label.optional().describe('For ssh_disconnect_agent'),
    name: Label.optional(),
    persistent: z.boolean().default(false).describe('No idle timeout'),
    timeout_secs: usually(z.number().int().min(1).max(86_400), 30).describe('(30)'),
    max_retries: usually(z.number().int().min(0), 3).describe('(3)'),
    retry_delay_ms: usually(z.number().int().min(0), 1000).describe('First delay (1000)'),
    compress: usually(z.boolean(), false),
  }),
  output: Output,
  async run(call): Promise<Output> {
    const outcome = await connectFor(call, call.input);
    return describe(outcome, call.engine.service(ssh).sessions.all(call.caller.principal), call.caller);
  },
  render,
});

function describe(outcome: ConnectOutcome, all: readonly LiveSession[], caller: Caller): Output {
  const replaced = outcome.replaced > 0 ? { replaced: outcome.replaced } : {};
  if (outcome.status === 'suggested') return { ...suggested(outcome.matches, all, caller), ...replaced };
  const { session } = outcome;
  const { id, host, port, username, persistent, expiresAt } = session;
  const facts = {
    session_id: id,
    host,
    port,
    username,
    ...ownerFields(session),
    compression_enabled: session.compression,
    ...replaced,
    ...nextOf(caller, [
      toolStep('ssh_exec', `(session_id=${id}, command=...)`),
      toolStep('ssh_shell_open', `(session_id=${id})`),
      toolStep('ssh_disconnect', `(session_id=${id})`),
    ]),
  };
  if (outcome.status === 'reused') {
    const warnings = session.healthy ? {} : { warnings: ['the host answers, but ran no command within 5 s'] };
    return { tool, status: 'reused', ...facts, ...warnings };
  }
  const { retries, hostKey, warnings } = outcome.connected;
  return {
    tool,
    status: 'ok',
    ...facts,
    retry: retries,
    persistent,
    ...(expiresAt === undefined ? {} : { expires_at: deadline(expiresAt) }),
    host_key: hostKey,
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}

function suggested(sessions: readonly LiveSession[], all: readonly LiveSession[], caller: Caller): Output {
  const matches = sessions.map((session) => sessionEntry(session));
  const [only] = matches;
  const single = matches.length === 1 && only !== undefined ? only : undefined;
  const { hint: leak } = hintOf(caller, leakHint(all));
  const use = `${single ? 'use' : 'pick an'} existing SESSION_ID, or retry with reuse="force_new"`;
  return {
    tool,
    status: 'suggested',
    ...(single && {
      session_id: single.session_id,
      host: single.host,
      port: single.port,
      username: single.username,
      ...ownerFields({ agentId: single.agent_id, name: single.name }),
    }),
    matches,
    count: matches.length,
    hints: leak === undefined ? [use] : [use, leak],
    ...nextOf(caller, [
      toolStep(tool, `(session_id=${single?.session_id ?? '<existing>'})`),
      toolStep(tool, '(reuse="force_new")'),
    ]),
  };
}

function render(output: Output): string {
  if (output.status !== 'suggested') return replyText(output, { fields: connectedFields(output) });
  const { matches = [], hints = [] } = output;
  const [first] = matches;
  if (matches.length === 1 && first) return replyText(output, { fields: matchFields(first), hints });
  return replyText(output, {
    fields: { MATCHES: matches.length },
    rows: matches.map((match) => sessionRow(match, [`connected: ${match.connected_at}`])),
    hints,
  });
}

function connectedFields(output: Output): Readonly<Record<string, Value>> {
  const { session_id, agent_id, host = '', port = 22, username = '', host_key } = output;
  const fields = { SESSION_ID: session_id, HOST: login({ username, host, port }), AGENT_ID: agent_id };
  if (output.status === 'reused') return fields;
  return {
    ...fields,
    RETRY: output.retry,
    PERSISTENT: output.persistent,
    EXPIRES_AT: output.expires_at,
    REPLACED: output.replaced,
    HOST_KEY: host_key?.state === 'new' ? `${host_key.fingerprint} (new)` : undefined,
  };
}

const matchFields = (match: SessionEntry): Readonly<Record<string, Value>> => ({
  EXISTING_SESSION_ID: match.session_id,
  HOST: login(match),
  AGENT_ID: match.agent_id,
  NAME: match.name,
  CONNECTED_AT: match.connected_at,
  HEALTHY: match.healthy,
});
