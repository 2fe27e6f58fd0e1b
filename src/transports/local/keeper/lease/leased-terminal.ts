import { closeSync } from 'node:fs';
import type { ProcessView, Size } from '../../../../engine/terminal/channel.ts';
import type { ChannelFrame } from '../../../resumable/frame-link.ts';
import type { ResumableChannel } from '../../../resumable/resumable-channel.ts';
import type { Libc } from '../../pty/libc.ts';
import { masterView, setSize } from '../../pty/master-view.ts';
import { PtyReader } from '../../pty/pty-reader.ts';
import { copied, type Landing, readOn } from '../../pty/slabs.ts';
import { WriteQueue } from '../../pty/write-queue.ts';
import type { Spawned } from '../messages.ts';
import type { LeasedDescriptors } from './descriptors.ts';

/** The descriptors belong to the leased terminal from here on. */
interface LeasedTerminalInit extends LeasedDescriptors {
  readonly libc: Libc;
  readonly epoch: number;
  readonly terminal: Spawned;
  readonly channel: ResumableChannel;
  /** The keeper reclaimed the terminal without being asked, because this process did not answer. */
  readonly onReclaimed: () => void;
}

const none = new Uint8Array(0);
/** With less room than this left in the first page of the staging area, its other pages are used too. */
const roomy = 2048;

/** A terminal that this process reads and types into. Each byte is in shared memory before the channel gets it. */
export class LeasedTerminal {
  readonly process: ProcessView;
  readonly #init: LeasedTerminalInit;
  readonly #reader: PtyReader;
  readonly #input: WriteQueue;
  #open = true;
  /** Input is typed here, since all input that went through the keeper was accepted. */
  #types = false;

  constructor(init: LeasedTerminalInit) {
    this.#init = init;
    const { libc, master, memory, terminal, channel } = init;
    this.process = masterView(libc, terminal.pid, terminal.terminal, () => (this.#open ? master : undefined));
    this.#input = new WriteQueue((bytes) => {
      const accepted = libc.write(master, bytes, bytes.length);
      if (accepted > 0) memory.typed += accepted;
      return accepted;
    });
    const { output } = channel;
    const sink = {
      push: (chunk: Uint8Array): boolean => {
        channel.data(chunk, channel.received);
        return !output.full;
      },
      get full() {
        return output.full;
      },
      get size() {
        return output.size;
      },
    };
    this.#reader = new PtyReader(libc, master, init.watched, sink, this.#landing());
  }

  /** False if the frame is for the keeper. */
  send(type: ChannelFrame, body: Uint8Array = none, offset = 0): boolean {
    switch (type) {
      case 'input':
        return this.#type(body, offset);
      case 'ack':
        this.#reader.resume();
        return true;
      case 'flush':
        this.flush();
        this.#init.channel.flushed(offset);
        return true;
      default:
        return false;
    }
  }

  resize(size: Size): void {
    setSize(this.#init.libc, this.#init.master, size);
  }

  flush(): void {
    this.#reader.flush();
  }

  /** Everything the program has left behind. */
  drain(): void {
    this.#reader.drain();
  }

  /** Reads and types no more. */
  stop(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.end();
    this.#reader.stop();
    closeSync(this.#init.master);
    this.#init.memory[Symbol.dispose]();
  }

  /** Input that was to be typed here and was not accepted goes through the keeper. */
  repeatInput(): void {
    if (this.#types) this.#init.channel.input.restart(this.#init.memory.typed);
  }

  #type(bytes: Uint8Array, from: number): boolean {
    const { input } = this.#init.channel;
    if (!this.#types) {
      // Earlier input is still on its way through the keeper: this must not overtake it.
      if (from !== input.position) return false;
      this.#types = true;
      this.#init.memory.typed = from;
    }
    this.#input.write(bytes).then(
      () => input.accepted(from + bytes.length),
      // The lease has ended: see `repeatInput`.
      () => {},
    );
    return true;
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
        return chunk;
      },
    };
  }
}

/** What the leased terminal shows, and what can be seen from outside while there is no lease. */
export function eitherView(leased: () => ProcessView | undefined, outside: ProcessView): ProcessView {
  const view = (): ProcessView => leased() ?? outside;
  return {
    ...outside,
    foreground: () => view().foreground(),
    cwd: () => view().cwd(),
    inputMode: () => view().inputMode(),
    longestLine: () => view().longestLine?.(),
    reads: () => view().reads?.(),
  };
}
