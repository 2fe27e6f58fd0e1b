import { kindOfAsk, programOf, secretNames, userAsked } from './ask-kinds.ts';
import { hostOf, userOf } from './place.ts';
import type { WaitingItem } from './shapes.ts';
import { shown } from './visible.ts';

/** What the terminal of the card is called and where it runs, as far as the page knows. */
export interface AskPlace {
  readonly machine: string;
}

/** A part of a heading; what names a thing is strong. */
export interface HeadingPart {
  readonly text: string;
  readonly strong?: true;
}

const strong = (text: string): HeadingPart => ({ text, strong: true });
const plain = (text: string): HeadingPart => ({ text });

export function headingOf(ask: WaitingItem, { machine }: AskPlace): HeadingPart[] {
  const kind = kindOfAsk(ask);
  const program = strong(programOf(ask));
  const what = secretNames[ask.kind] ?? 'secret';
  if (kind === 'secret') {
    const user = userAsked(ask.prompt);
    return [
      program,
      plain(' on '),
      strong(machine),
      plain(user === undefined ? ` asks for a ${what}` : ` asks for ${user}’s ${what}`),
    ];
  }
  if (kind === 'call_secret' || kind === 'call_question') {
    const user = userOf(ask.subject ?? '');
    const wanted = kind === 'call_secret' ? `a ${what}` : 'an answer';
    return [
      strong(hostOf(ask.subject ?? 'A host')),
      plain(` wants ${wanted}${user === undefined ? '' : ' for '}`),
      ...(user === undefined ? [] : [strong(user)]),
    ];
  }
  if (kind === 'new_host_key') return [strong(hostAsked(ask)), plain(' shows a key nobody has seen')];
  if (kind === 'changed_host_key') return [strong(hostAsked(ask)), plain(' has a different key than before')];
  if (kind === 'touch') return [program, plain(' on '), strong(machine), plain(' waits for a touch')];
  return [program, plain(' asks on '), strong(machine)];
}

export const headingText = (parts: readonly HeadingPart[]): string => parts.map(({ text }) => text).join('');

/** The host whose key is shown: `The authenticity of host 'db-1 (10.0.7.3)' can't be established.` */
function hostAsked({ prompt, subject }: WaitingItem): string {
  const host =
    /\bhost '([^'\s(]{1,200})/i.exec(prompt)?.[1] ?? /\bkey for '([^'\s(]{1,200})/i.exec(prompt)?.[1] ?? subject;
  return host === undefined ? 'The host' : hostOf(host);
}

export interface HostKey {
  /** In groups of four, so that two can be compared. */
  readonly fingerprint?: string;
  readonly address?: string;
}

export function hostKeyIn(prompt: string): HostKey {
  const fingerprint = /\bSHA256:([A-Za-z0-9+/=]{20,60})/.exec(prompt)?.[1];
  const address = /\bhost '[^']*\(([^)]{1,100})\)'/i.exec(prompt)?.[1];
  return {
    ...(fingerprint !== undefined && { fingerprint: (fingerprint.match(/.{1,4}/g) ?? []).join(' ') }),
    ...(address !== undefined && { address: shown(address, 64) }),
  };
}

/** For a notification: neither a command nor a secret, and no word of a program. */
export function notificationText(ask: WaitingItem): string {
  const kind = kindOfAsk(ask);
  if (kind === 'new_host_key' || kind === 'changed_host_key') return 'A host shows its key.';
  if (kind === 'touch') return 'A program waits for a touch.';
  if (ask.question !== undefined) return ask.secret ? 'A host wants a password.' : 'A host wants an answer.';
  return ask.secret ? 'A program asks for a password.' : 'A program asks a question.';
}
