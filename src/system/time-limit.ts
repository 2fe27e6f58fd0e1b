/**
 * A signal that stops with another one, or when the time is up. Not `AbortSignal.any` of an `AbortSignal.timeout`: Node 20 keeps neither
 * alive for the other, and after a garbage collection the time is never up. The event loop keeps a timer.
 */
export function timeLimit(signal: AbortSignal, ms: number): Disposable & { readonly signal: AbortSignal } {
  const own = new AbortController();
  const timeout = (): void => own.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(timeout, ms).unref();
  const follow = (): void => own.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow);
  return {
    signal: own.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal.removeEventListener('abort', follow);
    },
  };
}
