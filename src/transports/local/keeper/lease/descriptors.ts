import { closeSync, writeSync } from 'node:fs';
import type { Libc } from '../../pty/libc.ts';
import type { SharedCalls } from './shared-calls.ts';
import { frame, frameVersion } from '../frames.ts';
import { encode } from '../../../resumable/messages.ts';
import type { Hello } from '../messages.ts';
import { SharedMemory } from './shared-memory.ts';

/** A terminal of the keeper that this process reads and types into. */
export interface LeasedDescriptors {
  readonly master: number;
  /** A second descriptor of the master. */
  readonly watched: number;
  readonly memory: SharedMemory;
}

export function closeLeased({
  master,
  watched,
  memory,
}: { [key in keyof LeasedDescriptors]: LeasedDescriptors[key] | undefined }): void {
  for (const fd of [master, watched]) if (fd !== undefined && fd >= 0) closeSync(fd);
  memory?.[Symbol.dispose]();
}

/** The second connection to a keeper, for descriptors: Node drops them from the connections it reads. */
export class Descriptors implements Disposable {
  readonly #libc: Libc;
  readonly #calls: SharedCalls;
  #socket: number;

  private constructor(libc: Libc, calls: SharedCalls, socket: number) {
    this.#libc = libc;
    this.#calls = calls;
    this.#socket = socket;
  }

  /** Undefined if there is no second connection: then the keeper leases nothing. */
  static open(libc: Libc, calls: SharedCalls, path: string, ticket: string): Descriptors | undefined {
    const socket = calls.connect(path);
    if (socket < 0) return undefined;
    try {
      // It fits into the buffer of a new socket.
      writeSync(
        socket,
        frame('hello', '', encode({ version: frameVersion, pid: process.pid, ticket } satisfies Hello)),
      );
      return new Descriptors(libc, calls, socket);
    } catch {
      closeSync(socket);
      return undefined;
    }
  }

  /** The descriptors of this lease, which arrived before the frame about it. Undefined if they cannot be used. */
  receive(number: number): LeasedDescriptors | undefined {
    for (;;) {
      const came = this.#socket < 0 ? undefined : this.#calls.receive(this.#socket);
      if (!came) return undefined;
      const [master, file] = came.descriptors;
      const memory = SharedMemory.open(this.#calls, file);
      const watched = this.#libc.duplicate(master);
      if (came.number === number && memory && watched >= 0) return { master, watched, memory };
      closeLeased({ master, watched, memory });
      if (came.number === number) return undefined;
    }
  }

  [Symbol.dispose](): void {
    if (this.#socket >= 0) closeSync(this.#socket);
    this.#socket = -1;
  }
}
