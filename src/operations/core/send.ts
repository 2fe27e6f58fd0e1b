import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { parseKey } from '../../engine/input/keys.ts';
import { operation } from '../../engine/call/operation.ts';
import { cursorNow } from '../../engine/reading/cursor-now.ts';
import { submitModes } from '../../engine/input/paste-body.ts';
import { submit } from '../../engine/input/submit.ts';
import { Next, nextWords, readerName, TerminalInput } from './shared.ts';
import { Unfinished, unfinishedFacts, unfinishedIn } from './unfinished.ts';
import { pressKey } from '../../engine/input/typing.ts';

export const send = operation({
  title: 'Send input',
  summary:
    'Send text and keys to a program, for questions, menus and full-screen programs. For a shell command use terminal_run. ' +
    'Never send passwords: a person types them.',
  access: 'control',
  keyed: true,
  input: z.strictObject({
    terminal: TerminalInput,
    text: z
      .string()
      .refine((text) => text.isWellFormed(), 'contains half of a surrogate pair; send complete characters')
      .optional(),
    mode: z.enum(submitModes).default('enter').describe('raw: without Enter; paste: for text of several lines'),
    keys: z
      .array(z.string().min(1).max(64))
      .max(100)
      .optional()
      .describe('Keys after the text: Enter, Escape, ArrowDown, Ctrl+C, Ctrl+D, F10, y'),
  }),
  output: z.object({
    terminal: z.string(),
    bytes: z.number().int(),
    wrapped: z.boolean().describe('Sent as a bracketed paste'),
    submitted: z.union([z.boolean(), z.literal('unknown')]).describe('Whether the program reacted to Enter'),
    cursor: z.string().describe('Pass to terminal_read or terminal_wait to get what follows'),
    restarted: z.boolean().describe('The previous shell had exited; this went to a new one'),
    unfinished: Unfinished.optional(),
    next: Next,
  }),
  positional: ['text'],
  async run({ input, engine, caller, signal }) {
    if (input.text === undefined && input.keys === undefined) {
      throw new FairleadError('invalid_input', 'text: give text, keys, or both');
    }
    // Check all parts before sending any.
    const keys = (input.keys ?? []).map(parseKey);
    const { terminal, restarted } = await engine.sessions.forInput(input.terminal, caller, signal);
    const cursor = await cursorNow(terminal, readerName(caller), signal);
    let sent = { bytes: 0, wrapped: false, submitted: 'unknown' as boolean | 'unknown' };
    if (input.text !== undefined)
      sent = await submit(terminal, { text: input.text, mode: input.mode, by: caller.name }, signal);
    let { bytes } = sent;
    for (const key of keys) bytes += await pressKey(terminal, key, { by: caller.name, repeat: 1 }, signal);
    const from = `terminal=${terminal.id} cursor=${cursor}`;
    const next = `What follows: terminal_wait ${from} with a condition, or terminal_read view=new ${from}`;
    const { wrapped, submitted } = sent;
    return { terminal: terminal.id, bytes, wrapped, submitted, cursor, restarted, ...unfinishedIn(terminal), next };
  },
  render: ({ terminal, bytes, wrapped, submitted, restarted, unfinished, next }) =>
    [
      `Sent ${bytes} bytes to terminal ${terminal}${wrapped ? ' as a bracketed paste' : ''}.${reaction(submitted)}`,
      ...(restarted ? ['The shell before was gone: this went to a new shell.'] : []),
      ...unfinishedFacts(unfinished),
      ...nextWords(next),
    ].join('\n'),
});

function reaction(submitted: boolean | 'unknown'): string {
  if (submitted === 'unknown') return '';
  return submitted ? ' The program reacted to Enter.' : ' The program did not react to Enter.';
}
