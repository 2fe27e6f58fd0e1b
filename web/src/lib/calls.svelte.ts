import { feed } from './feed.svelte.ts';
import type { CallShown, CallNews } from './shapes.ts';

export interface CallFilter {
  readonly conversation?: string;
  readonly terminal?: string;
  readonly text?: string;
  readonly kind?: 'all' | 'commands' | 'decisions' | 'failed';
}

/** One row: a call, or neighbouring reads that are alike. */
export interface CallLine {
  readonly call: CallShown;
  readonly times: number;
}

/** So many rows a page keeps. Beyond that the oldest go; they can be loaded again. */
const mostRows = 5000;
const pageRows = 200;

/** The calls that fit a filter, the newest first: those of the feed, and older ones on demand. */
export class Calls {
  rows = $state.raw<readonly CallShown[]>([]);
  isLoaded = $state(false);
  /** Older rows can be loaded. */
  more = $state(true);
  isLoading = $state(false);
  fault = $state<string>();
  readonly #filter: CallFilter;
  readonly #known = new Map<string, CallShown>();
  #stop: (() => void) | undefined;
  /** The stream of new rows has ended. */
  #hasFailed = false;
  #frame = 0;

  constructor(filter: CallFilter) {
    this.#filter = filter;
    this.#follow();
  }

  #follow(): void {
    this.#stop?.();
    this.#hasFailed = false;
    this.#stop = feed.live?.read<CallNews>({
      stream: 'calls.watch',
      input: () => ({ ...this.#filter, head: pageRows }),
      item: (news) => this.#take(news),
      failed: ({ message }) => {
        this.fault = message;
        this.#hasFailed = true;
      },
    });
  }

  /** What failed: new rows, or older ones. */
  again(): void {
    this.fault = undefined;
    if (this.#hasFailed) this.#follow();
    else void this.older();
  }

  /** Rows as they are shown. */
  readonly lines = $derived(folded(this.rows));

  async older(): Promise<void> {
    const last = this.rows.at(-1);
    if (this.isLoading || !this.more || !this.isLoaded) return;
    this.isLoading = true;
    this.fault = undefined;
    try {
      const input = { ...this.#filter, limit: pageRows, ...(last && { before: last.id }) };
      const answer = await feed.live?.call<{ calls: CallShown[]; more: boolean }>('calls.list', input);
      for (const call of answer?.calls ?? []) this.#known.set(call.id, call);
      this.more = answer?.more === true && this.#known.size < mostRows;
      this.#show();
    } catch {
      this.fault = 'Older rows could not be loaded.';
    }
    this.isLoading = false;
  }

  dispose(): void {
    this.#stop?.();
    cancelAnimationFrame(this.#frame);
  }

  #take(news: CallNews): void {
    if (news.kind === 'call') this.#known.set(news.call.id, news.call);
    else {
      for (const call of news.calls) this.#known.set(call.id, call);
      if (!this.isLoaded && news.calls.length < pageRows) void this.#first();
      this.isLoaded = true;
    }
    // Many may come at a time; they are shown together.
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#show());
  }

  /** The rows of this run are few: those of earlier runs stand below them. */
  async #first(): Promise<void> {
    await Promise.resolve();
    this.#show();
    await this.older();
  }

  #show(): void {
    const rows = [...this.#known.values()].sort((one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0));
    for (const { id } of rows.splice(mostRows)) this.#known.delete(id);
    this.rows = rows;
  }
}

/** Neighbouring equal reads are one row with a number. */
export function folded(rows: readonly CallShown[]): readonly CallLine[] {
  const lines: { call: CallShown; times: number }[] = [];
  for (const call of rows) {
    const last = lines.at(-1);
    if (last && isSameRead(last.call, call)) last.times += 1;
    else lines.push({ call, times: 1 });
  }
  return lines;
}

const isSameRead = (one: CallShown, other: CallShown): boolean =>
  one.access === 'observe' &&
  one.phase === 'executed' &&
  other.phase === 'executed' &&
  one.op === other.op &&
  one.terminal === other.terminal &&
  one.conversation === other.conversation;
