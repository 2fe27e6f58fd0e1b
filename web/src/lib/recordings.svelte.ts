import { SvelteSet } from 'svelte/reactivity';
import { feed } from './feed.svelte.ts';
import type { ReplayHits, ReplayList, ReplayListed } from './replay-shapes.ts';

type Hit = ReplayHits['hits'][number];

const pageRows = 200;
const typingMs = 250;

/** The list of recordings: a page of it at a time, what was chosen, and what was looked for. */
export class Recordings {
  rows = $state.raw<readonly ReplayListed[]>([]);
  isLoaded = $state(false);
  fault = $state.raw<unknown>();
  more = $state(false);
  /** Every terminal is recorded from its start. */
  isAlways = $state<boolean>();
  readonly chosen = new SvelteSet<string>();
  text = $state('');
  hits = $state.raw<readonly Hit[]>();
  searched = $state(0);
  /** Where the search goes on. */
  before = $state<string>();
  isSearching = $state(false);
  #loading = false;
  #again = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  get chosenRows(): readonly ReplayListed[] {
    return this.rows.filter(({ id }) => this.chosen.has(id));
  }

  /** The list anew, as long as it was. */
  async load(): Promise<void> {
    // News that come while it is loaded ask once more.
    this.#again = true;
    while (this.#again && !this.#loading) {
      this.#again = false;
      const limit = Math.min(1000, Math.max(pageRows, this.rows.length));
      await this.#page({ limit }, () => []);
    }
    if (this.rows.length > 0 || this.isAlways !== undefined) return;
    const settings = await feed.live?.call<{ recording: { enabled: boolean } }>('logs.get', {}).catch(() => undefined);
    this.isAlways = settings?.recording.enabled ?? false;
  }

  async loadMore(): Promise<void> {
    const last = this.rows.at(-1);
    if (!this.more || !last) return;
    await this.#page({ limit: pageRows, before: last.id }, () => this.rows);
  }

  async recordAlways(): Promise<void> {
    this.fault = undefined;
    try {
      await feed.live?.call('logs.set', { recording: { enabled: true } });
      this.isAlways = true;
    } catch (error) {
      this.fault = error;
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    await feed.live?.call('replay.remove', { recordings: ids });
    for (const id of ids) this.chosen.delete(id);
    this.rows = this.rows.filter(({ id }) => !ids.includes(id));
    await this.load();
  }

  typed(text: string): void {
    this.text = text;
    this.dispose();
    this.hits = undefined;
    this.isSearching = text.trim() !== '';
    if (this.isSearching) this.#timer = setTimeout(() => void this.search(), typingMs);
  }

  /** Looks in the recordings; with `before`, in older ones. */
  async search(before?: string): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    this.isSearching = true;
    this.fault = undefined;
    try {
      const input = { text: this.text.trim(), ...(before !== undefined && { before }) };
      const answer = await feed.live?.call<ReplayHits>('replay.search', input, asking.signal);
      if (asking.signal.aborted || !answer) return;
      this.hits = before === undefined ? answer.hits : [...(this.hits ?? []), ...answer.hits];
      this.searched = (before === undefined ? 0 : this.searched) + answer.searched;
      this.before = answer.before;
    } catch (error) {
      if (!asking.signal.aborted) this.fault = error;
    } finally {
      if (!asking.signal.aborted) this.isSearching = false;
    }
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  async #page(input: object, before: () => readonly ReplayListed[]): Promise<void> {
    if (this.#loading) return;
    this.#loading = true;
    this.fault = undefined;
    try {
      const answer = await feed.live?.call<ReplayList>('replay.list', input);
      if (!answer) return;
      const known = new Set(before().map(({ id }) => id));
      this.rows = [...before(), ...answer.recordings.filter(({ id }) => !known.has(id))];
      this.more = answer.more;
      this.isLoaded = true;
      for (const id of this.chosen) if (!this.rows.some((row) => row.id === id)) this.chosen.delete(id);
    } catch (error) {
      this.fault = error;
    } finally {
      this.#loading = false;
    }
  }
}

/** `16 Nov, 14:01` */
export const startedWords = (at: string): string =>
  new Date(at).toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
