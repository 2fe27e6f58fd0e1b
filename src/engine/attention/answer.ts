import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from '../call.ts';
import type { Engine } from '../engine.ts';
import { pass } from '../gate.ts';
import type { Terminal } from '../terminal.ts';
import type { Attention } from './attention.ts';
import { attentionOf } from './index.ts';

export interface Waiting extends Attention {
  readonly terminal: string;
  readonly name: string | undefined;
  /** What runs there: the program in the foreground, else what the terminal was opened with. */
  readonly program: string;
}

export interface Answer {
  readonly terminal: string;
  readonly text: string;
  /** The question it answers, as it was shown: another one must not get it. */
  readonly prompt: string;
  readonly secret: boolean;
  /** Press Enter after it. */
  readonly submit: boolean;
}

/** Every terminal that waits for a person. */
export async function listWaiting(engine: Engine, signal: AbortSignal): Promise<Waiting[]> {
  const found = await Promise.all(
    engine.terminals.map(async (terminal) => {
      await terminal.sync(signal);
      const attention = attentionOf(terminal);
      return attention && describe(terminal, attention);
    }),
  );
  return found.filter((one) => one !== undefined);
}

function describe(terminal: Terminal, attention: Attention): Waiting {
  const program = terminal.process?.foreground()?.name ?? terminal.program;
  return { terminal: terminal.id, name: terminal.name, program, ...attention };
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
  const started = engine.clock.monotonic();
  const { text, ...rest } = answer;
  let failure: FairleadError | undefined;
  try {
    // Nobody who decides or records needs the text.
    const input = { ...rest, characters: [...text].length };
    await pass(engine.gate, { operation: 'attention.answer', access: 'control', input, caller }, signal);
    return await type(engine, answer, caller, signal);
  } catch (thrown) {
    failure = thrown instanceof FairleadError ? thrown : new FairleadError('internal', 'The answer was not typed.');
    throw failure;
  } finally {
    engine.audit.add({
      at: new Date(engine.clock.now()).toISOString(),
      operation: 'attention.answer',
      access: 'control',
      caller: caller.name,
      origin: caller.origin,
      terminal: answer.terminal,
      allowed: failure?.code !== 'not_permitted',
      error: failure?.code,
      durationMs: Math.round(engine.clock.monotonic() - started),
      characters: [...text].length,
    });
  }
}

async function type(engine: Engine, answer: Answer, caller: Caller, signal: AbortSignal) {
  const terminal = engine.terminals.find(({ id }) => id === answer.terminal);
  if (!terminal) throw new FairleadError('terminal_not_found', `There is no terminal ${answer.terminal}.`);
  const bytes = Buffer.from(answer.submit ? `${answer.text}\r` : answer.text);
  const secret = answer.secret || terminal.attention.current?.secret === true;
  const turn = { by: caller.name, size: bytes.length, secret };
  await terminal.turn(
    turn,
    async (lane) => {
      // Now, when nobody else can type in between.
      await terminal.sync(lane.signal);
      mustAsk(terminal, answer.prompt);
      await lane.write(bytes);
    },
    signal,
  );
  return { terminal: terminal.id, bytes: bytes.length };
}

function mustAsk(terminal: Terminal, prompt: string): void {
  const attention = attentionOf(terminal);
  if (!attention) throw new FairleadError('not_found', `Terminal ${terminal.id} no longer waits for anybody.`);
  if (attention.prompt === prompt) return;
  throw new FairleadError('conflict', `Terminal ${terminal.id} asks something else by now.`, {
    hint: 'Look at the new question and answer that.',
  });
}
