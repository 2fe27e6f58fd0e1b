import { asks } from './asks.svelte.ts';
import { feed } from './feed.svelte.ts';
import { ui } from './frame.svelte.ts';
import { type KeyBinding, keys } from './keys.svelte.ts';
import { router } from './router.svelte.ts';
import { newTerminal } from './sheet.svelte.ts';

const ways: readonly (readonly [key: string, path: string, name: string])[] = [
  ['N', '/', 'Now'],
  ['A', '/agents', 'Agents'],
  ['T', '/timeline', 'Timeline'],
  ['R', '/recordings', 'Recordings'],
  ['M', '/machines', 'Machines'],
  ['S', '/settings/appearance', 'Settings'],
];

/** The waiting card, wherever the person is: in the page if it is there, else on Now. */
async function toWaitingCard(): Promise<void> {
  const card = (): HTMLElement | null => document.querySelector<HTMLElement>('[data-ask]');
  if (!card() && asks.waiting.length > 0) router.go('/');
  for (let tries = 0; tries < 20 && !card(); tries++) await new Promise((resolve) => setTimeout(resolve, 25));
  card()?.focus();
}

/** Keys that work on every page, until the answer is called. */
export function followFrameKeys(): () => void {
  const palette = (): void => ui.openPalette();
  const bindings: KeyBinding[] = [
    { keys: 'Ctrl+K', does: 'Search or jump to', run: palette },
    { keys: 'Ctrl+Shift+K', does: 'The same, also in a terminal', run: palette, inTerminals: true },
    { keys: 'Meta+K', does: 'The same', run: palette, inTerminals: true, isSilent: true },
    {
      keys: 'Ctrl+Shift+A',
      does: 'To the waiting card, also in a terminal',
      run: () => void toWaitingCard(),
      inTerminals: true,
    },
    ...ways
      .filter(([, path]) => ui.hasPage(path))
      .map(([key, path, name]): KeyBinding => ({ keys: `G ${key}`, does: name, run: () => router.go(path) })),
    ...(feed.can('terminals.open') ? [{ keys: 'C', does: 'New terminal', run: () => newTerminal.open() }] : []),
    { keys: '?', does: 'Keys of this page', run: () => ui.openKeys() },
  ];
  return keys.add('Everywhere', bindings);
}
