import type { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { HostKeyState } from '../sessions/connect.ts';
import { fingerprint, type HostKeyPolicy, type KnownHost } from './known-hosts.ts';
import { keyType } from './known-hosts-line.ts';

export interface HostKeyVerdict {
  readonly fingerprint: string;
  readonly state: HostKeyState;
  readonly warning?: string | undefined;
}

/** A key that no file has, where the person decides. */
export interface HostKeyQuestion {
  /** As known_hosts names the host. */
  readonly name: string;
  readonly type: string;
  readonly fingerprint: string;
}

/** Whether the person trusts the key. */
export type AskTrust = (question: HostKeyQuestion, signal: AbortSignal) => Promise<boolean>;

/** The policy is to ask the person. The handshake cannot wait for that: it is done again after a yes. */
export class UntrustedKey extends Error {
  readonly question: HostKeyQuestion;
  constructor(question: HostKeyQuestion) {
    super(`The key of ${question.name} is not on record.`);
    this.question = question;
  }
}

/**
 * What the policy says to a key (docs/requirements/remote.md 9.3). Throws HOST_KEY_UNKNOWN or HOST_KEY_MISMATCH, or UntrustedKey.
 * `trusted`: the fingerprint that the person has just accepted.
 */
export function judgeHostKey(key: Buffer, host: KnownHost, policy: HostKeyPolicy, trusted?: string): HostKeyVerdict {
  const print = fingerprint(key);
  const state = host.check(key);
  if (state === 'revoked') throw refuse('HOST_KEY_MISMATCH', `The key of ${host.name} has been revoked`, print);
  if (state === 'known') return { fingerprint: print, state };
  if (state === 'changed') {
    if (policy !== 'off') {
      throw refuse('HOST_KEY_MISMATCH', `The key of ${host.name} is not the one on record`, print);
    }
    return {
      fingerprint: print,
      state,
      warning: `the key of ${host.name} is not the one on record; host keys are not checked (policy off)`,
    };
  }
  // A machine that answers to the name with another key than the one the person accepted is a stranger.
  if (policy === 'strict' || (trusted !== undefined && print !== trusted)) throw unknownKey(host.name, print);
  if (policy === 'ask' && trusted === undefined) {
    throw new UntrustedKey({ name: host.name, type: keyType(key) ?? 'unknown', fingerprint: print });
  }
  if (policy !== 'off') return { fingerprint: print, state: 'new' };
  return {
    fingerprint: print,
    state: 'unchecked',
    warning: `the key of ${host.name} is not on record; host keys are not checked (policy off)`,
  };
}

export const unknownKey = (name: string, print: string): FairleadError =>
  refuse('HOST_KEY_UNKNOWN', `The key of ${name} is not on record`, print);

/** The name of a host led to one machine before, and to this one now. */
export const another = (name: string, { fingerprint: print }: HostKeyVerdict): FairleadError =>
  refuse('HOST_KEY_MISMATCH', `${name} is another machine than before: its key is not the same`, print);

const refuse = (code: 'HOST_KEY_UNKNOWN' | 'HOST_KEY_MISMATCH', what: string, print: string): FairleadError =>
  remoteError(code, `${what}.`, { context: print, data: { fingerprint: print } });
