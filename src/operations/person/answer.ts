import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from '../../engine/call/call.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation } from '../../engine/call/operation.ts';
import { answerPrompt } from '../../engine/person/answer.ts';
import { isQuestionId, notOpen } from '../../engine/person/questions/person-questions.ts';
import type { OpenQuestion } from '../../engine/person/questions/question.ts';
import { terminalWithId } from './shared.ts';

const item = z.string().min(1).max(64).describe('Terminal or question that waits');

export const answer = operation({
  title: 'Answer what waits',
  summary: 'Answer a program that waits in a terminal, or a question of Fairlead. No model and no recording sees it.',
  access: 'control',
  input: z.strictObject({
    item,
    text: z.string().max(65_536).optional().describe('The answer'),
    prompt: z.string().max(16_384).describe('The question as it was shown: another one does not get the answer'),
    secret: z.boolean().default(false).describe('Mask the answer in output, whatever the program asks for'),
    submit: z.boolean().default(true).describe('Press Enter after it'),
  }),
  output: z.object({
    terminal: z.string().optional(),
    bytes: z.number().int().optional(),
    question: z.string().optional(),
    subject: z.string().optional(),
  }),
  positional: ['item', 'prompt'],
  secretField: 'text',
  about: aboutItem,
  async run({ input, body, engine, caller }) {
    const { item: id, text: given = '', ...rest } = input;
    const text = body ?? given;
    if (isQuestionId(id)) {
      const question = questionFor(id, engine, caller);
      if (question.prompt !== rest.prompt) throw new FairleadError('conflict', `${id} asks something else.`);
      engine.questions.answer(
        id,
        typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.length).toString(),
      );
      return { question: id, subject: question.subject };
    }
    const terminal = terminalWithId(id, engine, caller);
    // A person who hangs up has answered all the same.
    return { terminal: id, bytes: await answerPrompt(terminal, { ...rest, text }, caller.name, engine.closing) };
  },
  render: ({ terminal, subject }) =>
    terminal === undefined
      ? `Answered for ${subject}. If the agent is not waiting for it, let it try again.`
      : `Typed into terminal ${terminal}.`,
});

export const decline = operation({
  title: 'Decline a question',
  summary: 'Decline a question of Fairlead: the call that asked learns that there is no answer.',
  access: 'control',
  openWorld: false,
  input: z.strictObject({ item: item.describe('Question that waits') }),
  output: z.object({ question: z.string(), subject: z.string() }),
  positional: ['item'],
  about: aboutItem,
  async run({ input, engine, caller }) {
    const { id, subject } = questionFor(input.item, engine, caller);
    engine.questions.decline(id);
    return { question: id, subject };
  },
  render: ({ subject }) => `Declined for ${subject}.`,
});

/** Questions have no terminal. */
function aboutItem({ item: id }: { readonly item: string }): { readonly terminal?: string } {
  return isQuestionId(id) ? {} : { terminal: id };
}

/** One of another principal is not there. */
function questionFor(id: string, engine: Engine, { principal }: Caller): OpenQuestion {
  const question = engine.questions.get(id);
  if (question?.principal === principal) return question;
  throw notOpen();
}
