import type { Terminal } from '../terminal/terminal.ts';

/** Calls back once when nothing came in or went out for this long; 0: never. One timer serves any amount of traffic. */
export function whenIdle(terminal: Terminal, limitMs: number, call: () => void): Disposable {
  const { clock } = terminal;
  if (limitMs === 0) return { [Symbol.dispose]: () => {} };
  let activeMs = clock.monotonic();
  let timer: Disposable | undefined;
  const active = (): void => {
    activeMs = clock.monotonic();
  };
  const arm = (ms: number): void => {
    timer = clock.after(Math.max(1, ms), () => {
      const left = activeMs + limitMs - clock.monotonic();
      if (left > 0) return arm(left);
      stop();
      call();
    });
  };
  const listening = [terminal.output.on(active), terminal.input.events.on(active)];
  const stop = (): void => {
    timer?.[Symbol.dispose]();
    for (const one of listening) one[Symbol.dispose]();
  };
  arm(limitMs);
  return { [Symbol.dispose]: stop };
}
