import { announcer } from './announce.svelte.ts';

export interface ToastWords {
  readonly words: string;
  /** An error stays until it is closed. */
  readonly isError?: boolean;
  readonly action?: { readonly name: string; readonly run: () => void };
}

const stayMs = 4000;
const mostWaiting = 10;

/** What was done elsewhere than where the person looks. One at a time; the oldest that wait are dropped. */
class Toasts {
  current = $state.raw<ToastWords>();
  #waiting: ToastWords[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  show(toast: ToastWords): void {
    announcer.say(toast.words);
    this.#waiting = [...this.#waiting, toast].slice(-mostWaiting);
    if (!this.current) this.close();
  }

  /** Closes this one and shows the next. */
  readonly close = (): void => {
    clearTimeout(this.#timer);
    this.current = this.#waiting.shift();
    if (this.current && !this.current.isError) this.#timer = setTimeout(this.close, stayMs);
  };
}

export const toasts = new Toasts();
