import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { settlesWithin } from '../../transports/ssh/commands/command-wait.ts';
import { ssh } from '../../transports/ssh/index.ts';
import { followHint, followStep, hintOf, nextOf } from './advice.ts';
import {
  CommandLine,
  endFacts,
  findCommand,
  Pty,
  StatusShape,
  OutputStreams,
  streamBlocks,
  streamsOf,
  commandEnded,
  commandUri,
  commandAnswer,
  waitOrCancel,
} from './command-shared.ts';
import { Id } from './connect-for.ts';
import { ShellMaxBytes, outputLimit, Seconds, usually, waitMs } from './limits.ts';
import { replyText } from './text.ts';

const queuedWords = 'It waits for a channel of the session, at most 10 s';

export const exec = operation({
  mcpName: 'ssh_exec',
  title: 'Start a command over SSH',
  cost: 'O(1), one round trip, async',
  summary: 'Start a shell command on a session and return its COMMAND_ID at once. Without pty its stdin is empty.',
  access: 'control',
  destructive: true,
  openWorld: true,
  keyed: true,
  input: z.object({
    session_id: Id,
    command: CommandLine,
    timeout_secs: usually(Seconds, 180).describe('Then it is killed (180)'),
    pty: Pty.describe('Give it a terminal; all output is stdout'),
    release_when_no_subs: z.boolean().default(false).describe('End it when its last subscriber left'),
    grace_ms: z.number().int().min(0).max(0xffff_ffff).default(2000),
  }),
  output: z.object({
    ...StatusShape,
    session_id: z.string(),
    command_id: z.string(),
    agent_id: z.string().optional(),
    queued: z.boolean().optional().describe(queuedWords),
    hint: z.string().optional(),
    next: z.string().optional(),
  }),
  commands: ({ command }) => [command],
  async run({ input, engine, caller, signal }) {
    const { sessions, commands, settings } = engine.service(ssh);
    const session = sessions.find(input.session_id, caller.principal);
    const { id, queued } = await commands.start(
      session,
      {
        command: input.command,
        timeoutMs:
          input.timeout_secs === undefined ? settings.commandTimeoutMs : Math.max(1, input.timeout_secs) * 1000,
        pty: input.pty,
        releaseWhenNoSubs: input.release_when_no_subs,
        graceMs: input.grace_ms,
      },
      signal,
      { atOnce: true },
    );
    return {
      tool: 'ssh_exec',
      status: 'started',
      session_id: session.id,
      command_id: id,
      ...(session.agentId === undefined ? {} : { agent_id: session.agentId }),
      ...(queued && { queued }),
      ...hintOf(caller, followHint(commandUri(id))),
      ...nextOf(caller, waitOrCancel(id)),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        COMMAND_ID: output.command_id,
        SESSION_ID: output.session_id,
        AGENT_ID: output.agent_id,
        QUEUED: output.queued,
      },
    }),
});

export const execOutput = operation({
  mcpName: 'ssh_exec_output',
  title: 'Read a command over SSH',
  cost: 'O(output), local; wait=true blocks',
  summary: 'Status and newest output of a command; wait=true waits for its end.',
  access: 'observe',
  openWorld: true,
  input: z.object({
    command_id: Id,
    wait: z.boolean().default(false),
    wait_timeout_secs: Seconds.default(30).describe('At most 300'),
    max_output_bytes: ShellMaxBytes.describe('Per stream (16384)'),
  }),
  output: z.object({
    ...StatusShape,
    command_id: z.string(),
    queued: z.boolean().optional().describe(queuedWords),
    exit_code: z.number().int().optional(),
    ...OutputStreams.shape,
    timed_out: z.boolean(),
    timeout_kind: z.enum(['wait', 'command']).optional(),
    error: z.string().optional(),
    next: z.string().optional(),
  }),
  async run(call) {
    const { input, engine, caller } = call;
    const { settings } = engine.service(ssh);
    const command = findCommand(input.command_id, call);
    if (input.wait) await commandEnded(command, waitMs(input.wait_timeout_secs), call);
    const { id, status } = command;
    const running = status === 'running';
    const kind: 'command' | 'wait' | undefined =
      status === 'timeout' ? 'command' : running && input.wait ? 'wait' : undefined;
    return {
      tool: 'ssh_exec_output',
      status: kind === undefined ? status : 'timeout',
      command_id: id,
      ...(command.queued && { queued: true }),
      ...streamsOf(command, outputLimit(input.max_output_bytes, settings)),
      ...endFacts(command),
      timed_out: kind !== undefined,
      ...(kind && { timeout_kind: kind }),
      ...nextOf(caller, running ? [followStep(commandUri(id)), commandAnswer(id)] : []),
    };
  },
  render: (output) =>
    replyText(output, {
      fields: {
        COMMAND_ID: output.command_id,
        QUEUED: output.queued,
        EXIT: output.exit_code,
        TIMEOUT_KIND: output.timeout_kind,
        ERROR: output.error,
      },
      blocks: streamBlocks(output, output.status === 'completed'),
    }),
});

export const execCancel = operation({
  mcpName: 'ssh_exec_cancel',
  title: 'Cancel a command over SSH',
  cost: 'O(output), blocks up to 4 s',
  summary: 'Interrupt a command, kill it after 2 s, and return its output so far.',
  access: 'control',
  destructive: true,
  idempotent: true,
  openWorld: true,
  keyed: true,
  input: z.object({ command_id: Id, max_output_bytes: ShellMaxBytes.describe('Per stream (16384)') }),
  output: z.object({
    ...StatusShape,
    command_id: z.string(),
    ...OutputStreams.partial().shape,
    reason: z.string().optional(),
  }),
  async run(call) {
    const { input, engine, signal } = call;
    const { settings } = engine.service(ssh);
    const command = findCommand(input.command_id, call);
    const facts = { tool: 'ssh_exec_cancel', command_id: command.id };
    if (command.end !== undefined) return { ...facts, status: 'noop', reason: command.status };
    await settlesWithin(command.cancel(), longestCancelMs, engine.clock, signal);
    // It was already being ended for another reason.
    if (command.status !== 'cancelled') return { ...facts, status: 'noop', reason: command.status };
    return { ...facts, status: 'cancelled', ...streamsOf(command, outputLimit(input.max_output_bytes, settings)) };
  },
  render: (output) =>
    replyText(output, {
      fields: { COMMAND_ID: output.command_id, REASON: output.reason?.toUpperCase() },
      blocks: output.status === 'noop' ? [] : streamBlocks(output, false),
    }),
});

/** Longer than INT, the grace period and KILL together can take. */
const longestCancelMs = 10_000;
