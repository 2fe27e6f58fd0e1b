import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

export const rename = operation({
  title: 'Rename a terminal',
  summary: 'Give a terminal another name, for everyone who uses it.',
  access: 'control',
  destructive: false,
  idempotent: true,
  openWorld: false,
  input: z.strictObject({
    session: Session,
    name: z.string().trim().min(1).max(64).describe('The new name; it has a letter in it'),
  }),
  output: z.object({ session: z.number().int(), name: z.string() }),
  positional: ['session', 'name'],
  about: aboutSession,
  async run({ input, engine, caller, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    engine.sessions.rename(terminal, input.name);
    return { session: terminal.identity.number, name: input.name };
  },
  render: ({ session, name }) => `Session ${session} is called ${name} now.`,
});
