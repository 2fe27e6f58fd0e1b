import { expect, test } from 'vitest';
import { type Notice, Notifier, PauseNews } from './notify.ts';

function desk() {
  const shown: string[] = [];
  const withdrawn: string[] = [];
  const timers: { at: number; run: () => void }[] = [];
  let [now, lookedAt] = [0, 0];
  const notifier = new Notifier({
    show(notice) {
      shown.push(notice.tag);
      return () => withdrawn.push(notice.tag);
    },
    isLooking: () => now - lookedAt < 5000,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  });
  return {
    notifier,
    shown,
    withdrawn,
    timers,
    look: () => {
      lookedAt = now;
    },
    pass: (ms: number): void => {
      now += ms;
      for (const timer of timers.filter(({ at }) => at <= now)) {
        timers.splice(timers.indexOf(timer), 1);
        timer.run();
      }
    },
  };
}
const notice = (tag: string): Notice => ({
  tag,
  title: 'Needs you: db-1',
  text: 'A program asks for a password.',
  path: '/',
});

test('a person who looks is not told; one who has left for 5 s is, once', () => {
  const { notifier, shown, pass, look } = desk();
  notifier.update([notice('a')]);
  pass(4000);
  look();
  pass(1000);
  expect(shown).toEqual([]);
  pass(5000);
  expect(shown).toEqual(['a']);
  notifier.update([notice('a')]);
  pass(60_000);
  expect(shown).toEqual(['a']);
});

test('away already: told at once; decided: withdrawn, and a wait for the person is given up', () => {
  const { notifier, shown, withdrawn, timers, pass, look } = desk();
  pass(10_000);
  notifier.update([notice('a'), notice('b')]);
  expect(shown).toEqual(['a', 'b']);
  notifier.update([notice('b')]);
  expect(withdrawn).toEqual(['a']);
  look();
  notifier.update([notice('b'), notice('c')]);
  notifier.update([]);
  expect(withdrawn).toEqual(['a', 'b']);
  expect(timers).toEqual([]);
  pass(60_000);
  expect(shown).toEqual(['a', 'b']);
});

const titles = (notices: readonly Notice[]): string[] => notices.map(({ title }) => title);
const pause = (by: string, isMine = false) => ({ by, at: 1000, isMine });

test('a pause by someone else is told while it holds, and for a minute that it is over', () => {
  const news = new PauseNews();
  expect(titles(news.look(undefined, 1000, 0))).toEqual([]);
  const first = news.look(pause('anna'), 2000, 0);
  expect(titles(first)).toEqual(['anna paused everything']);
  expect(news.look(pause('anna'), 9000, 0)).toEqual(first);
  const over = news.look(undefined, 10_000, 0);
  expect(titles(over)).toEqual(['Everything was resumed']);
  expect(news.look(undefined, 60_000, 0)).toEqual(over);
  expect(news.look(undefined, 71_000, 0)).toEqual([]);
});

test('what the person did at this page is no news', () => {
  const news = new PauseNews();
  expect(news.look(pause('person', true), 2000, 0)).toEqual([]);
  expect(news.look(undefined, 6000, 5900)).toEqual([]);
  // The next one is resumed elsewhere.
  expect(titles(news.look(pause('anna'), 8000, 5900))).toEqual(['anna paused everything']);
  expect(titles(news.look(undefined, 9000, 5900))).toEqual(['Everything was resumed']);
});
