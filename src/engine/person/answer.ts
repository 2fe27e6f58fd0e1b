import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { wipeable } from '../../system/wipeable.ts';
import { accounted, type Caller } from '../call/call.ts';
import type { Engine } from '../engine.ts';
import type { KeyboardLane } from '../input/keyboard.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { ProgramPrompt } from './prompts/prompt.ts';
import { promptOf } from './prompts/index.ts';

export interface Waiting extends ProgramPrompt {
  readonly terminal: string;
  readonly name: string | undefined;
  /** What runs there: the program in the foreground, else what the terminal was opened with. */
  readonly program: string;
}

export const Answer = z.object({
  terminal: z.string().min(1).max(64),
  /** Left out when the answer comes as bytes. */
  text: z.string().max(65_536).optional(),
  /** The question it answers, as it was shown: another one must not get it. */
  prompt: z.string().max(16_384),
  secret: z.boolean(),
  /** Press Enter after it. */
  submit: z.boolean(),
});
export type Answer = Omit<Readonly<z.output<typeof Answer>>, 'text'> & { readonly text: string | Uint8Array };

const mostBytes = 4 * 65_536;

/** Every terminal in which a program waits for an answer. */
export async function listWaiting(engine: Engine, signal: AbortSignal): Promise<Waiting[]> {
  const found = await Promise.all(
    engine.terminals.map(async (terminal) => {
      const attention = await terminal.sync(signal).then(
        () => promptOf(terminal),
        // What it asked when it could last be looked at.
        () => terminal.person.prompts.current,
      );
      return attention && describe(terminal, attention);
    }),
  );
  signal.throwIfAborted();
  return found.filter((one) => one !== undefined);
}

function describe(terminal: Terminal, attention: ProgramPrompt): Waiting {
  const program = terminal.process?.foreground()?.name ?? terminal.identity.program;
  return { terminal: terminal.id, name: terminal.identity.name, program, ...attention };
}

/**
 * Types a person's answer. Refused unless the terminal still asks what the person saw: a password that comes too late
 * would be echoed by a shell, and kept in its history.
 */
export async function answerWaiting(
  engine: Engine,
  answer: Answer,
  caller: Caller,
  signal: AbortSignal,
): Promise<{ readonly terminal: string; readonly bytes: number }> {
  const { text, ...rest } = answer;
  // Gate and audit do not need the text.
  const characters = charactersOf(text);
  if (text.length > mostBytes) throw new FairleadError('too_large', `An answer may have at most ${mostBytes} bytes.`);
  const what = { operation: 'attention.answer', access: 'control', terminal: answer.terminal, characters } as const;
  return await accounted(what, { engine, caller, signal }, async (admit) => {
    await admit({ ...rest, characters });
    return await type(engine, answer, caller, signal);
  });
}

async function type(engine: Engine, answer: Answer, caller: Caller, signal: AbortSignal) {
  const terminal = engine.terminals.find(({ id }) => id === answer.terminal);
  if (!terminal) throw new FairleadError('terminal_not_found', `There is no terminal ${answer.terminal}.`);
  const bytes = typedBytes(answer);
  const secret = answer.secret || terminal.person.prompts.current?.secret === true;
  const turn = { by: caller.name, size: bytes.length, secret, as: 'person' } as const;
  let begun = false;
  const inTurn = async (lane: KeyboardLane): Promise<void> => {
    begun = true;
    try {
      // Within the turn, so that no other sender types in between.
      await terminal.sync(lane.signal);
      mustAsk(terminal, answer.prompt);
      await lane.write(bytes);
    } finally {
      // Not before the write is over: a turn may end while it is under way.
      bytes.fill(0);
    }
  };
  try {
    await terminal.input.turn(turn, inTurn, signal);
  } finally {
    if (!begun) bytes.fill(0);
  }
  return { terminal: terminal.id, bytes: bytes.length };
}

function charactersOf(text: string | Uint8Array): number {
  if (typeof text === 'string') return [...text].length;
  let characters = 0;
  for (const byte of text) if ((byte & 0xc0) !== 0x80) characters += 1;
  return characters;
}

/** In memory of its own, which can be overwritten. */
function typedBytes({ text, submit }: Answer): Buffer {
  const size = Buffer.byteLength(text);
  const bytes = wipeable(submit ? size + 1 : size);
  if (submit) bytes[size] = 13;
  if (typeof text === 'string') bytes.write(text);
  else bytes.set(text);
  return bytes;
}

function mustAsk(terminal: Terminal, prompt: string): void {
  const attention = promptOf(terminal);
  if (!attention) throw new FairleadError('not_found', `Terminal ${terminal.id} no longer waits for an answer.`);
  if (attention.prompt === prompt) return;
  throw new FairleadError('conflict', `Terminal ${terminal.id} asks something else by now.`, {
    hint: 'Look at the new question and answer that.',
  });
}
