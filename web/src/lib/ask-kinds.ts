import { hostOf } from './place.ts';
import type { WaitingItem } from './shapes.ts';
import { shown } from './visible.ts';

/** What a card is about; each kind has its own words and buttons. */
export type AskKind =
  | 'secret'
  | 'call_secret'
  | 'question'
  | 'call_question'
  | 'touch'
  | 'new_host_key'
  | 'changed_host_key';

export function kindOfAsk({ kind, secret, question, prompt }: WaitingItem): AskKind {
  if (kind === 'fingerprint') return changedKey.test(prompt) ? 'changed_host_key' : 'new_host_key';
  if (kind === 'touch') return 'touch';
  if (question !== undefined) return secret ? 'call_secret' : 'call_question';
  return secret ? 'secret' : 'question';
}

/** OpenSSH asks so when a host has another key than the one that is known for its name or its address. */
const changedKey = /\bdiffers from the key\b|host key .{0,60}\bhas changed\b|host identification has changed/is;

export const secretNames: Readonly<Record<string, string>> = {
  password: 'password',
  passphrase: 'passphrase',
  one_time_code: 'code',
};

export const programOf = ({ program, subject }: WaitingItem): string =>
  program === undefined
    ? hostOf(subject ?? 'A host')
    : shown(program.split('/').at(-1)?.replace(/^-/, '') || 'A program', 40);

/** Whose secret it is, where the prompt says so: `[sudo] password for deploy:`, `deploy@db-1's password:`. */
export function userAsked(prompt: string): string | undefined {
  const line = prompt.split('\n').at(-1) ?? '';
  const user =
    /\b(?:password|passcode|pin|code|passphrase) for (?:user )?['"]?([^\s'":/@]{1,40})['"]?\s*:\s*$/i.exec(line)?.[1] ??
    /^\(?([^\s@()]{1,40})@[^\s()]+?(?:'s|\)) password/i.exec(line)?.[1];
  return user === undefined ? undefined : shown(user, 40);
}

/** What an answer that is the name of a key types; undefined: the answer is the text itself. */
const keyBytes: Readonly<Record<string, string>> = {
  Space: ' ',
  Enter: '\r',
  Tab: '\t',
  Escape: '\x1b',
  ArrowUp: '\x1b[A',
  ArrowDown: '\x1b[B',
  ArrowRight: '\x1b[C',
  ArrowLeft: '\x1b[D',
};

/** The answers a card offers as buttons; `Enter` ends those that are texts. */
export interface AnswerKey {
  readonly word: string;
  readonly text: string;
  readonly submit: boolean;
}

export const answersOf = ({ fits }: WaitingItem): AnswerKey[] =>
  (fits?.answers ?? []).slice(0, 12).map((word) => {
    const isKey = fits?.enter === false;
    return { word: shown(word, 24), text: isKey ? (keyBytes[word] ?? word) : word, submit: !isKey };
  });

/** What a terminal that needs a person wants, in the foot of its tile. */
export function wantedWords(ask: WaitingItem): string {
  const kind = kindOfAsk(ask);
  if (kind === 'touch') return 'Touch the key';
  if (kind === 'new_host_key' || kind === 'changed_host_key') return 'Check a host key';
  if (kind === 'secret' || kind === 'call_secret') {
    const user = userAsked(ask.prompt);
    const what = secretNames[ask.kind] ?? 'secret';
    const name = `${what[0]?.toUpperCase()}${what.slice(1)}`;
    return user === undefined ? name : `${name} for ${user}`;
  }
  if (ask.kind === 'any_key' || ask.kind === 'pager') return 'Press a key';
  const words = answersOf(ask).map(({ word }) => word);
  return words.length === 2 ? `Answer ${words.join(' or ')}` : 'Answer a question';
}
