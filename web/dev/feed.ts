import { feed } from '../src/lib/feed.svelte.ts';
import { live } from './live.ts';
import { conversations, now, peek, terminals, tileAsk } from './stories.ts';
import type { Text } from './texts.ts';

const can = [
  'agents.pause',
  'agents.resume',
  'asks.answer',
  'asks.decline',
  'audit.read',
  'commands.stop',
  'recordings.export',
  'recordings.search',
  'terminals.end',
  'terminals.open',
  'terminals.resize',
  'terminals.type',
];

/** What holds for the whole page: the link, the right of the person, and a pause. */
const sets: Readonly<Record<string, (text: Text) => void>> = {
  live: () => {},
  late() {
    feed.rttMs = 2100;
  },
  offline: () => lose(),
  restarting() {
    lose();
    feed.isRestarting = true;
  },
  viewer() {
    if (feed.me) feed.me = { ...feed.me, role: 'viewer', can: [] };
  },
  paused(text) {
    feed.pause = { by: text('Rosa'), at: now - 40_000, held: 9, running: 2 };
  },
};

export const setNames = Object.keys(sets);

function lose(): void {
  feed.link = 'offline';
  feed.lostAt = now - 60_000;
  feed.heardAt = now - 61_000;
  feed.nextTryAt = now + 3000;
}

/** Fills the store as the socket would. Its clock stands still, so that two pictures of a state are alike. */
export function fillFeed(set: string, text: Text): void {
  const you = { id: 'you', name: text('Ana'), initials: 'AN' };
  feed.me = { host: 'instance', name: text('desk-1'), version: '0', csrf: '', you, role: 'owner', can };
  feed.now = now;
  feed.heardAt = now;
  feed.link = 'live';
  feed.rttMs = 38;
  feed.isLoaded = true;
  feed.live = live(text);
  for (const one of terminals(text)) {
    feed.terminals.set(one.terminal, one);
    if (one.terminal !== 'no-picture') feed.peeks.set(one.terminal, peek(one.terminal, text));
  }
  for (const one of conversations(text)) feed.conversations.set(one.id, one);
  feed.waiting = [tileAsk(text)];
  sets[set]?.(text);
}
