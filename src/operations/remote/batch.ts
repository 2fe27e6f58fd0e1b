import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { remoteError } from '../../contract/remote-errors.ts';
import type { Call } from '../../engine/call/call.ts';
import { operation } from '../../engine/call/operation.ts';
import type { SshCommand } from '../../transports/ssh/commands/command.ts';
import { ssh } from '../../transports/ssh/index.ts';
import {
  CommandLine,
  endFacts,
  noOutput,
  Pty,
  StatusShape,
  OutputStreams,
  streamsOf,
  commandEnded,
} from './command-shared.ts';
import { Id } from './connect-for.ts';
import { ShellMaxBytes, outputLimit, runMs, Seconds } from './limits.ts';
import { RemoteFlags, flagged, replyText } from './text.ts';

const tool = 'ssh_exec_batch';

const Entry = z.object({
  index: z.number().int(),
  command: z.string(),
  status: z.enum(['completed', 'failed', 'timeout', 'cancelled', 'skipped']),
  command_id: z.string().optional(),
  exit_code: z.number().int().optional(),
  ...OutputStreams.shape,
  timed_out: z.boolean(),
  error: z.string().optional(),
});
type Entry = z.output<typeof Entry>;

const Input = z.object({
  session_id: Id,
  commands: z.array(CommandLine).min(1).max(16),
  stop_on_failure: z.boolean().default(true),
  timeout_secs_per_command: Seconds.default(30).describe('At most 300'),
  max_output_bytes_per_command: ShellMaxBytes.describe('Per stream (16384)'),
  pty: Pty,
});

export const execBatch = operation({
  mcpName: tool,
  title: 'Run commands in order over SSH',
  cost: 'O(commands), blocks up to commands × timeout_secs_per_command',
  summary: 'Run 1 to 16 commands one after the other on a session and wait for all; stops at the first that fails.',
  access: 'control',
  destructive: true,
  openWorld: true,
  keyed: true,
  input: Input,
  output: z.object({
    ...StatusShape,
    session_id: z.string(),
    total: z.number().int(),
    executed: z.number().int(),
    results: z.array(Entry),
    flags: RemoteFlags,
  }),
  commands: ({ commands }) => commands,
  async run(call) {
    const { commands, session_id, stop_on_failure } = call.input;
    const results: Entry[] = [];
    let bytes = 0;
    for (const [index, line] of commands.entries()) {
      if (stop_on_failure && results.some(({ status }) => status !== 'completed')) {
        results.push({ index, command: line, status: 'skipped', ...noOutput, timed_out: false });
        continue;
      }
      try {
        if (index > 0) await call.nextStep();
        const { entry, stdoutBytes } = await runOne(call, index, line, bytes);
        bytes += stdoutBytes;
        results.push(entry);
        if (entry.status === 'failed') mustLive(call, entry);
      } catch (error) {
        throw withResults(error, { session_id, total: commands.length, executed: results.length, results });
      }
    }
    const executed = results.filter(({ status }) => status !== 'skipped').length;
    const status = executed < commands.length ? 'halted' : 'ok';
    const flags = flagged(...results.map((entry) => entry.flags ?? {}));
    return { tool, status, session_id, total: commands.length, executed, results, ...flags };
  },
  render: (output) =>
    replyText(output, {
      fields: { SESSION_ID: output.session_id, TOTAL: output.total, EXECUTED: output.executed },
      rows: output.results.map(({ index, command, status, exit_code }) => {
        const exit = exit_code === undefined ? '' : ` exit=${exit_code}`;
        return `[${index}] ${command}: ${status.toUpperCase()}${exit}`;
      }),
    }),
});

type BatchCall = Call<z.output<typeof Input>>;

async function runOne(call: BatchCall, index: number, line: string, bytesBefore: number) {
  const { input, engine, caller, signal } = call;
  const { sessions, commands, settings } = engine.service(ssh);
  const session = sessions.find(input.session_id, caller.principal);
  const command = await commands.start(
    session,
    {
      command: line,
      timeoutMs: runMs(input.timeout_secs_per_command),
      pty: input.pty,
      releaseWhenNoSubs: false,
      graceMs: 0,
    },
    signal,
  );
  // It ends by its own timeout.
  await commandEnded(command, Number.POSITIVE_INFINITY, call, bytesBefore);
  const max = outputLimit(input.max_output_bytes_per_command, settings);
  return { entry: entryOf(index, line, command, max), stdoutBytes: command.output.stdout.end };
}

function entryOf(index: number, line: string, command: SshCommand, max: number): Entry {
  const { end } = command;
  const status = end?.status ?? 'failed';
  const bad = status === 'completed' && end?.exitCode !== 0;
  return {
    index,
    command: line,
    status: bad ? 'failed' : status,
    command_id: command.id,
    ...streamsOf(command, max),
    ...endFacts(command),
    ...(bad && { error: `[REMOTE_CMD_FAILED] exit code ${end?.exitCode}` }),
  };
}

/** A batch that lost its session ends, even with `stop_on_failure: false`. */
function mustLive({ input, engine, caller }: BatchCall, { index, error }: Entry): void {
  const { sessions } = engine.service(ssh);
  if (sessions.all(caller.principal).some(({ id }) => id === input.session_id)) return;
  throw remoteError('COMMAND_FAILED', error ?? 'The session ended.', { context: `command ${index}` });
}

/** Keeps the finished results in the error. */
function withResults(error: unknown, facts: Readonly<Record<string, unknown>>): unknown {
  if (!(error instanceof FairleadError)) return error;
  const { code, message, hint, data } = error;
  return new FairleadError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    data: { ...data, ...facts },
    cause: error,
  });
}
