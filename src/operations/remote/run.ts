import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { ssh } from '../../transports/ssh/index.ts';
import type { ConnectOutcome } from '../../transports/ssh/sessions/sessions.ts';
import {
  CommandLine,
  endFacts,
  Pty,
  StatusShape,
  OutputStreams,
  streamBlocks,
  streamsOf,
  commandEnded,
} from './command-shared.ts';
import { connectFor, Label } from './connect-for.ts';
import { ShellMaxBytes, outputLimit, runMs, Seconds } from './limits.ts';
import { replyText } from './text.ts';

const tool = 'ssh_run';

export const run = operation({
  mcpName: tool,
  title: 'Run one command over SSH',
  cost: 'O(1), a full handshake unless a session is there, blocks up to timeout_secs',
  summary: 'Log in (or reuse a session), run one command, wait for it, log out. For several: ssh_connect, ssh_exec.',
  access: 'open',
  destructive: true,
  openWorld: true,
  keyed: true,
  input: z.object({
    address: z.string().min(1).max(300).describe('host[:port]'),
    username: z.string().min(1).max(256),
    command: CommandLine,
    password: z.string().max(4096).optional().describe('Better left out: the person is asked'),
    key_path: z.string().min(1).max(4096).optional(),
    agent_id: Label.optional(),
    pty: Pty,
    timeout_secs: Seconds.default(30).describe('At most 300'),
    max_output_bytes: ShellMaxBytes.describe('Per stream (16384)'),
    disconnect_after: z.boolean().default(true).describe('A reused session stays'),
  }),
  output: z.object({
    ...StatusShape,
    session_id: z.string(),
    command_id: z.string(),
    disconnected: z.boolean(),
    exit_code: z.number().int().optional(),
    ...OutputStreams.shape,
    timed_out: z.boolean(),
    error: z.string().optional(),
    host_key: z.object({ fingerprint: z.string(), state: z.string() }).optional(),
    warnings: z.array(z.string()).optional(),
  }),
  commands: ({ command }) => [command],
  async run(call) {
    const { input, engine, signal } = call;
    const { sessions, commands, settings } = engine.service(ssh);
    const { address, username, password, key_path, agent_id } = input;
    const login = { address, username, password, key_path, agent_id, reuse: 'auto' as const };
    const outcome = await connectFor(call, login, { sameAgent: agent_id !== undefined });
    if (outcome.status === 'suggested') throw new TypeError('reuse=auto suggests nothing');
    const { session } = outcome;
    /** End only a session that this call made, and only while no other call uses it. */
    const leave = async (): Promise<boolean> => outcome.status === 'ok' && (await sessions.release(session));
    const request = {
      command: input.command,
      timeoutMs: runMs(input.timeout_secs),
      pty: input.pty,
      releaseWhenNoSubs: false,
      graceMs: 0,
    };
    const command = await commands.start(session, request, signal).catch(async (error: unknown) => {
      await leave();
      throw error;
    });
    try {
      // It ends by its own timeout.
      await commandEnded(command, Number.POSITIVE_INFINITY, call);
    } catch (error) {
      // The caller is gone; its command goes on, and so does the session until the command ends.
      if (input.disconnect_after) engine.background(command.whenEnded.then(leave));
      throw error;
    }
    return {
      tool,
      status: command.status,
      session_id: session.id,
      command_id: command.id,
      disconnected: input.disconnect_after && (await leave()),
      ...streamsOf(command, outputLimit(input.max_output_bytes, settings)),
      ...endFacts(command),
      ...trust(outcome),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        SESSION_ID: output.session_id,
        COMMAND_ID: output.command_id,
        EXIT: output.exit_code,
        DISCONNECTED: output.disconnected,
        HOST_KEY: output.host_key && `${output.host_key.fingerprint} (${output.host_key.state})`,
        ERROR: output.error,
      },
      blocks: streamBlocks(output, output.status === 'completed'),
    }),
});

/** Reports a host key that was recorded just now. */
function trust(outcome: ConnectOutcome) {
  if (outcome.status !== 'ok') return {};
  const { hostKey, warnings } = outcome.connected;
  return {
    ...(hostKey.state === 'new' && { host_key: hostKey }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}
