import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { visible } from '../../contract/quote.ts';
import { operation } from '../../engine/call/operation.ts';
import { runningCommands, type RunningAgentCommand } from '../../engine/agents/running-commands.ts';
import { stopCommand, stopOutcomes } from '../../engine/agents/stop-commands.ts';
import type { Engine } from '../../engine/engine.ts';
import { terminalsOf } from './shared.ts';

const Command = z.object({
  terminal: z.string(),
  session: z.number().int(),
  conversation: z.string(),
  agent: z.string(),
  command: z.string(),
  since: z.number().describe('In ms since 1970'),
});

export const list = operation({
  title: 'List running commands',
  summary: 'List the commands that agents started and that run now, in every terminal.',
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({ commands: z.array(Command) }),
  cliDefault: true,
  async run({ engine, caller }) {
    return { commands: runningCommands(engine, caller).map((one) => listed(one, engine)) };
  },
  render: ({ commands }) => commands.map(commandLine).join('\n') || 'No command of an agent is running.',
});

const words = {
  ended: 'ended',
  killed: 'killed after 5 s',
  interrupted: 'ended by Ctrl+C',
  runs: 'still runs',
  was_over: 'was over already',
} as const;

export const stop = operation({
  title: 'Stop running commands',
  summary: 'Stop the commands of agents that run now: TERM, then KILL after 5 seconds. Terminals stay open.',
  access: 'control',
  input: z.strictObject({
    terminals: z
      .array(z.string().max(64))
      .min(1)
      .max(1000)
      .optional()
      .describe('Only in these terminals, by id; without any, in all'),
  }),
  output: z.object({ commands: z.array(Command.extend({ outcome: z.enum(stopOutcomes) })) }),
  positional: ['terminals'],
  about: ({ terminals }) => ({ detail: terminals?.join(' ') ?? 'all' }),
  async run({ input, engine, caller, signal }) {
    const all = runningCommands(engine, caller);
    const unknown = input.terminals?.find((id) => !terminalsOf(engine, caller).some((one) => one.id === id));
    if (unknown !== undefined) throw new FairleadError('terminal_not_found', `There is no terminal ${unknown}.`);
    const chosen = all.filter(({ terminal }) => input.terminals?.includes(terminal.id) ?? true);
    const commands = await Promise.all(
      chosen.map(async (one) => ({
        ...listed(one, engine),
        outcome: await stopCommand(one, caller.name, engine.clock, signal),
      })),
    );
    return { commands };
  },
  render: ({ commands }) =>
    commands.map((one) => `${commandLine(one)}: ${words[one.outcome]}`).join('\n') ||
    'No command of an agent is running.',
});

export const end = operation({
  title: 'End all terminals',
  summary: 'End every terminal of this instance with everything in it, and pause everything. Needs the word `end`.',
  access: 'administer',
  input: z.strictObject({ word: z.literal('end', { error: 'must be the word end' }).describe('The word `end`') }),
  output: z.object({ terminals: z.array(z.string()).describe('Those that were ended') }),
  positional: ['word'],
  async run({ engine, caller }) {
    const { agents, clock, sessions } = engine;
    // First of all: nothing new begins in the midst of it.
    agents.pauses.pauseAll({ by: caller.name, at: clock.now() }, agents.conversations.of(caller.principal));
    const own = terminalsOf(engine, caller);
    const known = new Set(sessions.all(caller));
    // Half of them must not be left because the person hung up.
    await Promise.all(
      own.map(async (one) =>
        known.has(one) ? await sessions.close(one.id, caller, engine.closing) : await one.endWithin(endMs),
      ),
    );
    return { terminals: own.map(({ id }) => id) };
  },
  render: ({ terminals }) => `Ended ${terminals.length} terminals. Everything is paused.`,
});

/** As for a single session that is closed. */
const endMs = 3000;

const listed = (
  { terminal, conversation, agent, command, since }: RunningAgentCommand,
  engine: Engine,
): z.output<typeof Command> => ({
  terminal: terminal.id,
  session: terminal.identity.number,
  conversation,
  agent,
  command: visible(engine.redact(command)),
  since,
});

const commandLine = ({ terminal, agent, command }: z.output<typeof Command>): string =>
  `${terminal}  ${agent}: ${command}`;
