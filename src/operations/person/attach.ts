import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { borrowSize, resizeAs } from '../../engine/terminal/borrowed-size.ts';
import { aboutSession, ScreenShape, screenOf, Session, terminalCalled } from './shared.ts';

/** Keys of one attached person within this time are one entry of the audit trail. */
const typingSpanMs = 1000;
const ctrlC = 3;

export const see = operation({
  title: 'See a terminal',
  summary: 'See a terminal as it is now: its screen as bytes for a fresh terminal, and where its output goes on.',
  access: 'observe',
  input: z.strictObject({ session: Session }),
  output: z.object({
    session: z.number().int(),
    terminal: z.string().describe('The id that programs in it have in FAIRLEAD_SESSION'),
    name: z.string(),
    ...ScreenShape,
    from: z.number().int().describe('Offset of the output behind it'),
  }),
  positional: ['session'],
  about: aboutSession,
  async run({ input, engine, caller, signal, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    await terminal.sync(signal);
    const { number, name, program } = terminal.identity;
    return {
      session: number,
      terminal: terminal.id,
      name: name ?? program,
      ...screenOf(terminal),
      from: terminal.log.end,
    };
  },
  render: ({ session, name, cols, rows }) => `Session ${session}: ${name}, ${cols}x${rows}.`,
});

export const type = operation({
  title: 'Type into a terminal',
  summary: 'Type keys into a terminal, as the person at its keyboard. The audit trail keeps their number only.',
  access: 'control',
  input: z.strictObject({
    session: Session,
    text: z.string().max(262_144).optional().describe('The keys, as a terminal sends them'),
    epoch: z.number().int().optional().describe('What person.take answered'),
  }),
  output: z.object({ session: z.number().int(), bytes: z.number().int() }),
  positional: ['session'],
  secretField: 'text',
  auditSpanMs: typingSpanMs,
  about: aboutSession,
  async run({ input, body, engine, caller, signal, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    const bytes = body ?? Buffer.from(input.text ?? '');
    // Ctrl+C overtakes what waits, and passes the holder of the keyboard.
    if (bytes.length === 1 && bytes[0] === ctrlC) await terminal.input.interrupt(bytes, caller.name, signal, 'person');
    else await terminal.input.send(bytes, caller.name, signal, 'person', input.epoch);
    return { session: terminal.identity.number, bytes: bytes.length };
  },
  render: ({ bytes, session }) => `Typed ${bytes} bytes into session ${session}.`,
});

export const resize = operation({
  title: 'Resize a terminal',
  summary:
    'Resize a terminal, for every reader of it. With the epoch of a keyboard that you took over, the old size returns when you hand it back.',
  access: 'control',
  destructive: false,
  idempotent: true,
  openWorld: false,
  input: z.strictObject({
    session: Session,
    cols: z.number().int().min(2).max(1000).describe('Columns'),
    rows: z.number().int().min(1).max(1000).describe('Rows'),
    epoch: z.number().int().optional().describe('What person.take answered: the size is yours until you hand back'),
  }),
  output: z.object({ session: z.number().int(), cols: z.number().int(), rows: z.number().int() }),
  positional: ['session', 'cols', 'rows'],
  about: ({ session, cols, rows }) => ({ terminal: String(session), detail: `${cols}x${rows}` }),
  async run({ input: { session, cols, rows, epoch }, engine, caller, signal, note }) {
    const terminal = terminalCalled(session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    if (epoch === undefined) await resizeAs(terminal, { cols, rows }, caller.name, signal);
    else await borrowSize(terminal, { cols, rows }, { by: caller.name, epoch }, signal);
    return { session: terminal.identity.number, cols, rows };
  },
  render: ({ session, cols, rows }) => `Session ${session} is ${cols}x${rows} now.`,
});
