import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from '../call.ts';
import type { Engine } from '../engine.ts';
import { answerWaiting, listWaiting } from './answer.ts';

const AnswerInput = z.object({
  terminal: z.string().min(1).max(64),
  text: z.string().max(65_536),
  prompt: z.string().max(16_384),
  secret: z.boolean(),
  submit: z.boolean(),
});

export type Method = (params: unknown, signal: AbortSignal) => Promise<unknown>;

/** For the person at this machine, by the local socket. Not part of any book: no model is offered them. */
export function attentionMethods(engine: Engine): Readonly<Record<string, Method>> {
  const person: Caller = { name: 'person', origin: 'cli', may: () => true };
  return {
    'attention.list': (_, signal) => listWaiting(engine, signal),
    'attention.answer': (params) => {
      const parsed = AnswerInput.safeParse(params);
      // The problem is named without the input: it may hold the secret.
      if (!parsed.success) throw new FairleadError('invalid_input', 'The answer is not well formed.');
      // A person who hangs up has answered all the same.
      return answerWaiting(engine, parsed.data, person, engine.closing);
    },
  };
}
