import { closeSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { Mapping, SharedCalls } from './shared-calls.ts';
import { SLAB } from '../../pty/slabs.ts';

/** Numbers at the beginning, eight bytes each: each is written in one step, so the other process never sees half of one. */
const fields = { version: 0, capacity: 1, start: 2, head: 3, stagedAt: 4, epoch: 5, typed: 6, prepared: 7 } as const;
type Field = keyof typeof fields;
const layoutVersion = 1;
const headerBytes = 4096;
const mappedBytes = headerBytes + SLAB;
/** A pseudo-terminal gives no more than this in one read; the rest of the staging area is prepared when it is needed. */
const firstBytes = 4096;
/** Marks bytes of the staging area that were not read. It never occurs in UTF-8. */
const unread = 0xff;

/**
 * The output of one terminal in memory that outlives each of the processes that read it. First the numbers and the staging
 * area, into which the present reader reads; then a ring, with the byte at offset `o` at `o % capacity`. A reader can be killed
 * at any instruction: what it read is either staged or in the ring, and `stagedAt` tells which. Pages that were never written
 * to take no memory.
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

  /** Undefined where the system has none. */
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

  /** Maps what another process created, and owns the descriptor from here on. Undefined if the layout is another. */
  static open(calls: SharedCalls, fd: number): SharedMemory | undefined {
    const mapping = calls.map(fd, mappedBytes);
    const found = mapping && new SharedMemory(fd, mapping);
    if (found && found.#get('version') === layoutVersion) return found;
    mapping?.release();
    closeSync(fd);
    return undefined;
  }

  /** Offset of the oldest byte. */
  get start(): number {
    return this.#get('start');
  }

  /** Offset of the next byte. */
  get head(): number {
    return this.#get('head');
  }

  /** Changes each time the keeper reclaims the terminal. */
  get epoch(): number {
    return this.#get('epoch');
  }

  /** Bytes of input that the terminal has accepted, from either process. */
  get typed(): number {
    return this.#get('typed');
  }

  set typed(count: number) {
    this.#set('typed', count);
  }

  /** For the first bytes of a turn. */
  get first(): Uint8Array {
    return this.#staging.subarray(0, firstBytes);
  }

  /** The whole staging area, for more than the first bytes. */
  get staging(): Uint8Array {
    this.#prepare(SLAB);
    return this.#staging;
  }

  /** The bytes that were read. */
  staged(length: number): Uint8Array {
    return this.#staging.subarray(0, length);
  }

  /** Moves staged bytes to the ring, in steps that each leave a consistent state. */
  commit(length: number): void {
    this.append(this.#staging.subarray(0, length));
    this.#staging.fill(unread, 0, length);
    this.#set('stagedAt', this.head);
  }

  append(bytes: Uint8Array): void {
    const end = this.head + bytes.length;
    // First, so that what is about to be overwritten is not read any more.
    if (end - this.capacity > this.start) this.#set('start', end - this.capacity);
    // If there is no memory left, these bytes are dropped like those that are too old.
    if (!this.#put(this.head, bytes)) this.#set('start', end);
    this.#set('head', end);
  }

  /** Copies bytes of the ring. */
  copy(from: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const at = (from + done) % this.capacity;
      const length = Math.min(into.length - done, this.capacity - at);
      const got = readSync(this.fd, into, done, length, mappedBytes + at);
      if (got <= 0) return;
      done += got;
    }
  }

  /** Before a lease begins. */
  ready(typed: number): void {
    this.#set('stagedAt', this.head);
    this.typed = typed;
  }

  /**
   * After a lease, whose process may have been killed: logs what it had read and not logged. A last byte that equals the mark
   * of unread bytes cannot be told from it.
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
    // The numbers stay readable; the memory does not.
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

/** False if the system does not allow files of that size. */
function sized(fd: number, length: number): boolean {
  try {
    ftruncateSync(fd, length);
    return true;
  } catch {
    return false;
  }
}
