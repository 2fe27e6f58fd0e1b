import { closeSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { Mapping, SharedCalls } from './shared-calls.ts';
import { SLAB } from '../../pty/slabs.ts';

/** Numbers at the beginning, eight bytes each: one is written in one step, so nobody ever sees half of it. */
const fields = { version: 0, capacity: 1, start: 2, head: 3, stagedAt: 4, epoch: 5, typed: 6, prepared: 7 } as const;
type Field = keyof typeof fields;
const layoutVersion = 1;
const headerBytes = 4096;
const mappedBytes = headerBytes + SLAB;
/** A pseudo-terminal gives no more than this in one read; the rest of the staging area is there when it is needed. */
const firstBytes = 4096;
/** What stands where nothing was read. It never occurs in UTF-8. */
const unread = 0xff;

/**
 * The output of one terminal in memory that outlives each of the processes that read it. In front lie the numbers and the
 * staging area, into which whoever has the terminal reads; behind them a ring, in which the byte at offset `o` lies at `o %
 * capacity`. Being killed at any instruction loses nothing: what was read is either staged and not yet in the ring, or in the
 * ring, and `stagedAt` tells which. Pages that were never written to do not exist.
 */
export class SharedMemory implements Disposable {
  readonly fd: number;
  readonly capacity: number;
  #mapping: Mapping | undefined;
  #numbers: Float64Array;
  #staging: Uint8Array;

  private constructor(fd: number, mapping: Mapping, capacity?: number) {
    this.fd = fd;
    this.#mapping = mapping;
    this.#numbers = new Float64Array(mapping.bytes, 0, Object.keys(fields).length);
    this.#staging = new Uint8Array(mapping.bytes, headerBytes, SLAB);
    this.capacity = capacity ?? this.#get('capacity');
  }

  /** Undefined where the system gives none. */
  static create(calls: SharedCalls, capacity: number, start: number): SharedMemory | undefined {
    const fd = calls.memoryFile();
    if (fd < 0) return undefined;
    const mapping = sized(fd, mappedBytes + capacity) ? calls.map(fd, mappedBytes) : undefined;
    if (!mapping) {
      closeSync(fd);
      return undefined;
    }
    const made = new SharedMemory(fd, mapping, capacity);
    made.#set('version', layoutVersion);
    made.#set('capacity', capacity);
    for (const field of ['start', 'head', 'stagedAt'] as const) made.#set(field, start);
    made.#prepare(firstBytes);
    return made;
  }

  /** What another process made. It owns the descriptor from here on; undefined when it is of another kind. */
  static open(calls: SharedCalls, fd: number): SharedMemory | undefined {
    const mapping = calls.map(fd, mappedBytes);
    const found = mapping && new SharedMemory(fd, mapping);
    if (found && found.#get('version') === layoutVersion) return found;
    mapping?.release();
    closeSync(fd);
    return undefined;
  }

  /** Offset of the oldest byte kept. */
  get start(): number {
    return this.#get('start');
  }

  /** Offset of the next byte. */
  get head(): number {
    return this.#get('head');
  }

  /** Whose turn it is to read: it changes each time the terminal is taken back. */
  get epoch(): number {
    return this.#get('epoch');
  }

  /** How many bytes were typed into it, by whoever has the terminal. */
  get typed(): number {
    return this.#get('typed');
  }

  set typed(count: number) {
    this.#set('typed', count);
  }

  /** Where the first bytes of a turn are read to. */
  get first(): Uint8Array {
    return this.#staging.subarray(0, firstBytes);
  }

  /** All of it, for more than the first bytes. */
  get staging(): Uint8Array {
    this.#prepare(SLAB);
    return this.#staging;
  }

  /** The bytes that were read. */
  staged(length: number): Uint8Array {
    return this.#staging.subarray(0, length);
  }

  /** What was read to the staging area goes into the ring, in steps of which each leaves everything in order. */
  commit(length: number): void {
    this.append(this.#staging.subarray(0, length));
    this.#staging.fill(unread, 0, length);
    this.#set('stagedAt', this.head);
  }

  append(bytes: Uint8Array): void {
    const end = this.head + bytes.length;
    // First: what is about to be overwritten is not to be read any more.
    if (end - this.capacity > this.start) this.#set('start', end - this.capacity);
    // There may be no memory left. Then these bytes are not kept, like those that are too old.
    if (!this.#put(this.head, bytes)) this.#set('start', end);
    this.#set('head', end);
  }

  /** Bytes that are kept, into memory of the caller's. */
  copy(from: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const at = (from + done) % this.capacity;
      const length = Math.min(into.length - done, this.capacity - at);
      const got = readSync(this.fd, into, done, length, mappedBytes + at);
      if (got <= 0) return;
      done += got;
    }
  }

  /** Before the terminal is lent: nothing is staged. */
  ready(typed: number): void {
    this.#set('stagedAt', this.head);
    this.typed = typed;
  }

  /**
   * The terminal is taken back from a process that may have been killed: what it had read and not logged is logged now. A last
   * byte that looks like the mark of the unread cannot be told from it.
   */
  recover(): void {
    this.#set('epoch', this.epoch + 1);
    const prepared = this.#get('prepared');
    let length = this.#get('stagedAt') === this.head ? prepared : 0;
    while (length > 0 && this.#staging[length - 1] === unread) length -= 1;
    if (length > 0) this.append(this.#staging.slice(0, length));
    this.#staging.fill(unread, 0, prepared);
    this.#set('stagedAt', this.head);
  }

  [Symbol.dispose](): void {
    if (!this.#mapping) return;
    // The numbers can still be asked for; the memory cannot.
    this.#numbers = this.#numbers.slice();
    this.#staging = new Uint8Array(0);
    this.#mapping.release();
    this.#mapping = undefined;
    closeSync(this.fd);
  }

  #put(from: number, bytes: Uint8Array): boolean {
    for (let done = 0; done < bytes.length; ) {
      const at = (from + done) % this.capacity;
      const length = Math.min(bytes.length - done, this.capacity - at);
      try {
        done += writeSync(this.fd, bytes, done, length, mappedBytes + at);
      } catch {
        return false;
      }
    }
    return true;
  }

  #prepare(length: number): void {
    const prepared = this.#get('prepared');
    if (prepared >= length) return;
    this.#staging.fill(unread, prepared, length);
    this.#set('prepared', length);
  }

  #get(field: Field): number {
    return this.#numbers[fields[field]] ?? 0;
  }

  #set(field: Field, value: number): void {
    this.#numbers[fields[field]] = value;
  }
}

/** False where files may not be that large. */
function sized(fd: number, length: number): boolean {
  try {
    ftruncateSync(fd, length);
    return true;
  } catch {
    return false;
  }
}
