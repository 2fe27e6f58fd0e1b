import type { Terminal } from '@xterm/xterm';
import { faultWords } from '../fault.ts';
import { feed } from '../feed.svelte.ts';
import { linesOf } from './screen-tools.ts';
import { type Match, nearest, searchLines } from './search.ts';

/** A match that the server found in what the page no longer has. */
export interface KeptMatch {
  readonly row: number;
  readonly line: string;
  readonly match: string;
}

/** Finding in a terminal: in what the page has, at once; in everything kept, by the server. */
export class TerminalFind {
  readonly #id: string;
  readonly #xterm: () => Terminal | undefined;
  isOpen = $state(false);
  wanted = $state('');
  matchCase = $state(false);
  regex = $state(false);
  matches = $state.raw<readonly Match[]>([]);
  at = $state(-1);
  fault = $state<string>();
  /** There are more than these. */
  isCut = $state(false);
  /** Where the matches stand in the buffer, from 0 to 1. */
  ticks = $state.raw<readonly number[]>([]);
  kept = $state.raw<{ readonly matches: readonly KeptMatch[]; readonly total: number }>();
  isAsking = $state(false);
  #stop: AbortController | undefined;

  constructor(id: string, xterm: () => Terminal | undefined) {
    this.#id = id;
    this.#xterm = xterm;
  }

  open(): void {
    this.isOpen = true;
    const selected = this.#xterm()?.getSelection() ?? '';
    if (selected !== '' && !selected.includes('\n')) this.wanted = selected;
    this.search();
  }

  close(): void {
    this.isOpen = false;
    this.#stop?.abort();
    this.#xterm()?.clearSelection();
    this.matches = [];
    this.ticks = [];
    this.kept = undefined;
    this.at = -1;
  }

  search(): void {
    const xterm = this.#xterm();
    if (!xterm) return;
    this.kept = undefined;
    const { active } = xterm.buffer;
    const found = searchLines(linesOf(xterm), this.wanted, this, xterm.cols);
    this.matches = found.matches;
    this.fault = found.fault;
    this.isCut = found.isCut;
    this.ticks = [...new Set(found.matches.map(({ row }) => Math.round((row / active.length) * 400) / 400))];
    this.at = nearest(found.matches, active.viewportY + xterm.rows);
    this.#show();
  }

  /** The next match, downwards with 1, upwards with -1; round at the ends. */
  step(by: 1 | -1): void {
    const { length } = this.matches;
    if (length === 0) return;
    this.at = (this.at + by + length) % length;
    this.#show();
  }

  /** Everything that the server keeps of this terminal. */
  async searchKept(): Promise<void> {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.isAsking = true;
    this.fault = undefined;
    try {
      const input = {
        terminal: this.#id,
        pattern: this.wanted,
        regex: this.regex,
        ignoreCase: !this.matchCase,
        max: 200,
      };
      const answer = await feed.live?.call<{ matches: KeptMatch[]; total: number }>(
        'terminal.find',
        input,
        stop.signal,
      );
      if (answer && !stop.signal.aborted) this.kept = answer;
    } catch (error) {
      if (!stop.signal.aborted) this.fault = faultWords(error, true);
    } finally {
      if (this.#stop === stop) this.isAsking = false;
    }
  }

  /** `3 of 41` */
  get words(): string {
    if (this.wanted === '') return '';
    return this.matches.length === 0 ? 'Nothing' : `${this.at + 1} of ${this.matches.length}${this.isCut ? '+' : ''}`;
  }

  #show(): void {
    const xterm = this.#xterm();
    const match = this.matches[this.at];
    if (!xterm || !match) {
      xterm?.clearSelection();
      return;
    }
    xterm.select(match.col, match.row, match.length);
    const { viewportY } = xterm.buffer.active;
    if (match.row < viewportY || match.row >= viewportY + xterm.rows) {
      xterm.scrollToLine(Math.max(0, match.row - Math.floor(xterm.rows / 2)));
    }
  }
}
