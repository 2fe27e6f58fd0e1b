import { feed } from '../feed.svelte.ts';
import type { ReplayHits } from '../replay-shapes.ts';

type Hit = ReplayHits['hits'][number];

/** How long a person pauses before what they typed is looked for. */
const typingMs = 200;

/** What is looked for in a recording, and where it was found. */
export class Find {
  readonly #recording: string;
  text = $state('');
  hits = $state.raw<readonly Hit[]>([]);
  more = $state(false);
  at = $state(-1);
  isBusy = $state(false);
  fault = $state.raw<unknown>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | undefined;

  constructor(recording: string) {
    this.#recording = recording;
  }

  get current(): Hit | undefined {
    return this.hits[this.at];
  }

  /** `3 of 41` */
  get words(): string {
    if (this.text.trim() === '') return '';
    if (this.isBusy) return 'Searching';
    if (this.hits.length === 0) return 'Nothing found';
    return `${this.at + 1} of ${this.hits.length}${this.more ? '+' : ''}`;
  }

  typed(text: string, found: (hit: Hit) => void): void {
    this.text = text;
    this.dispose();
    if (text.trim() === '') {
      this.hits = [];
      this.isBusy = false;
      return;
    }
    this.isBusy = true;
    this.#timer = setTimeout(() => void this.#look(found), typingMs);
  }

  move(by: 1 | -1): Hit | undefined {
    if (this.hits.length > 0) this.at = (this.at + by + this.hits.length) % this.hits.length;
    return this.current;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  async #look(found: (hit: Hit) => void): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    this.fault = undefined;
    try {
      const input = { recording: this.#recording, text: this.text.trim(), limit: 500 };
      const answer = await feed.live?.call<ReplayHits>('replay.search', input, asking.signal);
      if (asking.signal.aborted || !answer) return;
      this.hits = answer.hits;
      this.more = answer.more;
      this.at = answer.hits.length > 0 ? 0 : -1;
      if (this.current) found(this.current);
    } catch (error) {
      if (!asking.signal.aborted) this.fault = error;
    } finally {
      if (!asking.signal.aborted) this.isBusy = false;
    }
  }
}
