import type { KeyboardLane } from './keyboard.ts';
import { encodeKey, type Key } from './keys.ts';
import { withoutPasteEnds } from './paste-body.ts';
import { deliver, drawsItsInput, submit } from './submit.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Longer text is sent with its Enter at once. */
const maxCarefulText = 64 << 10;
const interruptByte = 3;
/** What a key may take on its way, in bytes. */
const longestKey = 16;

interface TypeOptions {
  readonly by: string;
  /** As one paste, where the program marks pastes. */
  readonly paste: boolean;
  /** With Enter after it. */
  readonly submit: boolean;
  /** A command was judged as one. */
  readonly as?: 'keys' | 'command';
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
  const { by, as } = options;
  if (options.paste) return await paste(terminal, text, options, signal);
  if (options.submit && text.length <= maxCarefulText) {
    const { bytes } = await submit(terminal, { text, mode: 'enter', by, as }, signal);
    return { bytes, bracketed: false };
  }
  const bytes = Buffer.from(options.submit ? `${text}\r` : text);
  await terminal.input.send(bytes, by, signal, as);
  return { bytes: bytes.length, bracketed: false };
}

/** Bracketed paste mode is known once all output is parsed; no other input overtakes it meanwhile. */
async function paste(terminal: Terminal, text: string, options: TypeOptions, signal: AbortSignal): Promise<Typed> {
  const { by } = options;
  const inTurn = async (lane: KeyboardLane): Promise<Typed> => {
    await terminal.sync(lane.signal);
    lane.signal.throwIfAborted();
    if (options.submit && text.length <= maxCarefulText && drawsItsInput(terminal)) {
      // As keys: until its Enter it is an open line, even if policy judged it before.
      const { bytes, wrapped } = await deliver(terminal, { text, mode: 'paste', by }, lane);
      return { bytes, bracketed: wrapped };
    }
    const bracketed = terminal.screen.modes.bracketedPaste;
    const body = bracketed ? `\x1b[200~${withoutPasteEnds(text)}\x1b[201~` : text;
    const bytes = Buffer.from(options.submit ? `${body}\r` : body);
    await lane.write(bytes, options.as);
    return { bytes: bytes.length, bracketed };
  };
  return await terminal.input.turn({ by, size: Buffer.byteLength(text) + (options.submit ? 1 : 0) }, inTurn, signal);
}

interface PressOptions {
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
  const encode = (): Uint8Array => encodeKey(key, terminal.screen.modes, repeat);
  if (key.usesModes) {
    // Its modes are known once everything printed is parsed; what is typed after it stays behind it.
    const inTurn = async (lane: KeyboardLane): Promise<number> => {
      await terminal.sync(lane.signal);
      lane.signal.throwIfAborted();
      const bytes = encode();
      await lane.write(bytes);
      return bytes.length;
    };
    return await terminal.input.turn({ by, size: repeat * longestKey }, inTurn, signal);
  }
  const bytes = encode();
  const interrupts = bytes.every((byte) => byte === interruptByte);
  await (interrupts ? terminal.input.interrupt(bytes, by, signal) : terminal.input.send(bytes, by, signal));
  return bytes.length;
}
