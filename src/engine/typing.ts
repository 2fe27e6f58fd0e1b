import type { TypedAs } from './keyboard.ts';
import { encodeKey, type Key } from './keys.ts';
import { withoutPasteEnds } from './submit/body.ts';
import { drawsItsInput, submit } from './submit/submit.ts';
import type { Terminal } from './terminal.ts';

/** Longer text is sent with its Enter at once. */
const maxCarefulText = 64 << 10;
const interruptByte = 3;

export interface TypeOptions {
  readonly by: string;
  /** As one paste, where the program marks pastes. */
  readonly paste: boolean;
  /** With Enter after it. */
  readonly submit: boolean;
  readonly as?: TypedAs;
}

export interface Typed {
  readonly bytes: number;
  readonly bracketed: boolean;
}

/** Types text as a person would. */
export async function typeText(
  terminal: Terminal,
  text: string,
  options: TypeOptions,
  signal: AbortSignal,
): Promise<Typed> {
  if (options.paste) await terminal.sync(signal);
  const bracketed = options.paste && terminal.screen.modes.bracketedPaste;
  if (options.submit && drawsItsInput(terminal) && text.length <= maxCarefulText) {
    const mode = options.paste ? 'paste' : 'enter';
    const { bytes, wrapped } = await submit(terminal, { text, mode, by: options.by }, signal);
    return { bytes, bracketed: wrapped };
  }
  const body = bracketed ? `\x1b[200~${withoutPasteEnds(text)}\x1b[201~` : text;
  const bytes = Buffer.from(options.submit ? `${body}\r` : body);
  await terminal.send(bytes, options.by, signal, options.as);
  return { bytes: bytes.length, bracketed };
}

export interface PressOptions {
  readonly by: string;
  readonly repeat: number;
}

/** Presses a key, in the mode the program has set; how many bytes that was. Ctrl-C overtakes text that waits. */
export async function pressKey(
  terminal: Terminal,
  key: Key,
  { by, repeat }: PressOptions,
  signal: AbortSignal,
): Promise<number> {
  if (key.usesModes) await terminal.sync(signal);
  const bytes = encodeKey(key, terminal.screen.modes, repeat);
  const interrupts = bytes.every((byte) => byte === interruptByte);
  await (interrupts ? terminal.interrupt(bytes, by, signal) : terminal.send(bytes, by, signal));
  return bytes.length;
}
