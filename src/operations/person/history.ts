import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import type { HistoryEvent } from '../../engine/terminal/organs/history.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

const n = z.number().describe('Higher for each event');
const off = z.number().int().describe('It came before the byte at this offset');
const at = z.number().describe('In ms since 1970');
const row = z.number().int().optional().describe('Absolute number of its row, while that can be read');

const typedFields = {
  off,
  at,
  by: z.string().describe('Who typed'),
  kind: z.enum(['agent', 'person']),
  bytes: z.number().int().optional().describe('How many so far; of a secret not even that'),
  secret: z.boolean(),
};

const blockFields = {
  id: z.number().int(),
  command: z.string().optional(),
  exitCode: z.number().int().optional(),
  startedAt: z.number().optional(),
  endedAt: z.number().optional(),
  isOver: z.boolean(),
};

/** Something that is ordered with the output of a terminal. */
export const FollowedEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('typed'), n, ...typedFields }),
  z.object({ event: z.literal('prompt'), n, off, at }).describe('The shell has drawn its prompt'),
  z.object({ event: z.literal('block'), n, off, at, ...blockFields }).describe('A command has begun or ended'),
  z.object({
    event: z.literal('size'),
    n,
    off,
    at,
    cols: z.number().int(),
    rows: z.number().int(),
    by: z.string().optional(),
  }),
  z
    .object({
      event: z.literal('lease'),
      n,
      off,
      at,
      epoch: z.number().int(),
      by: z.string().optional(),
      kind: z.enum(['agent', 'person']).optional(),
      isTaken: z.boolean().optional(),
    })
    .describe('Another has the keyboard; without `by` it is free'),
]);

/** Longer commands are cut: a page has a line for each. */
const longestCommand = 200;

export function followedEvent(event: HistoryEvent, terminal: Terminal): z.output<typeof FollowedEvent> {
  if (event.event !== 'block') return event;
  const { block, ...rest } = event;
  return { ...rest, ...blockFacts(block, terminal) };
}

function blockFacts(block: Terminal['blocks']['list'][number], { commands }: Terminal) {
  const { id, exitCode, startedAt, endedAt, isOver } = block;
  const command = block.command ?? (isOver ? undefined : commands.running);
  return {
    id,
    isOver,
    ...(command === undefined ? {} : { command: cut(command) }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
  };
}

const cut = (text: string): string => (text.length > longestCommand ? `${text.slice(0, longestCommand)}…` : text);

export const history = operation({
  title: 'Who typed what, and where',
  summary:
    'List who typed into a terminal and when, and its commands, with the rows where they stand. Never what was typed; of a secret not even how long it was.',
  access: 'observe',
  input: z.strictObject({ session: Session }),
  output: z.object({
    session: z.number().int(),
    epoch: z.number().int().describe('Row numbers are comparable within one'),
    typed: z
      .array(z.object({ event: z.literal('typed'), n, row, ...typedFields }))
      .describe('Oldest first; keys that go on with a line are part of it'),
    blocks: z.array(z.object({ row: row.describe('Of its prompt'), ...blockFields })),
    prompt: row.describe('Of the prompt that waits for a command'),
  }),
  positional: ['session'],
  about: aboutSession,
  async run({ input, engine, caller, signal, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    await terminal.sync(signal);
    const { rows, epoch } = await terminal.feed.older.rowsOf(signal);
    const rowAt = (offset: number | undefined): { row?: number } => {
      const found = offset === undefined ? undefined : rows.get(offset);
      return found === undefined ? {} : { row: found };
    };
    const { blocks, usage, identity } = terminal;
    const prompt = rowAt(blocks.promptFrom).row;
    return {
      session: identity.number,
      epoch,
      typed: usage.history.typed.map((typed) => ({ ...typed, ...rowAt(typed.off) })),
      blocks: blocks.list.map((block) => ({
        ...blockFacts(block, terminal),
        ...rowAt(block.promptFrom ?? block.commandFrom ?? block.outputFrom),
      })),
      ...(prompt === undefined ? {} : { prompt }),
    };
  },
  render: ({ session, typed }) =>
    typed.length === 0
      ? `Session ${session}: nothing was typed.`
      : typed
          .map(({ at: when, by, kind, bytes, row: line }) => {
            const what = bytes === undefined ? 'a secret' : `${bytes} bytes`;
            return `${new Date(when).toISOString()}  ${kind} ${by}: ${what}${line === undefined ? '' : `, row ${line}`}`;
          })
          .join('\n'),
});

const mostRows = 2000;

export const scrollback = operation({
  title: 'Read older rows of a terminal',
  summary: 'Read rows above the screen of a terminal with their colours, newest page first, as far as they are kept.',
  access: 'observe',
  input: z.strictObject({
    session: Session,
    before: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Absolute number of a row: those before it; the screen by default'),
    rows: z.number().int().min(1).max(mostRows).default(500).describe('How many'),
  }),
  output: z.object({
    session: z.number().int(),
    epoch: z.number().int().describe('Row numbers are comparable within one'),
    from: z.number().int().describe('Absolute number of the first row here'),
    oldest: z.number().int().describe('Of the first row that can be read'),
    rows: z.array(z.string()).describe('Escape text: colours begin and end in each row'),
    wrapped: z.array(z.number().int()).describe('Which of them continue the row above, counted from 0'),
  }),
  positional: ['session', 'before'],
  about: aboutSession,
  async run({ input, engine, caller, signal, note }) {
    const terminal = terminalCalled(input.session, engine, caller);
    note({ terminal: String(terminal.identity.number) });
    await terminal.sync(signal);
    const before = input.before ?? terminal.screen.viewportTop;
    const { rows, first, epoch } = await terminal.feed.older.painted(before, input.rows, signal);
    return {
      session: terminal.identity.number,
      epoch,
      from: rows[0]?.row ?? before,
      oldest: first,
      rows: rows.map(({ text }) => text),
      wrapped: rows.flatMap(({ wrapped }, index) => (wrapped ? [index] : [])),
    };
  },
  render: ({ rows }) => `${rows.join('\n')}\n`,
});
