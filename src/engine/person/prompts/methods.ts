import { FairleadError } from '../../../contract/errors.ts';
import type { Caller } from '../../call/call.ts';
import type { Engine } from '../../engine.ts';
import { Answer, answerWaiting, listWaiting } from '../answer.ts';

/** `body`: the answer as bytes, which the caller overwrites afterwards. */
export type Method = (params: unknown, signal: AbortSignal, body: Buffer | undefined) => Promise<unknown>;

/** The caller that can open the local socket. */
export const person: Caller = { name: 'person', principal: 'person', origin: 'cli', peer: 'socket', may: () => true };

/** For the person at this machine, by the local socket. Not part of any book: no model is offered them. */
export function attentionMethods(engine: Engine): Readonly<Record<string, Method>> {
  return {
    'attention.list': (_, signal) => listWaiting(engine, signal),
    'attention.answer': (params, _, body) => {
      const parsed = Answer.safeParse(params);
      // The problem is named without the input: it may hold the secret.
      if (!parsed.success) throw new FairleadError('invalid_input', 'The answer is not well formed.');
      // A person who hangs up has answered all the same.
      const { text = '', ...rest } = parsed.data;
      return answerWaiting(engine, { ...rest, text: body ?? text }, person, engine.closing);
    },
  };
}
