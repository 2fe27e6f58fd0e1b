import { z } from 'zod';
import type { ProgramPrompt, Fits } from '../../engine/person/prompts/prompt.ts';
import type { Engine } from '../../engine/engine.ts';
import { plainText } from '../../lib/plain-text.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';

/** A program's prompt in an answer: in `person` if only a person can answer it, else in `input`. */

const Person = z.object({ kind: z.string(), prompt: z.string(), secret: z.boolean(), hint: z.string() });

const Input = z.object({
  kind: z.string(),
  prompt: z.string(),
  answers: z.array(z.string()).describe('Accepted answers; empty: any text'),
  enter: z.boolean().describe('false: send a key, without Enter'),
  default: z.string().optional().describe('The answer that Enter alone gives'),
  hint: z.string(),
});

export const Asks = { person: Person.optional(), input: Input.optional() };

interface AskFacts {
  readonly person?: z.output<typeof Person> | undefined;
  readonly input?: z.output<typeof Input> | undefined;
}

export function askFacts(attention: ProgramPrompt | undefined, terminal: Terminal, engine: Engine): AskFacts {
  if (!attention) return {};
  const { kind, prompt, secret, fits = { answers: [], enter: true } } = attention;
  if (attention.needs === 'person') {
    return { person: { kind, prompt, secret, hint: personHint(kind, `${engine.answerCommand} ${terminal.id}`) } };
  }
  return { input: { kind, prompt, ...fits, answers: [...fits.answers], hint: inputHint(kind, fits) } };
}

function personHint(kind: ProgramPrompt['kind'], command: string): string {
  if (kind === 'touch') return 'Ask the person to touch the device. There is nothing to type.';
  if (kind === 'fingerprint') return `Ask the person to compare the fingerprint and to run: ${command}`;
  return `Never send it yourself. Ask the person to run: ${command}`;
}

function inputHint(kind: ProgramPrompt['kind'], { answers, enter, default: preset }: Fits): string {
  if (kind === 'pager') return 'terminal_send keys ["q"] quits, ["Space"] shows the next page.';
  if (!enter) return `terminal_send keys: ${answers.join(', ')}.`;
  const what = answers.length === 0 ? 'your answer' : answers.map((one) => JSON.stringify(one)).join(' or ');
  const alone = preset === undefined ? '' : `; keys ["Enter"] alone means ${JSON.stringify(preset)}`;
  const whose = kind === 'yes_no' ? ' If it is not yours to decide, ask the person.' : '';
  return `terminal_send text ${what}${alone}.${whose}`;
}

/** The prompt, quoted: the program chose its words. */
export function askWords({ person, input }: AskFacts): string[] {
  if (person) return [`needs_person (${person.kind}): ${quoted(person.prompt)} ${person.hint}`];
  return input ? [`needs_input (${input.kind}): ${quoted(input.prompt)} ${input.hint}`] : [];
}

const quoted = (prompt: string): string => JSON.stringify(plainText(prompt, { separator: ' ' }).text);
