import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

const most = 1000;

export const blocks = operation({
  title: 'List the commands of a terminal',
  summary:
    'List the newest commands that ran in a terminal, with exit codes and times, as far as its shell marks them.',
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
      }),
    ),
  }),
  positional: ['session'],
  about: aboutSession,
  async run({ input, engine, caller }) {
    const { blocks: all, commands } = terminalCalled(input.session, engine, caller);
    const wanted = input.from === undefined ? all.list : all.list.filter(({ id }) => id >= Number(input.from));
    return {
      marked: all.list.length > 0 || all.marked,
      blocks: wanted.slice(-most).map(({ id, cwd, exitCode, startedAt, endedAt, isOver, ...block }) => ({
        id,
        ...named(block.command ?? (isOver ? undefined : commands.running)),
        ...(cwd === undefined ? {} : { cwd }),
        ...(exitCode === undefined ? {} : { exitCode }),
        ...(startedAt === undefined ? {} : { startedAt }),
        ...(endedAt === undefined ? {} : { endedAt }),
        isOver,
      })),
    };
  },
  render: ({ blocks: all }) =>
    all.length === 0
      ? 'No command marks here.'
      : all.map(({ command = '', exitCode }) => `${exitCode ?? '-'}  ${command}`).join('\n'),
});

const named = (command: string | undefined) => (command === undefined ? {} : { command });
