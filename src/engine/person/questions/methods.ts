import { z } from 'zod';
import { FairleadError } from '../../../contract/errors.ts';
import { type Method, person } from '../prompts/methods.ts';
import { accounted, type Caller } from '../../call/call.ts';
import type { Engine } from '../../engine.ts';
import type { OpenQuestion } from './question.ts';

const Given = z.object({ id: z.string().min(1).max(64), text: z.string().max(65_536) });

/** Delivers the person's answer to a question. Gate and audit see only its length. */
export async function answerQuestion(
  engine: Engine,
  { id, text }: Readonly<z.output<typeof Given>>,
  caller: Caller,
): Promise<OpenQuestion> {
  const characters = [...text].length;
  const what = { operation: 'asking.answer', access: 'control', terminal: undefined, characters } as const;
  return await accounted(what, { engine, caller, signal: engine.closing }, async (admit) => {
    await admit({ id, characters });
    return engine.questions.answer(id, text);
  });
}

export async function declineQuestion(engine: Engine, id: string, caller: Caller): Promise<OpenQuestion> {
  const what = { operation: 'asking.decline', access: 'control', terminal: undefined } as const;
  return await accounted(what, { engine, caller, signal: engine.closing }, async (admit) => {
    await admit({ id });
    return engine.questions.decline(id);
  });
}

/** For the person at this machine, by the local socket. Not part of any book: no model is offered them. */
export function askingMethods(engine: Engine): Readonly<Record<string, Method>> {
  return {
    'asking.list': () => Promise.resolve(engine.questions.list()),
    'asking.answer': async (params) => {
      const parsed = Given.safeParse(params);
      // The problem is named without the input: it may hold the secret.
      if (!parsed.success) throw new FairleadError('invalid_input', 'The answer is not well formed.');
      return await answerQuestion(engine, parsed.data, person);
    },
  };
}
