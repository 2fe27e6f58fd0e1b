import { anyOf } from './any-of.ts';

/**
 * A signal that stops with another one, or when the time is up. Not `AbortSignal.any` of an `AbortSignal.timeout`: Node 20 keeps neither
 * alive for the other, and after a garbage collection the time is never up.
 */
export const timeLimit = (signal: AbortSignal, ms: number): Disposable & { readonly signal: AbortSignal } =>
  anyOf(signal, AbortSignal.timeout(ms));
