import { OutputLog } from '../../../../engine/terminal/output-log.ts';
import type { SharedCalls } from './shared-calls.ts';
import { SharedMemory } from './shared-memory.ts';

/** The last output of a terminal. */
export type TerminalLog = Pick<OutputLog, 'capacity' | 'start' | 'end' | 'append' | 'read' | 'views'> &
  Partial<Disposable>;

/** In memory that can be shared with a client that leases the terminal, where the system has it. */
export function terminalLog(calls: SharedCalls | undefined, capacity: number, start = 0): TerminalLog {
  const memory = calls && SharedMemory.create(calls, capacity, start);
  return memory ? new SharedLog(memory) : new OutputLog({ capacity, start });
}

const scratch = Buffer.allocUnsafeSlow(64 << 10);

/** A log that another process writes to while it leases the terminal. */
export class SharedLog implements TerminalLog, Disposable {
  readonly memory: SharedMemory;

  constructor(memory: SharedMemory) {
    this.memory = memory;
  }

  get capacity(): number {
    return this.memory.capacity;
  }

  get start(): number {
    return this.memory.start;
  }

  get end(): number {
    return this.memory.head;
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += this.capacity) {
      this.memory.append(bytes.subarray(at, at + this.capacity));
    }
  }

  read(from: number, to = this.end, max = Number.POSITIVE_INFINITY): ReturnType<OutputLog['read']> {
    const first = Math.min(Math.max(from, this.start), this.end);
    const last = Math.max(first, Math.min(to, this.end, first + max));
    const bytes = new Uint8Array(last - first);
    this.memory.copy(first, bytes);
    return { from: first, bytes, missed: Math.max(0, Math.min(first, to) - from) };
  }

  /** A copy, good until the next call. */
  views(from: number, to = this.end): Uint8Array[] {
    const first = Math.max(from, this.start);
    const last = Math.min(to, this.end);
    if (first >= last) return [];
    const bytes = last - first <= scratch.length ? scratch.subarray(0, last - first) : new Uint8Array(last - first);
    this.memory.copy(first, bytes);
    return [bytes];
  }

  [Symbol.dispose](): void {
    this.memory[Symbol.dispose]();
  }
}
