import type { LiveParts } from './live.ts';

/** The socket of this tab, with the clock and the signs of the browser. */
export const browserParts = (csrf: string): LiveParts => ({
  csrf,
  open() {
    const { protocol, host } = location;
    return new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/live`);
  },
  clock: {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  random: () => Math.random(),
  isHidden: () => document.visibilityState === 'hidden',
  signs(heard) {
    addEventListener('online', () => heard('online'));
    document.addEventListener('visibilitychange', () =>
      heard(document.visibilityState === 'visible' ? 'shown' : 'hidden'),
    );
  },
});
