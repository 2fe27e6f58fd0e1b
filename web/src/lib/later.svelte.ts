import { announcer } from './announce.svelte.ts';
import { headingOf, headingText } from './ask-words.ts';
import { asks } from './asks.svelte.ts';
import { feed } from './feed.svelte.ts';
import { followFrameKeys } from './frame-keys.ts';
import { lookMs, looked } from './looked.svelte.ts';
import { notifications } from './notify.svelte.ts';
import { router } from './router.svelte.ts';
import { paintTerminals } from './terminal-colors.ts';
import { machineOf } from './tiles.ts';

/** What the frame does besides showing the page, fetched after the first picture. Until the answer is called. */
export function followLater(): () => void {
  const ends = [asks.follow(), followFrameKeys(), notifications.follow(), $effect.root(announceAndLook), forceColors()];
  return () => {
    for (const end of ends) end();
  };
}

/** Few need these rules: others do not load them. */
function forceColors(): () => void {
  const forced = matchMedia('(forced-colors: active)');
  const force = () => void (forced.matches && import('../forced-colors.css'));
  forced.addEventListener('change', force);
  force();
  return () => forced.removeEventListener('change', force);
}

/** A screen reader hears of each new thing that needs the person. */
function announceAndLook(): void {
  const told = new Set<string>();
  $effect(() => {
    if (feed.theme) paintTerminals(feed.theme);
  });
  $effect(() => {
    const here = feed.me?.name ?? 'this machine';
    const { waiting } = asks;
    const now = new Set(waiting.map(({ key, bornAt }) => `${key} ${bornAt}`));
    for (const key of told) if (!now.has(key)) told.delete(key);
    for (const { key, bornAt, ask } of waiting) {
      if (told.has(`${key} ${bornAt}`)) continue;
      told.add(`${key} ${bornAt}`);
      const terminal = feed.terminals.get(ask.terminal ?? '');
      const heading = headingText(headingOf(ask, { machine: terminal ? machineOf(terminal, here) : here }));
      announcer.say(`Needs you: ${heading}. ${waiting.length} waiting.`);
    }
  });
  // A countdown is not live; the open card is told of at 60, 30 and 10 seconds.
  let before = Number.POSITIVE_INFINITY;
  $effect(() => {
    const { expiresAt } = asks.open?.ask ?? {};
    const left =
      expiresAt === undefined ? Number.POSITIVE_INFINITY : Math.round((Date.parse(expiresAt) - feed.now) / 1000);
    const passed = [60, 30, 10].find((seconds) => before > seconds && left <= seconds && left > 0);
    if (passed !== undefined && before !== Number.POSITIVE_INFINITY) announcer.say(`${passed} seconds left.`);
    before = left;
  });
  // A terminal that was on screen for a while has been looked at: what ended in it before is no news here.
  $effect(() => {
    const id = /^\/t\/([\w-]+)$/.exec(router.path)?.[1];
    if (id === undefined) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') looked.mark(id);
    }, lookMs);
    return () => clearInterval(timer);
  });
}
