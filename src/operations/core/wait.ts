import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { operation } from '../../engine/call/operation.ts';
import { decodeCursor } from '../../engine/reading/cursor.ts';
import { fenced } from '../../engine/reading/fence.ts';
import { readTerminal } from '../../engine/reading/read.ts';
import { type Condition, awaitCondition } from '../../engine/waiting/await-condition.ts';
import { plainText } from '../../lib/plain-text.ts';
import { askFacts, Asks, askWords } from './asks.ts';
import { FlagsShape, flagWords, Next, nextSteps, nextWords, readerName, readRest, TerminalInput } from './shared.ts';

export const wait = operation({
  title: 'Wait for something',
  summary:
    'Wait, without polling, until one of the given conditions holds or a program asks something; answers with the screen. Counts from the newest input, or ' +
    'from a cursor. Use it for servers, logs and menus.',
  access: 'observe',
  input: z.strictObject({
    terminal: TerminalInput,
    text: z.string().min(1).max(1000).optional(),
    regex: z.string().min(1).max(1000).optional().describe('RE2; ^ and $ match at lines'),
    gone: z.string().min(1).max(1000).optional().describe('Text that leaves the screen'),
    quietMs: z.number().int().min(10).max(60_000).optional().describe('No output for this long'),
    prompt: z.boolean().default(false).describe('The shell is back'),
    exit: z.boolean().default(false).describe('The program of the terminal ends'),
    cursor: z.string().max(100).optional().describe('From an earlier answer: count from there'),
    timeoutMs: z.number().int().min(0).max(600_000).default(30_000),
  }),
  output: z.object({
    terminal: z.string(),
    hit: z
      .enum(['text', 'regex', 'gone', 'quiet', 'prompt', 'exit', 'person', 'input'])
      .nullable()
      .describe('null: timed out'),
    line: z.string().optional().describe('The line that matched'),
    elapsedMs: z.number().int(),
    state: z.string(),
    cursor: z.string(),
    screen: z.string(),
    altScreen: z.boolean(),
    flags: FlagsShape.optional(),
    ...Asks,
    rest: z.string().optional().describe('Pass to terminal_read for the rest of a clipped screen'),
    next: Next,
  }),
  async run({ input, engine, caller, signal, progress }) {
    const wanted = conditionsOf(input);
    if (wanted.length === 0) {
      throw new FairleadError('invalid_input', 'text: say what to wait for', {
        hint: 'One or more of text, regex, gone, quietMs, prompt, exit.',
      });
    }
    // A prompt ends every wait: nothing else comes before its answer.
    const conditions: Condition[] = [...wanted, { type: 'person' }, { type: 'input' }];
    const terminal = await engine.sessions.forReading(input.terminal, caller, signal);
    const since = input.cursor === undefined ? undefined : decodeCursor(terminal, input.cursor).offset;
    progress(`Waiting up to ${input.timeoutMs} ms`);
    const { hit, match, elapsedMs, state } = await awaitCondition(
      terminal,
      { conditions, timeoutMs: input.timeoutMs, since },
      signal,
    );
    const { text, cursor, altScreen, flags, rest } = await readTerminal(
      terminal,
      { view: 'screen', immediate: true, reader: readerName(caller) },
      signal,
    );
    return {
      terminal: terminal.id,
      hit: hit === undefined ? null : (conditions[hit]?.type as Hit),
      ...(match === undefined ? {} : { line: plainText(match.line.slice(0, 1000), { separator: ' ' }).text }),
      elapsedMs,
      state,
      cursor,
      screen: text,
      altScreen,
      ...(Object.keys(flags).length > 0 ? { flags } : {}),
      ...askFacts(terminal.person.prompts.current, terminal, engine),
      ...(rest === undefined ? {} : { rest }),
      ...nextSteps(hit === undefined && goOn(terminal.id, cursor), readRest(terminal.id, rest)),
    };
  },
  render({ terminal, hit, line, elapsedMs, state, cursor, screen, altScreen, person, input, flags, next }) {
    const what = hit === null ? `nothing of it within ${elapsedMs} ms` : `${hit} after ${elapsedMs} ms`;
    const facts = [
      `${what}; terminal ${terminal} ${state}${altScreen ? ', full-screen program' : ''}; cursor=${cursor}`,
      ...askWords({ person, input }),
      ...flagWords(flags),
      ...nextWords(next),
    ];
    // A matched line that has scrolled away is shown above the screen, inside the fence, since the program printed it.
    const shown = line === undefined || screen.includes(line) ? screen : `${line}\n[…]\n${screen}`;
    return fenced(facts, shown);
  },
});

const goOn = (terminal: string, cursor: string): string =>
  `To keep waiting: terminal_wait with terminal=${terminal} cursor=${cursor} and the same conditions`;

type Hit = 'text' | 'regex' | 'gone' | 'quiet' | 'prompt' | 'exit' | 'person' | 'input';

interface WaitedFor {
  readonly text?: string | undefined;
  readonly regex?: string | undefined;
  readonly gone?: string | undefined;
  readonly quietMs?: number | undefined;
  readonly prompt: boolean;
  readonly exit: boolean;
}

function conditionsOf({ text, regex, gone, quietMs, prompt, exit }: WaitedFor): Condition[] {
  return [
    ...(text === undefined ? [] : [{ type: 'text', text } as const]),
    ...(regex === undefined ? [] : [{ type: 'regex', pattern: regex } as const]),
    ...(gone === undefined ? [] : [{ type: 'gone', text: gone } as const]),
    ...(prompt ? [{ type: 'prompt' } as const] : []),
    ...(exit ? [{ type: 'exit' } as const] : []),
    ...(quietMs === undefined ? [] : [{ type: 'quiet', ms: quietMs } as const]),
  ];
}
