import { z } from 'zod';
import { promptKinds } from '../../engine/person/prompts/prompt.ts';
import { waitingPrograms } from '../../engine/person/answer.ts';
import type { Caller } from '../../engine/call/call.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation } from '../../engine/call/operation.ts';
import type { OpenQuestion } from '../../engine/person/questions/question.ts';
import { terminalsOf } from './shared.ts';

const Fits = z.object({ answers: z.array(z.string()), enter: z.boolean(), default: z.string().optional() });

const Item = z.object({
  terminal: z.string().optional().describe('The terminal whose program asks'),
  question: z.string().optional().describe('The question that Fairlead asks itself'),
  name: z.string().optional(),
  program: z.string().optional(),
  kind: z.enum(promptKinds),
  needs: z.enum(['person', 'input']).optional().describe('input: an agent can answer the program, too'),
  subject: z.string().optional().describe('What the question is about'),
  prompt: z.string(),
  secret: z.boolean(),
  hint: z.string().optional(),
  fits: Fits.optional(),
  principal: z.string().optional(),
  asker: z.string().optional().describe('The agent for which Fairlead asks'),
  since: z.string().optional().describe('When it was asked, where that is known'),
  expiresAt: z.string().optional(),
});
/** A program in a terminal, or Fairlead itself, waits for an answer. */
export type WaitingItem = z.output<typeof Item>;

export const waiting = operation({
  title: 'List what waits',
  summary: 'List the programs that wait for an answer, and the questions of Fairlead itself.',
  http: [{ method: 'GET', path: '/api/approvals' }],
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({ waiting: z.array(Item) }),
  async run({ engine, caller, signal }) {
    const programs = await waitingPrograms(terminalsOf(engine, caller), signal);
    return { waiting: [...questionsOf(engine, caller).map(fromQuestion), ...programs.map(fromProgram)] };
  },
  render: ({ waiting: all }) => (all.length === 0 ? 'Nothing waits for you.' : all.map(line).join('\n')),
});

export const questionsOf = (engine: Engine, { principal }: Caller): OpenQuestion[] =>
  engine.questions.list().filter((question) => question.principal === principal);

function fromQuestion({ id, ...question }: OpenQuestion): WaitingItem {
  return { question: id, ...question };
}

function fromProgram({ name, fits, ...program }: Awaited<ReturnType<typeof waitingPrograms>>[number]): WaitingItem {
  return {
    ...program,
    ...(name === undefined ? {} : { name }),
    ...(fits === undefined ? {} : { fits: { ...fits, answers: [...fits.answers] } }),
  };
}

/** What it is called where it is answered. */
export const itemId = ({ terminal, question }: WaitingItem): string => question ?? terminal ?? '';

/** Who asks for what, without the question itself. */
export function itemLabel({ subject, kind, asker, program = '', name }: WaitingItem): string[] {
  const words = kind.replaceAll('_', ' ');
  if (subject !== undefined) return [subject, words, `for ${asker}`];
  return [program, ...(name === undefined ? [] : [`“${name}”`]), words];
}

const line = (item: WaitingItem): string => `${itemId(item)}  ${itemLabel(item).join(', ')}: ${item.prompt}`;
