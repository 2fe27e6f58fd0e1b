import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import type { SshCommand, CommandStatus } from '../../transports/ssh/commands/command.ts';
import { ssh } from '../../transports/ssh/index.ts';
import { nextOf } from './advice.ts';
import { StatusShape, waitOrCancel } from './command-shared.ts';
import { Id } from './connect-for.ts';
import { leaksOf } from './leaks.ts';
import { itemLimit, MaxItems } from './limits.ts';
import { countText, replyText } from './text.ts';

const listed = ['running', 'completed', 'cancelled', 'failed'] as const;
type Listed = (typeof listed)[number];

/** The list knows four states (and so do its filter and the resources): a command that took too long failed. */
const listedAs = (status: CommandStatus): Listed => (status === 'timeout' ? 'failed' : status);

/** How much of a command line a list shows. */
const longestShown = 500;

export const list = operation({
  mcpName: 'ssh_commands',
  title: 'List commands over SSH',
  cost: 'O(commands), local, under 1 ms',
  summary: 'List running and recently ended commands of one or all sessions.',
  access: 'observe',
  openWorld: true,
  input: z.object({
    session_id: Id.optional(),
    status: z.enum(listed).optional(),
    max_items: MaxItems,
  }),
  output: z.object({
    ...StatusShape,
    commands: z.array(
      z.object({
        command_id: z.string(),
        session_id: z.string(),
        command: z.string(),
        status: z.enum(listed),
        started_at: z.string(),
      }),
    ),
    count: z.number().int(),
    total: z.number().int(),
    warnings: z.array(z.string()),
    next: z.string().optional(),
  }),
  run: async ({ input, engine, caller }) => {
    const { commands, settings } = engine.service(ssh);
    const found = commands
      .all(caller.principal)
      .filter(({ sessionId }) => input.session_id === undefined || sessionId === input.session_id)
      .filter(({ status }) => input.status === undefined || listedAs(status) === input.status);
    const shown = found.slice(-itemLimit(input.max_items, settings));
    const running = shown.find(({ status }) => status === 'running');
    return {
      tool: 'ssh_commands',
      status: 'ok',
      commands: shown.map(entry),
      count: shown.length,
      total: found.length,
      warnings: leaksOf(engine, caller),
      ...nextOf(caller, running ? waitOrCancel(running.id) : []),
    };
  },
  render: (output) => {
    const { commands, count, total } = output;
    return replyText(output, {
      fields: { COUNT: countText(count, total) },
      rows: commands.map(
        ({ command_id, session_id, command, status, started_at }) =>
          `${command_id} [${status.toUpperCase()}] ${session_id}: ${command} (${started_at.slice(11, 19)})`,
      ),
    });
  },
});

function entry({ id, sessionId, request, status, startedAt }: SshCommand) {
  const { command } = request;
  return {
    command_id: id,
    session_id: sessionId,
    command: command.length > longestShown ? `${command.slice(0, longestShown).toWellFormed()}…` : command,
    status: listedAs(status),
    started_at: new Date(startedAt).toISOString(),
  };
}
