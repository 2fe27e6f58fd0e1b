import { z } from 'zod';
import { parseKey } from '../../engine/input/keys.ts';
import { operation } from '../../engine/call/operation.ts';
import { SessionId } from './shared.ts';
import { pressKey, typeText } from '../../engine/input/typing.ts';

const maxTextBytes = 1 << 20;

const Restarted = z.boolean().describe("The default session's shell had exited; a new one was started");

/** Side effects of typing that the caller should know, such as a new shell. */
const news = (restarted: boolean): string => (restarted ? ' (its shell had exited and was started again)' : '');

export const type = operation({
  mcpName: 'type',
  title: 'Type text',
  summary:
    'Type text into the terminal. Enter is separate: sendKey Enter, or pass submit. ' +
    'In bash and zsh "!" inside double quotes starts history expansion: use single quotes.',
  access: 'control',
  keyed: true,
  input: z.object({
    text: z
      .string()
      .refine((text) => text.isWellFormed(), 'contains half of a surrogate pair; send complete characters')
      .refine((text) => Buffer.byteLength(text) <= maxTextBytes, {
        message: `is over ${maxTextBytes} bytes; send it in pieces, or write a file and read that in the terminal`,
      }),
    paste: z.boolean().default(false).describe('Bracketed paste, if the program asked for it'),
    submit: z.boolean().default(false).describe('Press Enter afterwards'),
    sessionId: SessionId,
  }),
  output: z.object({
    characters: z.number().int().describe('Unicode characters typed'),
    bytes: z.number().int(),
    sessionId: z.string(),
    submitted: z.boolean(),
    bracketed: z.boolean().describe('Sent as a bracketed paste'),
    restarted: Restarted,
  }),
  positional: ['text'],
  async run({ input, engine, caller, signal }) {
    const { terminal, restarted } = await engine.sessions.forInput(input.sessionId, caller, signal);
    const sent = await typeText(
      terminal,
      input.text,
      { by: caller.name, paste: input.paste, submit: input.submit },
      signal,
    );
    return {
      characters: [...input.text].length,
      bytes: sent.bytes,
      sessionId: terminal.id,
      submitted: input.submit,
      bracketed: sent.bracketed,
      restarted,
    };
  },
  render: ({ characters, restarted }) => `Typed ${characters} character(s) to terminal${news(restarted)}`,
});

export const press = operation({
  mcpName: 'sendKey',
  title: 'Press a key',
  summary:
    'Press a key: Enter, Tab, Escape, Backspace, Delete, ArrowUp/Down/Left/Right, Home, End, PageUp, PageDown, Insert, F1-F12, ' +
    'Ctrl+A to Ctrl+Z, Ctrl+Space, Shift+Tab, Alt+x, Ctrl/Alt/Shift with arrows. Ctrl+C interrupts.',
  access: 'control',
  keyed: true,
  input: z.object({
    key: z.string().min(1).max(64).describe('Key name'),
    repeat: z.number().int().min(1).max(64).default(1),
    sessionId: SessionId,
  }),
  output: z.object({
    key: z.string(),
    repeat: z.number().int(),
    bytes: z.number().int(),
    sessionId: z.string(),
    restarted: Restarted,
  }),
  positional: ['key'],
  async run({ input, engine, caller, signal }) {
    const key = parseKey(input.key);
    const { terminal, restarted } = await engine.sessions.forInput(input.sessionId, caller, signal);
    const bytes = await pressKey(terminal, key, { by: caller.name, repeat: input.repeat }, signal);
    return { key: input.key, repeat: input.repeat, bytes, sessionId: terminal.id, restarted };
  },
  render: ({ key, repeat, restarted }) => `Sent key: ${key}${repeat > 1 ? ` (${repeat} times)` : ''}${news(restarted)}`,
});
