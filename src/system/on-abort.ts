const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal is aborted, unless disposed before; at once when it was. However many wait for one signal,
 * it has one listener: Node warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, run: () => void): Disposable {
  if (signal.aborted) {
    run();
    return { [Symbol.dispose]() {} };
  }
  let all = waiting.get(signal);
  if (all === undefined) {
    const started = new Set<() => void>();
    const fire = (): void => {
      waiting.delete(signal);
      for (const one of started) one();
    };
    signal.addEventListener('abort', fire, { once: true });
    waiting.set(signal, started);
    all = started;
  }
  const own = (): void => run();
  all.add(own);
  const members = all;
  return { [Symbol.dispose]: () => void members.delete(own) };
}
