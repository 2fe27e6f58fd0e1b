import { feed } from './feed.svelte.ts';

const place = 'welcome';

/** The three first steps; they tick themselves, and are gone for ever once done or skipped. */
class Welcome {
  #isOver = $state(localStorage.getItem(place) === 'done');

  /** An agent has called. */
  get isConnected(): boolean {
    return (
      feed.conversations.size > 0 || [...feed.terminals.values()].some(({ keyboard }) => keyboard?.kind === 'agent')
    );
  }

  /** It used a terminal. */
  get isAsked(): boolean {
    return [...feed.terminals.values()].some(
      ({ keyboard, conversation }) => conversation !== undefined || keyboard?.kind === 'agent',
    );
  }

  get isDone(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    localStorage.setItem(place, 'done');
  }
}

export const welcome = new Welcome();
