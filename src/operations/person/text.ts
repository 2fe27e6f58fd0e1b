import { z } from 'zod';
import { operation } from '../../engine/call/operation.ts';
import { readTerminal } from '../../engine/reading/read.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { aboutSession, Session, terminalCalled } from './shared.ts';

/** Of one command, and of all in one answer. */
const mostBytes = 64 << 10;
const mostAtOnce = 256 << 10;

const Part = z.object({
  block: z.number().int().optional().describe('Number of the command; absent for what stands outside of commands'),
  command: z.string().optional(),
  exitCode: z.number().int().optional(),
  running: z.boolean().describe('The command still runs'),
  text: z.string().describe('What it printed, without anything invisible'),
  omittedLines: z.number().int().describe('Lines in its middle that were left out'),
});
type Part = z.output<typeof Part>;

export const text = operation({
  title: 'Read a terminal as text',
  summary:
    'Read the last commands of a terminal with their output as plain text, for reading aloud and copying. Without command marks it is the screen and what scrolled out.',
  access: 'observe',
  input: z.strictObject({
    session: Session,
    block: z.number().int().min(1).optional().describe('Only this command'),
    last: z.number().int().min(1).max(100).default(20).describe('So many of the newest commands'),
  }),
  output: z.object({
    session: z.number().int(),
    marked: z.boolean().describe('Its shell marks commands'),
    parts: z.array(Part),
    earlier: z.boolean().describe('There are commands before these'),
  }),
  positional: ['session', 'block'],
  about: aboutSession,
  async run({ input: { session, block, last }, engine, caller, signal, note }) {
    const terminal = terminalCalled(session, engine, caller);
    const { number } = terminal.identity;
    note({ terminal: String(number) });
    const { list, marked } = terminal.blocks;
    const wanted = block === undefined ? list.slice(-last).map(({ id }) => id) : [block];
    if (wanted.length === 0) {
      const part = await partOf(terminal, undefined, signal);
      return { session: number, marked, parts: [part], earlier: false };
    }
    const parts: Part[] = [];
    let bytes = 0;
    // The newest first: they are what must not be left out.
    for (const id of wanted.toReversed()) {
      const part = await partOf(terminal, id, signal);
      bytes += part.text.length;
      if (parts.length > 0 && bytes > mostAtOnce) break;
      parts.unshift(part);
    }
    const earlier = block === undefined && parts.length < list.length;
    return { session: number, marked: true, parts, earlier };
  },
  render: ({ parts }) => parts.map(words).join('\n\n'),
});

async function partOf(terminal: Terminal, block: number | undefined, signal: AbortSignal): Promise<Part> {
  const view = block === undefined ? 'output' : 'command';
  const request = { view, block, maxBytes: mostBytes, immediate: true, reader: 'person.text' } as const;
  const answer = await readTerminal(terminal, request, signal);
  const { command, exitCode, running = false } = answer.command ?? {};
  return {
    ...(block === undefined ? {} : { block }),
    ...(command === undefined ? {} : { command }),
    ...(exitCode === undefined ? {} : { exitCode }),
    running,
    text: answer.text,
    omittedLines: answer.clipped?.omittedLines ?? 0,
  };
}

function words({ command, exitCode, running, text: printed }: Part): string {
  if (command === undefined) return printed;
  const end = running ? ' (runs)' : exitCode === undefined || exitCode === 0 ? '' : ` (exit ${exitCode})`;
  return `$ ${command}${end}\n${printed}`;
}
