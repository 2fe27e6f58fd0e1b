import { feed } from './feed.svelte.ts';
import { keys } from './keys.svelte.ts';
import { pausing } from './pausing.svelte.ts';
import { preferences } from './preferences.svelte.ts';

/** In a terminal, too: it is the one key that no program gets. Until the answer is called. */
export function followPauseKey(): (() => void) | undefined {
  if (!feed.can('agents.pause')) return undefined;
  const run = (): void => {
    if (!feed.pause) pausing.everything();
  };
  return keys.add('Everywhere', [
    { keys: preferences.pauseKey, does: 'Pause everything', run, inTerminals: true },
    { keys: 'Meta+.', does: 'The same', run, inTerminals: true, isSilent: true },
  ]);
}
