import { FairleadError } from '../../contract/errors.ts';
import { wipeable } from '../../system/wipeable.ts';
import type { KeyboardLane } from '../input/keyboard.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { ProgramPrompt } from './prompts/prompt.ts';
import { promptOf } from './prompts/index.ts';

/** A program that waits for an answer, and the terminal it runs in. */
export interface WaitingProgram extends ProgramPrompt {
  readonly terminal: string;
  readonly name: string | undefined;
  /** The program in the foreground, else what the terminal was opened with. */
  readonly program: string;
}

export interface PromptAnswer {
  readonly text: string | Uint8Array;
  /** The question it answers, as it was shown: another one must not get it. */
  readonly prompt: string;
  readonly secret: boolean;
  /** Press Enter after it. */
  readonly submit: boolean;
}

const mostBytes = 4 * 65_536;

/** Every one of these terminals in which a program waits for an answer. */
export async function waitingPrograms(terminals: readonly Terminal[], signal: AbortSignal): Promise<WaitingProgram[]> {
  const found = await Promise.all(
    terminals.map(async (terminal) => {
      const prompt = await terminal.sync(signal).then(
        () => promptOf(terminal),
        // What it asked when it could last be looked at.
        () => terminal.person.prompts.current,
      );
      return prompt && { ...describe(terminal), ...prompt };
    }),
  );
  signal.throwIfAborted();
  return found.filter((one) => one !== undefined);
}

function describe(terminal: Terminal): Pick<WaitingProgram, 'terminal' | 'name' | 'program'> {
  const program = terminal.process?.foreground()?.name ?? terminal.identity.program;
  return { terminal: terminal.id, name: terminal.identity.name, program };
}

/**
 * Types a person's answer. Refused unless the terminal still asks what the person saw: a password that comes too late
 * would be echoed by a shell, and kept in its history.
 */
export async function answerPrompt(
  terminal: Terminal,
  answer: PromptAnswer,
  by: string,
  signal: AbortSignal,
): Promise<number> {
  if (answer.text.length > mostBytes) {
    throw new FairleadError('too_large', `An answer may have at most ${mostBytes} bytes.`);
  }
  const bytes = typedBytes(answer);
  const secret = answer.secret || terminal.person.prompts.current?.secret === true;
  const turn = { by, size: bytes.length, secret, as: 'person' } as const;
  let begun = false;
  const inTurn = async (lane: KeyboardLane): Promise<void> => {
    begun = true;
    try {
      // Only now: no other sender can type in between.
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
  return bytes.length;
}

/** In memory of its own, which can be overwritten. */
function typedBytes({ text, submit }: PromptAnswer): Buffer {
  const size = Buffer.byteLength(text);
  const bytes = wipeable(submit ? size + 1 : size);
  if (submit) bytes[size] = 13;
  if (typeof text === 'string') bytes.write(text);
  else bytes.set(text);
  return bytes;
}

function mustAsk(terminal: Terminal, prompt: string): void {
  const asked = promptOf(terminal);
  if (!asked) throw new FairleadError('not_found', `Terminal ${terminal.id} no longer waits for an answer.`);
  if (asked.prompt === prompt) return;
  throw new FairleadError('conflict', `Terminal ${terminal.id} is now asking something else.`, {
    hint: 'Look at the new question and answer that.',
  });
}
