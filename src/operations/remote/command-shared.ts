import { z } from 'zod';
import type { Call } from '../../engine/call/call.ts';
import type { OutputLog } from '../../engine/terminal/output-log.ts';
import { plainOutput } from '../../engine/reading/plain-output.ts';
import { incompleteTail } from '../../lib/utf8.ts';
import type { SshCommand } from '../../transports/ssh/commands/command.ts';
import { settlesWithin } from '../../transports/ssh/commands/command-wait.ts';
import { ssh } from '../../transports/ssh/index.ts';
import { resourceUri } from '../../streams/uri.ts';
import { type Step, toolStep } from './advice.ts';
import { RemoteFlags, flagged, type OutputBlock, tailText } from './text.ts';

/** Shared by the tools that run commands. */

export const StatusShape = { tool: z.string(), status: z.string() };

export const commandUri = (id: string): string => resourceUri('command', id);
export const commandAnswer = (id: string): Step => toolStep('ssh_exec_output', `(command_id=${id}, wait=true)`);

export const waitOrCancel = (id: string): Step[] => [
  commandAnswer(id),
  toolStep('ssh_exec_cancel', `(command_id=${id})`),
];

/** A line for the far side's shell. No system takes a longer one as one argument. */
export const CommandLine = z
  .string()
  .min(1)
  .max(131_072)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'contains NUL or half of a surrogate pair');

export const Pty = z.boolean().default(false);

/** A caller's own command. Asking for it also marks its session as used, if that is still open. */
export function findCommand(id: string, { engine, caller }: Pick<Call<unknown>, 'engine' | 'caller'>): SshCommand {
  const { commands, sessions } = engine.service(ssh);
  const command = commands.find(id, caller.principal);
  const session = sessions.all(caller.principal).find((one) => one.id === command.sessionId);
  session?.touch();
  return command;
}

/** The newest bytes of each stream, as many as were asked for. */
export const OutputStreams = z.object({
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  // Present when the head was left out.
  stdout_shown_bytes: z.number().int().optional(),
  stdout_total_bytes: z.number().int().optional(),
  stderr_shown_bytes: z.number().int().optional(),
  stderr_total_bytes: z.number().int().optional(),
  flags: RemoteFlags,
});
type OutputStreams = z.output<typeof OutputStreams>;

export const noOutput: OutputStreams = { stdout: '', stderr: '', stdout_truncated: false, stderr_truncated: false };

export function streamsOf({ output, end }: SshCommand, max: number): OutputStreams {
  const stdout = tailOf(output.stdout, max, end === undefined);
  const stderr = tailOf(output.stderr, max, end === undefined);
  const plain = { stdout: plainOutput(stdout.text), stderr: plainOutput(stderr.text) };
  return {
    stdout: plain.stdout.text,
    stderr: plain.stderr.text,
    stdout_truncated: stdout.truncated !== undefined,
    stderr_truncated: stderr.truncated !== undefined,
    ...(stdout.truncated && {
      stdout_shown_bytes: stdout.truncated.shown,
      stdout_total_bytes: stdout.truncated.total,
    }),
    ...(stderr.truncated && {
      stderr_shown_bytes: stderr.truncated.shown,
      stderr_total_bytes: stderr.truncated.total,
    }),
    ...flagged(plain.stdout.flags, plain.stderr.flags),
  };
}

function tailOf(log: OutputLog, max: number, running: boolean) {
  const { bytes } = log.read(Math.max(0, log.end - max));
  // The rest of the last character has not arrived yet.
  const held = running ? incompleteTail(bytes) : 0;
  return tailText(bytes.subarray(0, bytes.length - held), max, log.end - held);
}

/** Output of a command that did not end by itself is partial; an empty block only says `empty`. */
export function streamBlocks(
  streams: { readonly [K in keyof OutputStreams]?: OutputStreams[K] | undefined },
  complete: boolean,
): OutputBlock[] {
  return (['stdout', 'stderr'] as const).map((name) => {
    const text = streams[name] ?? '';
    const shown = streams[`${name}_shown_bytes`];
    const total = streams[`${name}_total_bytes`];
    return {
      name,
      text,
      state: complete || text === '' ? undefined : 'partial',
      truncated: shown === undefined || total === undefined ? undefined : { shown, total },
    };
  });
}

/** How a command ended, in the words of every tool that waits for one. */
export function endFacts({ end }: SshCommand) {
  return {
    ...(end?.exitCode === undefined ? {} : { exit_code: end.exitCode }),
    timed_out: end?.status === 'timeout',
    ...(end?.error === undefined ? {} : { error: end.error }),
  };
}

const progressEveryMs = 5_000;

/** True if the command ended in time. Aborting stops the wait only. `before`: stdout of the call's earlier commands. */
export async function commandEnded(
  command: SshCommand,
  limitMs: number,
  { engine, signal, progress }: Pick<Call<unknown>, 'engine' | 'signal' | 'progress'>,
  before = 0,
): Promise<boolean> {
  const { clock } = engine;
  const tick = (): void => {
    const done = before + command.output.stdout.end;
    progress(`${done} bytes of stdout so far`, { done });
    next = clock.after(progressEveryMs, tick);
  };
  let next = clock.after(progressEveryMs, tick);
  using _waiting = command.awaited();
  try {
    return await settlesWithin(command.whenEnded, limitMs, clock, signal);
  } finally {
    next[Symbol.dispose]();
  }
}
