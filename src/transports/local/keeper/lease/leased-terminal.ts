import { closeSync } from 'node:fs';
import type { ProcessView, Size } from '../../../../engine/terminal/channel.ts';
import type { ByteQueue } from '../../../../lib/byte-queue.ts';
import { WriteQueue } from '../../pty/write-queue.ts';
import type { Libc } from '../../pty/libc.ts';
import { masterView, setSize } from '../../pty/master-view.ts';
import { PtyReader } from '../../pty/pty-reader.ts';
import { copied, type Landing, readOn } from '../../pty/slabs.ts';
import type { LeasedDescriptors } from './descriptors.ts';
import type { Spawned } from '../messages.ts';

/** What is borrowed belongs to it from here on. */
export interface LeasedTerminalInit extends LeasedDescriptors {
  readonly libc: Libc;
  readonly epoch: number;
  readonly process: Spawned;
  readonly output: ByteQueue;
  /** The keeper took the terminal back without being asked, from a process that did not answer. */
  readonly onReclaimed: () => void;
}

const none = new Uint8Array(0);
/** With less room than this left in the first page of the staging area, the others are used, too. */
const roomy = 2048;

/** A terminal the keeper has lent: this process reads and types, and every byte is in shared memory before anybody sees it. */
export class LeasedTerminal {
  readonly process: ProcessView;
  /** Keys are typed here, too: those that went through the keeper have arrived. */
  types = false;
  readonly #init: LeasedTerminalInit;
  readonly #reader: PtyReader;
  readonly #input: WriteQueue;
  #open = true;
  /** Ours, not that of the memory: should the keeper take the terminal back, it goes on there. */
  #position: number;

  constructor(init: LeasedTerminalInit) {
    this.#init = init;
    const { libc, master, memory, process, output } = init;
    this.#position = memory.head;
    this.process = masterView(libc, process.pid, process.terminal, () => (this.#open ? master : undefined));
    this.#input = new WriteQueue((bytes) => {
      const accepted = libc.write(master, bytes, bytes.length);
      if (accepted > 0) memory.typed += accepted;
      return accepted;
    });
    this.#reader = new PtyReader(libc, master, init.watched, output, this.#landing());
  }

  /** Offset of the next byte of output. */
  get position(): number {
    return this.#position;
  }

  /** Bytes typed into the terminal, ever. */
  get typed(): number {
    return this.#init.memory.typed;
  }

  /** From here on keys are typed here, too; this many were before. */
  typesFrom(count: number): void {
    this.types = true;
    this.#init.memory.typed = count;
  }

  /** Settles when they are accepted; rejects when the terminal is given back before. */
  type(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  resize(size: Size): void {
    setSize(this.#init.libc, this.#init.master, size);
  }

  resume(): void {
    this.#reader.resume();
  }

  flush(): void {
    this.#reader.flush();
  }

  /** Everything the program has left behind. */
  drain(): void {
    this.#reader.drain();
  }

  /** Reads and types no more, and has nothing left that the keeper does not have. */
  stop(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.end();
    this.#reader.stop();
    closeSync(this.#init.master);
    this.#init.memory[Symbol.dispose]();
  }

  #landing(): Landing {
    const { memory, epoch, onReclaimed } = this.#init;
    const room = (filled: number): Uint8Array => (filled <= roomy ? memory.first : memory.staging).subarray(filled);
    return {
      first: memory.first,
      fill: (already, read, begin) => {
        if (memory.epoch !== epoch) {
          onReclaimed();
          return none;
        }
        const length = readOn(room, already, read, begin);
        if (length === 0) return none;
        const chunk = copied(memory.staged(length));
        memory.commit(length);
        this.#position += length;
        return chunk;
      },
    };
  }
}

/** What is seen through the terminal itself while this process has it, and from outside while it has not. */
export function eitherView(direct: () => ProcessView | undefined, outside: ProcessView): ProcessView {
  const view = (): ProcessView => direct() ?? outside;
  return {
    ...outside,
    foreground: () => view().foreground(),
    cwd: () => view().cwd(),
    inputMode: () => view().inputMode(),
    longestLine: () => view().longestLine?.(),
    reads: () => view().reads?.(),
  };
}
