import type { Channel, DurableFarSide, Ended, ProcessView, Signal, Size } from '../../engine/terminal/channel.ts';
import type { OutputLog } from '../../engine/terminal/output-log.ts';
import { ByteQueue } from '../../lib/byte-queue.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import { HURRIED_MS, neverEnds } from '../local/pty/ending.ts';
import type { Libc } from '../local/pty/libc.ts';
import { settledWithin } from '../../system/settled-within.ts';
import { recycle } from '../local/pty/slabs.ts';
import { checkSize } from '../local/target.ts';
import { type LeasedDescriptors, closeLeased } from '../local/keeper/lease/descriptors.ts';
import { LeasedTerminal, eitherView } from '../local/keeper/lease/leased-terminal.ts';
import type { FrameType } from '../local/keeper/frames.ts';
import { ResumableInput } from './resumable-input.ts';
import { deviceView } from '../local/keeper/client/device-view.ts';
import {
  ackBytes,
  encode,
  type Leased,
  type Resize,
  type Returned,
  type Spawned,
  type Terminate,
  windowBytes,
} from '../local/keeper/messages.ts';
import { missing } from './missing.ts';
import { Replay } from './replay.ts';

/** Asks the keeper for something; false when it may not hear it: there is no connection, or one that is about to end. */
export type Post = (type: FrameType, body?: Uint8Array, offset?: number) => boolean;

export interface ResumableInit {
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
/** The keeper ends a program within this time after its grace, or it never will. */
const endMs = 2500;

/** A program whose terminal the keeper holds. */
export class ResumableChannel implements Channel {
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  readonly process: ProcessView;
  readonly durable: DurableFarSide;
  readonly #init: ResumableInit;
  readonly #input: ResumableInput;
  readonly #end = deferred<Ended>();
  readonly #flushes = new Map<number, Deferred<void>>();
  readonly #terminated = deferred();
  readonly #replay: Replay;
  /** While the keeper lends us the terminal. */
  #direct: LeasedTerminal | undefined;
  /** How many times the keeper was told what to conceal, over this connection. */
  #conceals = 0;
  /** Secrets, with what was typed before, until the keeper has accepted something typed after. */
  #secrets: { readonly text: Buffer; readonly at: number }[] = [];
  /** What the keeper is to remember, and may not have heard: the newest of each. */
  readonly #unheard = new Map<'meta' | 'snapshot', { readonly body: Uint8Array; readonly offset?: number }>();
  #size: Size | undefined;
  /** Those the keeper has not heard of, the newest last. As in the kernel, one that waits already does not wait twice. */
  readonly #signals = new Set<Signal>();
  #flushNumber = 0;
  /** Offset of the next byte to come, and what the keeper knows to have been taken in. */
  #received: number;
  #acked: number;
  #endedAt: number | undefined;
  #open = true;
  #forgotten = false;
  #graceMs = Number.POSITIVE_INFINITY;
  #disposing: Promise<void> | undefined;

  constructor(init: ResumableInit) {
    this.#init = init;
    this.#received = init.from;
    this.#acked = init.from;
    this.output = new ByteQueue(
      windowBytes >> 1,
      () => (this.#direct ? this.#direct.resume() : this.#ack()),
      (chunk) => {
        recycle(chunk);
        this.#ack();
      },
    );
    this.#replay = new Replay(init.from, init.replay?.to ?? init.from, init.replay?.capacity);
    this.ended = this.#end.promise;
    this.#input = new ResumableInput(init.typed, (bytes, from) => this.#type(bytes, from));
    const outside = deviceView(init.libc, init.process, () => this.#open);
    this.process = eitherView(() => this.#direct?.process, outside);
    this.durable = {
      note: (body) => this.#remember('meta', { body }),
      save: (body, offset) => this.#remember('snapshot', { body, offset }),
      leave: () => this.#leave(),
    };
  }

  /** The output before the offset that was asked for; what comes after is the channel's own. Settles with less at the end. */
  get replayed(): Promise<OutputLog> {
    return this.#replay.log;
  }

  /** The terminal is read and typed into from here, not through the keeper. */
  get isLeased(): boolean {
    return this.#direct !== undefined;
  }

  get received(): number {
    return this.#direct?.position ?? this.#received;
  }

  /** When the program ended, in ms since the epoch. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  flush(): void | Promise<void> {
    return this.#direct ? this.#direct.flush() : this.#flush();
  }

  async #flush(): Promise<void> {
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
    if (!this.#open) return;
    // At once: keys typed after it must not come before it.
    this.#direct?.resize(size);
    this.#size = size;
    this.#init.post('resize', encode({ ...size, done: this.#direct !== undefined } satisfies Resize));
  }

  async kill(signal: Signal): Promise<void> {
    if (!this.#open || this.#init.post('kill', encode({ signal }))) return;
    // Behind the others: of STOP and CONT the last one counts.
    this.#signals.delete(signal);
    this.#signals.add(signal);
  }

  /** The keeper masks; so it has to read. */
  conceal(secret: string | Uint8Array): void {
    this.endLease();
    const text = Buffer.from(secret);
    this.#secrets.push({ text, at: this.#input.end });
    this.#tellSecret(text);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.endWithin(HURRIED_MS);
  }

  endWithin(graceMs: number): Promise<void> {
    // The keeper does not wait longer than whoever asks it last wants to.
    if (this.#open && !this.#forgotten && graceMs < this.#graceMs) {
      this.#graceMs = graceMs;
      this.#terminate();
    }
    this.#disposing ??= this.#dispose(graceMs);
    return this.#disposing;
  }

  // What the keeper says.

  data(bytes: Uint8Array, offset: number): void {
    if (!this.#open || offset + bytes.length <= this.#received) return;
    if (!this.#replay.isOver) {
      const used = this.#replay.take(bytes, offset);
      this.#received = this.#replay.at;
      this.#ack();
      if (used === bytes.length) return;
    }
    for (const filler of offset > this.#received ? missing(offset - this.#received) : []) this.#push(filler);
    this.#push(bytes.subarray(this.#received - offset));
  }

  flushed(number: number): void {
    this.#flushes.get(number)?.resolve();
  }

  accepted(position: number): void {
    // What was typed after a secret was told came after it on the same connection.
    for (const { text, at } of this.#secrets) if (at < position) text.fill(0);
    if (this.#secrets.length > 0) this.#secrets = this.#secrets.filter(({ at }) => at >= position);
    this.#input.accepted(position);
    this.#typeDirectly();
  }

  /** The keeper lends the terminal, and has sent all it had read. It is sent back when it is not, or no longer, for us to read. */
  leased(borrowed: LeasedDescriptors, { epoch = 0, conceals = 0 }: Partial<Leased>): void {
    const { memory } = borrowed;
    const isOurs = this.#open && !this.#direct && memory.head === this.#received && memory.epoch === epoch;
    if (!isOurs || conceals !== this.#conceals) {
      closeLeased(borrowed);
      return void this.#init.post('returned', encode({ refused: !isOurs } satisfies Returned));
    }
    const { libc, process } = this.#init;
    this.#direct = new LeasedTerminal({
      ...borrowed,
      libc,
      epoch,
      process,
      output: this.output,
      onReclaimed: () => this.#stopReading(),
    });
    // It was not read for a moment, and somebody may wait for what was printed meanwhile.
    this.#direct.flush();
    this.#typeDirectly();
  }

  /** The program has ended: what it left behind is read before the keeper ends the terminal. */
  gone(): void {
    this.#direct?.drain();
    this.endLease();
  }

  /** The keeper reads and types on, behind what was read and typed here. */
  endLease(): void {
    this.#stopReading(() => this.#init.post('returned', encode({})));
  }

  /** Also when the keeper took the terminal back because we stood still: it sends what comes after what was read here. */
  #stopReading(stopped = (): void => {}): void {
    const direct = this.#direct;
    if (!direct) return;
    this.#direct = undefined;
    direct.stop();
    this.#received = direct.position;
    this.#acked = direct.position;
    stopped();
    if (direct.types) this.#input.restart(direct.typed);
  }

  exit(ended: Ended, at: number): void {
    this.#endedAt = at;
    this.#finish(ended);
  }

  terminated(): void {
    this.#terminated.resolve();
  }

  /** There is a new connection: reads on where it was, types on where the keeper is. Secrets first: they may be typed next. */
  reconnected(typed: number, queued?: number): void {
    this.#conceals = 0;
    for (const { text } of this.#secrets) this.#tellSecret(text);
    for (const [type, { body, offset }] of this.#unheard) this.#init.post(type, body, offset);
    this.#unheard.clear();
    this.#acked = this.#received;
    // Keys come after the size they were typed at. Both are told again: what was under way may not have arrived.
    if (this.#size) this.#init.post('resize', encode(this.#size));
    this.#input.restart(typed, queued);
    for (const signal of this.#signals) this.#init.post('kill', encode({ signal }));
    this.#signals.clear();
    if (this.#disposing) this.#terminate();
    for (const flushed of this.#flushes.values()) flushed.resolve();
  }

  /** The keeper is gone, or has become somebody else's. */
  lost(reason: string): void {
    this.#finish({ by: 'lost', reason });
    this.#terminated.resolve();
  }

  #terminate(): void {
    this.#init.post('terminate', encode({ graceMs: this.#graceMs } satisfies Terminate));
  }

  async #dispose(graceMs: number): Promise<void> {
    if (this.#open) {
      await settledWithin(Promise.all([this.#terminated.promise, this.ended]), graceMs + endMs);
      this.#finish(neverEnds(this.process.pid));
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

  #tellSecret(text: Buffer): void {
    this.#conceals += 1;
    this.#init.post('conceal', text);
  }

  #remember(type: 'meta' | 'snapshot', what: { readonly body: Uint8Array; readonly offset?: number }): void {
    if (!this.#init.post(type, what.body, what.offset)) this.#unheard.set(type, what);
  }

  #type(bytes: Uint8Array, from: number): void {
    if (!this.#direct?.types) {
      this.#init.post('input', bytes, from);
      return;
    }
    this.#direct.type(bytes).then(
      () => this.#input.accepted(from + bytes.length),
      // Given back: what was not accepted goes through the keeper.
      () => {},
    );
  }

  /** As soon as no key is on its way through the keeper: none may overtake another. */
  #typeDirectly(): void {
    if (this.#direct && !this.#direct.types && this.#input.isSettled) this.#direct.typesFrom(this.#input.position);
  }

  #push(bytes: Uint8Array): void {
    this.#received += bytes.length;
    this.output.push(bytes);
    this.#ack();
  }

  #ack(): void {
    if (this.#direct) return;
    const taken = this.#received - this.output.size;
    if (taken - this.#acked < ackBytes) return;
    this.#acked = taken;
    this.#init.post('ack', undefined, taken);
  }

  #finish(ended: Ended): void {
    if (!this.#open) return;
    this.endLease();
    this.#open = false;
    this.#input.close();
    this.#replay.finish();
    for (const flushed of this.#flushes.values()) flushed.resolve();
    this.output.end();
    this.#end.resolve(ended);
  }
}
