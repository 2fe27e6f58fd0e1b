import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

export const take = operation({
  title: 'Take the keyboard over',
  summary:
    'Take the keyboard of a terminal over: only you type then, and agents are told so. Repeat it with its epoch within a minute to keep it.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.strictObject({
    session: Session,
    epoch: z.number().int().optional().describe('What an earlier call answered: renews it'),
  }),
  output: z.object({
    session: z.number().int(),
    epoch: z.number().int().describe('Goes with what you type'),
    running: z.string().optional().describe('A command that goes on'),
  }),
  positional: ['session'],
  about: aboutSession,
  auditSpanMs: 600_000,
  async run({ input, engine, caller, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    const command = terminal.blocks.current?.command ?? terminal.commands.running;
    return {
      session: terminal.identity.number,
      epoch: terminal.input.lease.take(caller.name, input.epoch),
      ...(command === undefined ? {} : { running: command }),
    };
  },
  render: ({ session }) => `You have the keyboard of session ${session}. Hand it back when you are done.`,
});

export const give = operation({
  title: 'Hand the keyboard back',
  summary: 'Hand the keyboard of a terminal back. The next agent that uses the terminal reads your note.',
  access: 'control',
  destructive: false,
  openWorld: false,
  input: z.strictObject({
    session: Session,
    epoch: z.number().int().describe('What person.take answered'),
    note: z.string().max(1000).optional().describe('For the agents'),
  }),
  output: z.object({ session: z.number().int() }),
  positional: ['session', 'epoch', 'note'],
  about: aboutSession,
  async run({ input, engine, caller, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    if (!terminal.input.lease.give(input.epoch, input.note)) {
      throw new FairleadError('conflict', 'You do not have this keyboard any more.', {
        hint: 'Another person took it, or it was not renewed for a minute.',
      });
    }
    return { session: terminal.identity.number };
  },
  render: ({ session }) => `The keyboard of session ${session} is free.`,
});
