import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { handBackWords } from '../../engine/input/hand-back.ts';
import { whenCommandEnds } from '../../engine/waiting/command-end.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

export const take = operation({
  title: 'Take the keyboard over',
  summary:
    'Take the keyboard of a terminal over: only you type then, and agents are told so. Repeat it with its epoch within a minute to keep it; without a key for ten minutes it is handed back.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.strictObject({
    session: Session,
    epoch: z.number().int().optional().describe('What an earlier call answered: renews it'),
    when: z
      .enum(['now', 'command_ends'])
      .default('now')
      .describe('command_ends: wait until the command that runs has ended, an hour at most'),
  }),
  output: z.object({
    session: z.number().int(),
    epoch: z.number().int().describe('Goes with what you type'),
    running: z.string().optional().describe('A command that goes on'),
  }),
  positional: ['session'],
  about: aboutSession,
  auditSpanMs: 600_000,
  async run({ input, engine, caller, signal, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    const { lease } = terminal.input;
    if (input.epoch !== undefined && !lease.holds(input.epoch)) throw notYours();
    const epoch =
      input.when === 'now'
        ? lease.take(caller.name, input.epoch)
        : await whenCommandEnds(terminal, () => lease.take(caller.name), signal);
    const command = terminal.blocks.current?.command ?? terminal.commands.running;
    return {
      session: terminal.identity.number,
      epoch,
      ...(command === undefined ? {} : { running: command }),
    };
  },
  render: ({ session }) => `You have the keyboard of session ${session}. Hand it back when you are done.`,
});

export const give = operation({
  title: 'Hand the keyboard back',
  summary:
    'Hand the keyboard of a terminal back. The next agent that uses the terminal is told what you did there, and reads your note.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.strictObject({
    session: Session,
    epoch: z.number().int().describe('What person.take answered'),
    note: z.string().max(1000).optional().describe('For the agents'),
    preview: z.boolean().default(false).describe('Only show what the agent will be told; you keep the keyboard'),
  }),
  output: z.object({
    session: z.number().int(),
    told: z.string().describe('What the next agent is told'),
    given: z.boolean().describe('The keyboard is free'),
  }),
  positional: ['session', 'epoch', 'note'],
  about: aboutSession,
  async run({ input, engine, caller, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    const { lease } = terminal.input;
    const handBack = lease.preview(input.epoch, input.note);
    if (!handBack) throw notYours();
    const told = handBackWords(handBack, terminal.place.cwd);
    if (!input.preview) lease.give(input.epoch, input.note);
    return { session: terminal.identity.number, told, given: !input.preview };
  },
  render: ({ session, told, given }) =>
    given ? `The keyboard of session ${session} is free. The next agent is told: ${told}` : `It will be told: ${told}`,
});

const notYours = (): FairleadError =>
  new FairleadError('conflict', 'You do not have this keyboard any more.', {
    hint: 'Another person took it, it was not renewed for a minute, or no key was pressed for ten.',
  });
