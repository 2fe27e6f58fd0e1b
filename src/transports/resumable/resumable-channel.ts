import type { Channel, DurableFarSide, Ended, Signal, Size } from '../../engine/terminal/channel.ts';
import type { OutputLog } from '../../engine/terminal/output-log.ts';
import { ByteQueue } from '../../lib/byte-queue.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import { settledWithin } from '../../system/settled-within.ts';
import type { FrameLink } from './frame-link.ts';
import { ackBytes, encode, type Terminate, unseen, windowBytes } from './messages.ts';
import { missing } from './missing.ts';
import { RepeatedRequests } from './repeated-requests.ts';
import { Replay } from './replay.ts';
import { ResumableInput } from './resumable-input.ts';

export interface ResumableInit {
  readonly link: FrameLink;
  /** Offset of the first byte of output to come. */
  readonly from: number;
  /** Bytes of input that were accepted before. */
  readonly typed: number;
  /** The output before this offset goes into a log of its own, of this capacity. */
  readonly replay?: { readonly to: number; readonly capacity: number } | undefined;
  /** Gets back each chunk of output once the reader is done with it. */
  readonly recycle?: (chunk: Uint8Array) => void;
  /** How long disposing lets the program save its work, and how the channel ends if the far side never confirms the end. */
  readonly disposal: { readonly graceMs: number; readonly unconfirmed: Ended };
  /** The channel was disposed or left: its owner forgets it. False if the far side may not know that it was disposed. */
  readonly onGone: (isKnown: boolean) => void;
}

/** An answer to a flush that takes longer is not waited for. */
const flushMs = 1000;
/** The far side ends a program within this time after its grace, or never. */
const endMs = 2500;

/**
 * A channel that survives its connections. Every byte of output has an offset and every byte of input a position, so a new
 * connection goes on where the old one broke: no output is delivered twice, no input typed twice.
 */
export class ResumableChannel implements Channel {
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  readonly durable: DurableFarSide;
  readonly input: ResumableInput;
  readonly #init: ResumableInit;
  readonly #link: FrameLink;
  readonly #requests: RepeatedRequests;
  readonly #replay: Replay;
  readonly #end = deferred<Ended>();
  readonly #flushes = new Map<number, Deferred<void>>();
  readonly #terminated = deferred();
  #flushNumber = 0;
  #received: number;
  /** The far side knows that everything before this offset was consumed. */
  #acked: number;
  #open = true;
  #forgotten = false;
  #graceMs = Number.POSITIVE_INFINITY;
  #disposing: Promise<void> | undefined;

  constructor(init: ResumableInit) {
    const { link, from, replay, recycle } = init;
    this.#init = init;
    this.#link = link;
    this.#received = from;
    this.#acked = from;
    this.output = new ByteQueue(
      windowBytes >> 1,
      () => this.#ack(true),
      (chunk) => {
        recycle?.(chunk);
        this.#ack();
      },
    );
    this.#replay = new Replay(from, replay?.to ?? from, replay?.capacity);
    this.#requests = new RepeatedRequests(link);
    this.ended = this.#end.promise;
    this.input = new ResumableInput(init.typed, (bytes, at) => void link.send('input', bytes, at));
    this.durable = {
      note: (body) => this.#requests.remember('meta', { body }),
      save: (body, offset) => this.#requests.remember('snapshot', { body, offset }),
      leave: () => this.#leave(),
    };
  }

  /** The output before the offset that was asked for; `output` has the rest. Settles with less if the channel ends. */
  get replayed(): Promise<OutputLog> {
    return this.#replay.log;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Offset of the next byte of output: a new connection asks for output from here on. */
  get received(): number {
    return this.#received;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.input.write(bytes);
  }

  flush(): void | Promise<void> {
    if (!this.#open) return;
    const number = ++this.#flushNumber;
    const flushed = deferred();
    this.#flushes.set(number, flushed);
    this.#link.send('flush', undefined, number);
    // A link that is fast enough answers within the call.
    if (this.#flushes.has(number)) return this.#untilFlushed(number, flushed.promise);
  }

  async #untilFlushed(number: number, flushed: Promise<void>): Promise<void> {
    await settledWithin(flushed, flushMs);
    this.#flushes.delete(number);
  }

  async resize(size: Size): Promise<void> {
    if (this.#open) this.#requests.resize(size);
  }

  async kill(signal: Signal): Promise<void> {
    if (this.#open) this.#requests.kill(signal);
  }

  conceal(secret: string | Uint8Array): void {
    this.#requests.conceal(secret, this.input.end);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.endWithin(this.#init.disposal.graceMs);
  }

  endWithin(graceMs: number): Promise<void> {
    // The shortest grace that was asked for counts.
    if (this.#open && !this.#forgotten && graceMs < this.#graceMs) {
      this.#graceMs = graceMs;
      this.#terminate();
    }
    this.#disposing ??= this.#dispose(graceMs);
    return this.#disposing;
  }

  // Frames from the far side.

  data(bytes: Uint8Array, offset: number): void {
    let rest = this.#open ? unseen(bytes, offset, this.#received) : undefined;
    if (rest && !this.#replay.isOver) {
      this.#replay.take(bytes, offset);
      this.#received = this.#replay.at;
      this.#ack();
      rest = unseen(bytes, offset, this.#received);
    }
    if (!rest) return;
    // The far side has dropped what is missing: the offsets of what follows stay right.
    for (const filler of offset > this.#received ? missing(offset - this.#received) : []) this.#push(filler);
    this.#push(rest);
  }

  flushed(number: number): void {
    this.#flushes.get(number)?.resolve();
    this.#flushes.delete(number);
  }

  /** The program's terminal has accepted all input before this position. */
  accepted(position: number): void {
    this.#requests.accepted(position);
    this.input.accepted(position);
  }

  exit(ended: Ended): void {
    this.#finish(ended);
  }

  terminated(): void {
    this.#terminated.resolve();
  }

  /** There is a new connection. The far side has accepted input up to `typed`, and holds what was sent up to `queued`. */
  reconnected(typed: number, queued?: number): void {
    this.#acked = this.#received;
    this.#requests.repeat();
    this.input.restart(typed, queued);
    this.#requests.repeatSignals();
    if (this.#disposing) this.#terminate();
    for (const number of this.#flushes.keys()) this.flushed(number);
  }

  /** The far side is gone for good. */
  lost(reason: string): void {
    this.#finish({ by: 'lost', reason });
    this.#terminated.resolve();
  }

  #terminate(): void {
    this.#link.send('terminate', encode({ graceMs: this.#graceMs } satisfies Terminate));
  }

  async #dispose(graceMs: number): Promise<void> {
    if (this.#open) {
      await settledWithin(Promise.all([this.#terminated.promise, this.ended]), graceMs + endMs);
      this.#finish(this.#init.disposal.unconfirmed);
    }
    if (this.#forgotten) return;
    this.#forgotten = true;
    this.#init.onGone(this.#link.send('forget'));
  }

  async #leave(): Promise<void> {
    this.#forgotten = true;
    this.#disposing ??= Promise.resolve();
    this.#finish({ by: 'lost', reason: 'This process released the terminal.' });
    this.#init.onGone(true);
    await this.#link.delivered();
  }

  #push(bytes: Uint8Array): void {
    this.#received += bytes.length;
    this.output.push(bytes);
    this.#ack();
  }

  /** Acknowledges what the reader has consumed: always when `output` has room again, else once it is worth a frame. */
  #ack(hasRoom = false): void {
    const consumed = this.#received - this.output.size;
    if (!hasRoom && consumed - this.#acked < ackBytes) return;
    this.#acked = Math.max(this.#acked, consumed);
    this.#link.send('ack', undefined, consumed);
  }

  #finish(ended: Ended): void {
    if (!this.#open) return;
    this.#link.finished();
    this.#open = false;
    this.input.close();
    this.#replay.finish();
    for (const number of this.#flushes.keys()) this.flushed(number);
    this.output.end();
    this.#end.resolve(ended);
  }
}
