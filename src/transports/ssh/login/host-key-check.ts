import type { FairleadError } from '../../../contract/errors.ts';
import { remoteError } from '../../../contract/remote-errors.ts';
import type { HostKeyState } from '../sessions/connect.ts';
import { fingerprint, type HostKeyPolicy, type KnownHost } from './known-hosts.ts';

export interface HostKeyVerdict {
  readonly fingerprint: string;
  readonly state: HostKeyState;
  readonly warning?: string | undefined;
}

/** What the policy says to a key (docs/requirements/remote.md 9.3). Throws HOST_KEY_UNKNOWN or HOST_KEY_MISMATCH. */
export function judgeHostKey(key: Buffer, host: KnownHost, policy: HostKeyPolicy): HostKeyVerdict {
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
  if (policy === 'strict') throw refuse('HOST_KEY_UNKNOWN', `The key of ${host.name} is not on record`, print);
  if (policy === 'accept-new') return { fingerprint: print, state: 'new' };
  return {
    fingerprint: print,
    state: 'unchecked',
    warning: `the key of ${host.name} is not on record; host keys are not checked (policy off)`,
  };
}

/** The name of a host led to one machine before, and to this one now. */
export const another = (name: string, { fingerprint: print }: HostKeyVerdict): FairleadError =>
  refuse('HOST_KEY_MISMATCH', `${name} is another machine than before: its key is not the same`, print);

const refuse = (code: 'HOST_KEY_UNKNOWN' | 'HOST_KEY_MISMATCH', what: string, print: string): FairleadError =>
  remoteError(code, `${what}.`, { context: print, data: { fingerprint: print } });
