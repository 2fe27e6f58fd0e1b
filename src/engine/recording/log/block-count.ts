import type { LogEventName } from './log-line.ts';

/** Counts the blocks of a recording that have a command or an exit status: live, in the index and in the markdown alike. */
export class BlockCount {
  #count = 0;
  #isOpen = false;
  #isCounted = false;

  get value(): number {
    return this.#count;
  }

  /** True if this event makes its block count. */
  accept(name: LogEventName, data: { readonly length: number }): boolean {
    if (name === 'block_output') {
      this.#isOpen = true;
      this.#isCounted = false;
    } else if (name !== 'block_input' && name !== 'block_exit') return false;
    const counts = this.#isOpen && !this.#isCounted && data.length > 0;
    if (counts) {
      this.#count += 1;
      this.#isCounted = true;
    }
    if (name === 'block_exit') this.#isOpen = false;
    return counts;
  }
}
