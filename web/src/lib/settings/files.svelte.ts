import { SvelteMap } from 'svelte/reactivity';
import { feed } from '../feed.svelte.ts';
import type { SettingsFile } from '../shapes.ts';

/** How long an edit by hand is worth a line. */
const freshMs = 60_000;

/** The settings files of the server, as they change: by this page, by others, by an editor. */
class SettingsFiles {
  readonly all = new SvelteMap<string, SettingsFile>();

  /** Follows them until the answer is called. */
  follow(): (() => void) | undefined {
    return feed.live?.read<{ files: SettingsFile[] }>({
      stream: 'settings.watch',
      input: () => ({}),
      item: ({ files }) => {
        for (const file of files) this.all.set(file.name, file);
      },
    });
  }

  /** `Changed in policy.json just now.`, while it is new. */
  edit(name: string, now: number): string | undefined {
    const { file, changed_at, by_hand } = this.all.get(name) ?? {};
    if (by_hand !== true || changed_at === undefined || now - Date.parse(changed_at) > freshMs) return undefined;
    return `Changed in ${file} just now.`;
  }
}

export const settingsFiles = new SettingsFiles();
