import { FairleadError } from '../../contract/errors.ts';
import { remoteError } from '../../contract/remote-errors.ts';
import { Hiccup } from './login/login.ts';
import { said } from './said.ts';

/** Every second of an attempt is used up. */
export class OutOfTime extends Error {}

/** How one attempt to connect failed, and whether another may help (docs/requirements/remote.md 9.2). */
export type Failure =
  | { readonly final: true; readonly error: unknown }
  | { readonly final: false; readonly error: unknown; readonly timeout: boolean; readonly reason: string };

/** DNS answers that mean "no such host" rather than "unknown". */
const unknownHost: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA']);

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no answer in time',
  EAI_AGAIN: 'its name could not be looked up just now',
};

export function failureOf(error: unknown, place: string): Failure {
  if (error instanceof FairleadError) return { final: true, error };
  if (error instanceof OutOfTime) return { final: false, error, timeout: true, reason: 'no answer in time' };
  if (error instanceof Hiccup) return { final: false, error, timeout: false, reason: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return { final: true, error };
  if (unknownHost.has(code)) {
    const reason = `Cannot connect to ${place}: no host has this name.`;
    return { final: true, error: remoteError('CONNECTION_FAILED', reason, { cause: error }) };
  }
  return { final: false, error, timeout: code === 'ETIMEDOUT', reason: words[code] ?? said(message) };
}

export function exhausted(reason: string, place: string, attempts: number, timeouts: number, cause: unknown) {
  const code = timeouts === attempts ? 'CONNECTION_TIMEOUT' : 'CONNECTION_FAILED';
  const tries = attempts === 1 ? 'one attempt' : `${attempts} attempts`;
  return remoteError(code, `Cannot connect to ${place}: ${reason} (${tries}).`, { data: { attempts }, cause });
}

const maxDelayMs = 10_000;

/** Doubling, at most ten seconds, a fifth either way so that many clients do not come back at once. */
export const backOff = (firstMs: number, retries: number, chance: number = Math.random()): number =>
  Math.min(maxDelayMs, firstMs * 2 ** retries) * (0.8 + chance * 0.4);
