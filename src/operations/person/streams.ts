import { z } from 'zod';
import { stream } from '../../engine/call/operation.ts';
import { shownStates } from '../../engine/events/status.ts';
import { watchEngine } from '../../engine/events/watch.ts';
import { promptKinds } from '../../engine/person/prompts/prompt.ts';
import { watchPeeks } from '../../engine/reading/peek.ts';
import { ConversationShape, PauseShape } from './agent-shapes.ts';
import { agentLine, pauseLine } from './agents.ts';
import { StateShape, terminalsOf } from './shared.ts';

const Status = z.object({
  terminal: z.string(),
  session: z.number().int(),
  name: z.string().optional(),
  target: z.string(),
  program: z.string(),
  state: StateShape,
  shown: z.enum(shownStates).describe('What a person is shown'),
  since: z.number().describe('When that state began, in ms since 1970'),
  title: z.string(),
  cwd: z.string().optional(),
  alternate: z.boolean().describe('A full-screen program has the screen'),
  block: z
    .object({
      id: z.number().int(),
      command: z.string().optional(),
      exitCode: z.number().int().optional(),
      startedAt: z.number().optional(),
      endedAt: z.number().optional(),
    })
    .optional()
    .describe('The newest command'),
  cols: z.number().int(),
  rows: z.number().int(),
  prompt: z
    .object({
      kind: z.enum(promptKinds),
      needs: z.enum(['person', 'input']),
      prompt: z.string(),
      secret: z.boolean(),
    })
    .optional(),
  keyboard: z
    .object({
      by: z.string(),
      kind: z.enum(['agent', 'person']),
      isTaken: z.boolean().describe('A person has it alone'),
      since: z.number(),
    })
    .optional()
    .describe('Who types'),
  conversation: z.string().optional().describe('The agent that typed last'),
  paused: z.object({ by: z.string(), at: z.number() }).optional().describe('That agent is paused'),
  recordingId: z.string().optional(),
  sizedBy: z.string().optional().describe('Who chose the size, if it was changed'),
  endedAt: z.number().optional().describe('When its program ended, in ms since 1970'),
  keptUntil: z.number().optional().describe('Until when it can still be read'),
  exitCode: z.number().int().nullable().optional(),
});

const Question = z.object({
  id: z.string(),
  kind: z.enum(promptKinds),
  subject: z.string(),
  prompt: z.string(),
  secret: z.boolean(),
  principal: z.string(),
  asker: z.string(),
  since: z.string(),
  expiresAt: z.string(),
});

const Theme = z.object({
  name: z.string(),
  title: z.string(),
  foreground: z.string(),
  background: z.string(),
  cursor: z.string(),
  colors: z.array(z.string()).describe('The sixteen ANSI colours'),
});

const cursor = z.string().describe('Goes into `since` after a lost connection');

const WatchItem = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('all'),
    cursor,
    terminals: z.array(Status),
    questions: z.array(Question),
    theme: Theme,
    conversations: z.array(ConversationShape),
    pause: PauseShape.nullable(),
  }),
  z.object({ kind: z.literal('conversation'), cursor, conversation: ConversationShape }),
  z.object({ kind: z.literal('pause'), cursor, pause: PauseShape.nullable().describe('Everything is paused') }),
  z.object({ kind: z.literal('theme'), cursor, theme: Theme }),
  z.object({
    cursor,
    kind: z.enum(['opened', 'block', 'keyboard', 'state', 'title', 'prompt', 'resized', 'recording', 'bell', 'closed']),
    terminal: Status,
  }),
  z.object({
    kind: z.literal('question'),
    cursor,
    question: Question,
    isOpen: z.boolean(),
    settled: z.enum(['answered', 'declined', 'expired']).optional().describe('How it ended'),
  }),
  z.object({
    kind: z.literal('focus'),
    cursor,
    terminal: Status.optional().describe('Where a caller wants the person to look; without it, at the instance'),
  }),
]);

export const watch = stream({
  title: 'Watch every terminal',
  summary: 'Watch what happens: first the state of every terminal and question, then each change with the new state.',
  access: 'observe',
  input: z.strictObject({
    since: z
      .string()
      .max(64)
      .optional()
      .describe('Cursor of the newest item you have: what changed since, or the whole state if that is too long ago'),
  }),
  item: WatchItem,
  run: ({ input, engine, caller, signal }) => watchEngine(engine, caller, signal, input.since),
  render(item) {
    if (item.kind === 'all') return item.terminals.map((one) => `${place(one)}  ${statusWords(one)}\n`).join('');
    if (item.kind === 'conversation') return `${agentLine(item.conversation)}\n`;
    if (item.kind === 'pause') return item.pause ? `${pauseLine(item.pause)}\n` : 'Everything is resumed.\n';
    if (item.kind === 'theme') return `theme  ${item.theme.name}\n`;
    if (item.kind === 'question') return `${item.question.id}  ${item.isOpen ? item.question.prompt : 'settled'}\n`;
    if (item.kind === 'focus') {
      return `${item.terminal ? place(item.terminal) : 'this instance'}  focus: an agent asks you to look here\n`;
    }
    return `${place(item.terminal)}  ${item.kind}: ${statusWords(item.terminal)}\n`;
  },
});

const place = ({ session, terminal }: z.output<typeof Status>): string => `${session} (${terminal})`;

const statusWords = ({ state, title, prompt, cols, rows }: z.output<typeof Status>): string =>
  [state, title, `${cols}x${rows}`, ...(prompt ? [prompt.prompt] : [])].join(', ');

export const peeks = stream({
  title: 'Watch small pictures of terminals',
  summary: 'Watch the last rows of several terminals as small pictures made of text, each again when it changes.',
  access: 'observe',
  input: z.strictObject({
    terminals: z.array(z.string().max(64)).max(200).describe('Ids of the terminals; unknown ones are left out'),
    rows: z.number().int().min(1).max(50).default(8).describe('Rows of each'),
    cols: z.number().int().min(1).max(200).default(56).describe('Columns of each'),
  }),
  item: z.object({
    terminal: z.string(),
    mode: z.enum(['tail', 'grid']).describe('The last rows, or the whole screen of a full-screen program'),
    rows: z.array(z.array(z.tuple([z.string(), z.number().int()]))).describe('Runs of text with their look'),
    cols: z.number().int(),
    cursor: z.object({ x: z.number().int(), y: z.number().int() }).optional(),
  }),
  async *run({ input, engine, caller, signal }) {
    const wanted = new Set(input.terminals);
    const shown = terminalsOf(engine, caller).filter(({ id }) => wanted.has(id));
    for await (const peek of watchPeeks(shown, input, engine.clock, signal)) {
      yield { ...peek, rows: peek.rows.map((row) => row.map(([text, look]): [string, number] => [text, look])) };
    }
  },
  render: ({ terminal, rows }) => `${terminal}\n${rows.map((row) => row.map(([text]) => text).join('')).join('\n')}\n`,
});
