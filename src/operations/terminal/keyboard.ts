import { z } from 'zod';
import { parseKey } from '../../engine/keys.ts';
import { operation } from '../../engine/operation.ts';
import { SessionId } from './shared.ts';

const maxTextBytes = 1 << 20;

export const type = operation({
  mcpName: 'type',
  title: 'Type text',
  summary:
    'Type text into the terminal, as if at its keyboard. Enter is separate: call sendKey with "Enter" to run a command, or pass ' +
    'submit. In bash and zsh a "!" inside double quotes starts history expansion: use single quotes.',
  access: 'control',
  input: z.object({
    text: z
      .string()
      .refine((text) => text.isWellFormed(), 'contains half of a surrogate pair; send complete characters')
      .refine((text) => Buffer.byteLength(text) <= maxTextBytes, {
        message: `is over ${maxTextBytes} bytes; send it in pieces, or write a file and read that in the terminal`,
      })
      .describe('The text to type into the terminal'),
    paste: z.boolean().default(false).describe('Send as a bracketed paste when the program asked for that'),
    submit: z.boolean().default(false).describe('Press Enter afterwards'),
    sessionId: SessionId,
  }),
  output: z.object({
    characters: z.number().int().describe('Unicode characters typed'),
    bytes: z.number().int(),
    sessionId: z.string(),
    submitted: z.boolean(),
    bracketed: z.boolean().describe('Sent as a bracketed paste'),
    restarted: z.boolean().describe('The shell of the default session had exited and was started again'),
  }),
  positional: ['text'],
  async run({ input, engine, caller, signal }) {
    const { terminal, restarted } = await engine.sessions.forInput(input.sessionId, signal);
    const sent = await terminal.type(input.text, { by: caller.name, paste: input.paste, submit: input.submit }, signal);
    return {
      characters: [...input.text].length,
      bytes: sent.bytes,
      sessionId: terminal.id,
      submitted: input.submit,
      bracketed: sent.bracketed,
      restarted,
    };
  },
  render: ({ characters, restarted }) =>
    `Typed ${characters} character(s) to terminal${restarted ? ' (its shell had exited and was started again)' : ''}`,
});

export const press = operation({
  mcpName: 'sendKey',
  title: 'Press a key',
  summary:
    'Press a special key or combination: Enter, Tab, Escape, Backspace, Delete, arrows (ArrowUp), Home, End, PageUp, PageDown, ' +
    'Insert, F1-F12, Ctrl+A to Ctrl+Z, Ctrl+[, Ctrl+\\, Ctrl+Space, Shift+Tab, Alt+x, and Ctrl/Alt/Shift with arrows. ' +
    'Ctrl+C overtakes text that is still being typed.',
  access: 'control',
  input: z.object({
    key: z.string().min(1).max(64).describe('The key name to send'),
    repeat: z.number().int().min(1).max(64).default(1).describe('How often to press it'),
    sessionId: SessionId,
  }),
  output: z.object({
    key: z.string(),
    repeat: z.number().int(),
    bytes: z.number().int(),
    sessionId: z.string(),
    restarted: z.boolean(),
  }),
  positional: ['key'],
  async run({ input, engine, caller, signal }) {
    const key = parseKey(input.key);
    const { terminal, restarted } = await engine.sessions.forInput(input.sessionId, signal);
    const bytes = await terminal.press(key, { by: caller.name, repeat: input.repeat }, signal);
    return { key: input.key, repeat: input.repeat, bytes, sessionId: terminal.id, restarted };
  },
  render: ({ key, repeat }) => `Sent key: ${key}${repeat > 1 ? ` (${repeat} times)` : ''}`,
});
