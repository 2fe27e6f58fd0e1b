import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import type { Block } from '../../engine/terminal/blocks.ts';
import type { TypedEvent } from '../../engine/terminal/organs/history.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

const most = 1000;
const mostTyped = 200;

const Sender = z.object({ by: z.string(), kind: z.enum(['agent', 'person']) });

export const blocks = operation({
  title: 'List the commands of a terminal',
  summary:
    'List the newest commands that ran in a terminal, with exit codes, times and who typed them, as far as its shell marks them. Otherwise list who typed when.',
  access: 'observe',
  input: z.strictObject({
    session: Session,
    from: z.number().int().min(1).optional().describe('Only commands with this number or a higher one'),
  }),
  output: z.object({
    marked: z.boolean().describe('Its shell marks commands; otherwise the list is empty'),
    blocks: z.array(
      z.object({
        id: z.number().int(),
        command: z.string().optional(),
        cwd: z.string().optional(),
        exitCode: z.number().int().optional(),
        startedAt: z.number().optional().describe('In ms since 1970'),
        endedAt: z.number().optional(),
        isOver: z.boolean(),
        typed: Sender.optional().describe('Who typed it'),
        secret: Sender.optional().describe('Who answered it with a secret'),
      }),
    ),
    typed: z
      .array(Sender.extend({ at: z.number(), bytes: z.number().int().optional(), secret: z.boolean() }))
      .optional()
      .describe('Without marks: who typed when, never what'),
  }),
  positional: ['session'],
  about: aboutSession,
  async run({ input, engine, caller }) {
    const { blocks: all, commands, usage } = terminalCalled(input.session, engine, caller);
    const wanted = input.from === undefined ? all.list : all.list.filter(({ id }) => id >= Number(input.from));
    const { typed } = usage.history;
    const marked = all.list.length > 0 || all.marked;
    return {
      marked,
      blocks: wanted.slice(-most).map((block) => {
        const { id, cwd, exitCode, startedAt, endedAt, isOver } = block;
        return {
          id,
          ...named(block.command ?? (isOver ? undefined : commands.running)),
          ...(cwd === undefined ? {} : { cwd }),
          ...(exitCode === undefined ? {} : { exitCode }),
          ...(startedAt === undefined ? {} : { startedAt }),
          ...(endedAt === undefined ? {} : { endedAt }),
          isOver,
          ...senders(block, typed),
        };
      }),
      ...(marked
        ? {}
        : {
            typed: typed.slice(-mostTyped).map(({ by, kind, at, bytes, secret }) => ({
              by,
              kind,
              at,
              ...(bytes === undefined ? {} : { bytes }),
              secret,
            })),
          }),
    };
  },
  render: ({ blocks: all, typed = [] }) =>
    all.length > 0
      ? all.map(({ command = '', exitCode }) => `${exitCode ?? '-'}  ${command}`).join('\n')
      : ['No command marks here.', ...typed.map(({ by, at }) => `${new Date(at).toISOString()}  ${by}`)].join('\n'),
});

const named = (command: string | undefined) => (command === undefined ? {} : { command });

/** Who typed its line, and who a secret while it ran. A key after its start, such as Ctrl+C, may stand at the same offset. */
function senders(block: Block, typed: readonly TypedEvent[]) {
  const {
    promptFrom = 0,
    outputFrom,
    outputTo = Number.POSITIVE_INFINITY,
    startedAt = Number.POSITIVE_INFINITY,
  } = block;
  const line = typed.findLast(
    ({ off, at, secret }) => !secret && off >= promptFrom && off <= outputFrom && at <= startedAt,
  );
  const answer = typed.find(({ off, secret }) => secret && off >= outputFrom && off <= outputTo);
  return {
    ...(line && { typed: { by: line.by, kind: line.kind } }),
    ...(answer && { secret: { by: answer.by, kind: answer.kind } }),
  };
}
