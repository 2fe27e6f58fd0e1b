import type { OutputLog } from '../output-log.ts';

/** As much of the beginning of an output as a long answer shows. */
const mostBytes = 256 << 10;

/** The beginning of a command's output, taken when the log is about to drop it: what is short enough is never copied. */
export class Head implements Disposable {
  readonly #listening: Disposable;
  #from = 0;
  #bytes: Uint8Array | undefined;

  constructor(log: OutputLog, outputFrom: () => number) {
    this.#listening = log.onDrop.on((lowest) => {
      const from = outputFrom();
      if (this.#bytes || lowest <= from || from < log.start) return;
      this.#from = from;
      this.#bytes = log.read(from, from + mostBytes).bytes;
    });
  }

  /** What was taken from this offset on, in whole lines; nothing while the log has it. */
  from(offset: number): Uint8Array | undefined {
    if (!this.#bytes || offset < this.#from) return undefined;
    const bytes = this.#bytes.subarray(offset - this.#from);
    const end = bytes.lastIndexOf(0x0a) + 1;
    return end === 0 ? undefined : bytes.subarray(0, end);
  }

  /** What it has stays. */
  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }
}
