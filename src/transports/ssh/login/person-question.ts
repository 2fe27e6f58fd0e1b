import type { PersonQuestion } from '../../../engine/person/questions/question.ts';
import { secretKind } from '../../../engine/person/prompts/known-prompts.ts';
import { hostAndPort } from '../config/address.ts';
import type { PasswordQuestion } from './auth.ts';
import type { HostKeyQuestion } from './host-key-check.ts';

/** What the person is asked when a server wants a secret: which one, by its words, and for whom. */
export function personQuestion({ user, host, port, prompt, kind }: PasswordQuestion): PersonQuestion {
  const subject = `${user}@${hostAndPort(host, port)}`;
  if (kind === 'password') return { kind: 'password', subject, prompt, secret: true };
  // A question of the server's own does not say who asks.
  return { kind: secretKind(prompt), subject, prompt: `${subject}: ${prompt}`, secret: true };
}

/** In the words of OpenSSH, which people and doors to them know. */
export const hostKeyQuestion = ({ name, type, fingerprint }: HostKeyQuestion): PersonQuestion => ({
  kind: 'fingerprint',
  subject: name,
  prompt: `The authenticity of host '${name}' can't be established. ${keyName(type)} key fingerprint is ${fingerprint}. Trust it (yes/no)?`,
  secret: false,
});

/** `ssh-ed25519` → `ED25519` */
const keyName = (type: string): string =>
  type
    .replace(/^(?:ssh|ecdsa)-/, '')
    .replace(/^sha2-.*/, 'ECDSA')
    .toUpperCase();

/** Anything but a clear yes is no. */
export const isYes = (answer: string | undefined): boolean => /^\s*y(?:es)?\s*$/i.test(answer ?? '');
