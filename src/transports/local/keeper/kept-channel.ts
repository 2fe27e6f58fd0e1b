import type { Channel, ChannelMemory, Ended, ProcessView, Signal, Size } from '../../../engine/channel.ts';
import { OutputLog } from '../../../engine/output-log.ts';
import { ByteQueue } from '../../../lib/byte-queue.ts';
import { type Deferred, deferred } from '../../../lib/deferred.ts';
import type { Libc } from '../libc.ts';
import { settledWithin } from '../settled-within.ts';
import { checkSize } from '../target.ts';
import type { FrameType } from './frames.ts';
import { KeptInput } from './kept-input.ts';
import { keptProcess } from './kept-process.ts';
import { ackBytes, encode, type Spawned, windowBytes } from './messages.ts';

/** Asks the keeper for something. Without a connection nothing happens: it is told again after the next one. */
export type Post = (type: FrameType, body?: Uint8Array, offset?: number) => void;

export interface KeptInit {
  readonly libc: Libc;
  readonly post: Post;
  /** Settles when everything posted so far is on its way. */
  readonly posted: () => Promise<void>;
  readonly process: Spawned;
  /** Offset of the first byte of output to come. */
  readonly from: number;
  /** How many bytes were typed into it before. */
  readonly typed: number;
  readonly onGone: () => void;
  /** The output before this offset goes into a log of its own, of this capacity. */
  readonly replay?: { readonly to: number; readonly capacity: number };
}

/** An answer to a flush that does not come in this time is not waited for. */
const flushMs = 1000;
/** The keeper ends a program within this time, or it never will. */
const endMs = 2500;

const blank = new Uint8Array(64 << 10);

/** A program whose terminal the keeper holds. */
export class KeptChannel implements Channel {
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  readonly process: ProcessView;
  readonly memory: ChannelMemory;
  readonly #init: KeptInit;
  readonly #input: KeptInput;
  readonly #end = deferred<Ended>();
  readonly #flushes = new Map<number, Deferred<void>>();
  readonly #terminated = deferred();
  readonly #replayed = deferred<OutputLog>();
  #replay: { log: OutputLog; readonly to: number } | undefined;
  #flushNumber = 0;
  /** Offset of the next byte to come, and what the keeper knows to have been taken in. */
  #received: number;
  #acked: number;
  #endedAt: number | undefined;
  #open = true;
  #forgotten = false;
  #disposing: Promise<void> | undefined;

  constructor(init: KeptInit) {
    this.#init = init;
    this.#received = init.from;
    this.#acked = init.from;
    this.output = new ByteQueue(
      windowBytes >> 1,
      () => this.#ack(),
      () => this.#ack(),
    );
    if (init.replay) {
      const { to, capacity } = init.replay;
      this.#replay = { log: new OutputLog({ capacity, start: init.from }), to };
      this.#replayTo(init.from);
    }
    this.ended = this.#end.promise;
    this.#input = new KeptInput(init.typed, (bytes, from) => init.post('input', bytes, from));
    this.process = keptProcess(init.libc, init.process, () => this.#open);
    this.memory = {
      note: (facts) => init.post('meta', facts),
      save: (state, offset) => init.post('snapshot', state, offset),
      leave: () => this.#leave(),
    };
  }

  /** The output before the offset that was asked for; what comes after is the channel's own. Settles with less at the end. */
  get replayed(): Promise<OutputLog> {
    return this.#replayed.promise;
  }

  get received(): number {
    return this.#received;
  }

  /** When the program ended, in ms since the epoch. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  async flush(): Promise<void> {
    if (!this.#open) return;
    const number = ++this.#flushNumber;
    const flushed = deferred();
    this.#flushes.set(number, flushed);
    this.#init.post('flush', undefined, number);
    await settledWithin(flushed.promise, flushMs);
    this.#flushes.delete(number);
  }

  async resize(size: Size): Promise<void> {
    checkSize(size);
    if (this.#open) this.#init.post('resize', encode(size));
  }

  async kill(signal: Signal): Promise<void> {
    if (this.#open) this.#init.post('kill', encode({ signal }));
  }

  conceal(text: string): void {
    this.#init.post('conceal', Buffer.from(text));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposing ??= this.#dispose();
    return this.#disposing;
  }

  // What the keeper says.

  data(bytes: Uint8Array, offset: number): void {
    if (!this.#open || offset + bytes.length <= this.#received) return;
    const used = this.#replay ? this.#collect(this.#replay, bytes, offset) : 0;
    if (used === bytes.length) return;
    if (offset > this.#received) this.#skip(offset - this.#received);
    this.#push(bytes.subarray(this.#received - offset));
  }

  flushed(number: number): void {
    this.#flushes.get(number)?.resolve();
  }

  accepted(position: number): void {
    this.#input.accepted(position);
  }

  exit(ended: Ended, at: number): void {
    this.#endedAt = at;
    this.#finish(ended);
  }

  terminated(): void {
    this.#terminated.resolve();
  }

  /** There is a new connection: reads on where it was, types on where the keeper is. */
  reconnected(typed: number): void {
    this.#acked = this.#received;
    this.#input.restart(typed);
    for (const flushed of this.#flushes.values()) flushed.resolve();
  }

  /** The keeper is gone, or has become somebody else's. */
  lost(reason: string): void {
    this.#finish({ by: 'lost', reason });
    this.#terminated.resolve();
  }

  async #dispose(): Promise<void> {
    if (this.#open) {
      this.#init.post('terminate', encode({}));
      await settledWithin(Promise.all([this.#terminated.promise, this.ended]), endMs);
      this.#finish({ by: 'lost', reason: `Process ${this.process.pid} does not end, not even when killed.` });
    }
    if (this.#forgotten) return;
    this.#forgotten = true;
    this.#init.post('forget');
    this.#init.onGone();
  }

  async #leave(): Promise<void> {
    this.#forgotten = true;
    this.#disposing ??= Promise.resolve();
    this.#finish({ by: 'lost', reason: 'This process has let go of it.' });
    this.#init.onGone();
    await this.#init.posted();
  }

  /** How many of the bytes belong to what came before. */
  #collect(replay: { log: OutputLog; readonly to: number }, bytes: Uint8Array, offset: number): number {
    // The ring has dropped more since we were told its start.
    if (offset > this.#received) {
      replay.log = new OutputLog({ capacity: replay.log.capacity, start: offset });
      this.#received = offset;
    }
    const used = Math.max(0, Math.min(bytes.length, replay.to - offset));
    replay.log.append(bytes.subarray(this.#received - offset, used));
    this.#received = Math.max(this.#received, offset + used);
    this.#replayTo(this.#received);
    this.#ack();
    return used;
  }

  #replayTo(offset: number): void {
    if (!this.#replay || offset < this.#replay.to) return;
    this.#replayed.resolve(this.#replay.log);
    this.#replay = undefined;
  }

  /**
   * Output the keeper had to drop while this process stood still. The bytes that follow keep their offsets, so what is
   * missing is filled up: with a word about it, and then with what no terminal shows.
   */
  #skip(count: number): void {
    const note = Buffer.from(`\r\n[fairlead: ${count} bytes of output are missing here]\r\n`);
    this.#push(count >= note.length ? note : blank.subarray(0, count));
    for (let left = count - note.length; left > 0; left -= blank.length) this.#push(blank.subarray(0, left));
  }

  #push(bytes: Uint8Array): void {
    this.#received += bytes.length;
    this.output.push(bytes);
    this.#ack();
  }

  #ack(): void {
    const taken = this.#received - this.output.size;
    if (taken - this.#acked < ackBytes) return;
    this.#acked = taken;
    this.#init.post('ack', undefined, taken);
  }

  #finish(ended: Ended): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.end();
    if (this.#replay) this.#replayTo(this.#replay.to);
    for (const flushed of this.#flushes.values()) flushed.resolve();
    this.output.end();
    this.#end.resolve(ended);
  }
}
