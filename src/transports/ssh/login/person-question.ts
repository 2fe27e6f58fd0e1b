import type { PersonQuestion } from '../../../engine/person/questions/question.ts';
import { secretKind } from '../../../engine/person/prompts/known-prompts.ts';
import { hostAndPort } from '../config/address.ts';
import type { PasswordQuestion } from './auth.ts';

/** What the person is asked when a server wants a secret: which one, by its words, and for whom. */
export function personQuestion({ user, host, port, prompt, kind }: PasswordQuestion): PersonQuestion {
  const subject = `${user}@${hostAndPort(host, port)}`;
  if (kind === 'password') return { kind: 'password', subject, prompt, secret: true };
  // A question of the server's own does not say who asks.
  return { kind: secretKind(prompt), subject, prompt: `${subject}: ${prompt}`, secret: true };
}
