import { setImmediate } from 'node:timers/promises';
import { OutputLog } from '../../../src/engine/terminal/output-log.ts';
import type { ChannelFrame, FrameLink } from '../../../src/transports/resumable/frame-link.ts';
import { unseen, windowBytes } from '../../../src/transports/resumable/messages.ts';
import { ResumableChannel, type ResumableInit } from '../../../src/transports/resumable/resumable-channel.ts';

/** The far side of a resumable channel, in memory. Frames take a turn of the event loop, and are lost with their connection. */
export class MemoryFarSide implements FrameLink {
  readonly channel: ResumableChannel;
  readonly log: OutputLog;
  /** Everything that was typed, once. */
  typed = '';
  /** Frames that arrived, but for input and acks. */
  readonly heard: string[] = [];
  readonly known: boolean[] = [];
  isFinished = false;
  /** Accepts input as it comes. */
  accepts = true;
  /** Most input that was on its way or waiting, ever. */
  mostPending = 0;
  sentTo: number;
  #acked = 0;
  #pending = '';
  #connection = 1;
  #isConnected = true;

  constructor(init: Partial<ResumableInit> = {}, capacity = 8 << 20) {
    this.log = new OutputLog({ capacity });
    this.sentTo = init.from ?? 0;
    this.channel = new ResumableChannel({
      link: this,
      from: 0,
      typed: 0,
      disposal: { graceMs: 10, unconfirmed: { by: 'lost', reason: 'unconfirmed' } },
      onGone: (isKnown) => this.known.push(isKnown),
      ...init,
    });
  }

  send(type: ChannelFrame, body: Uint8Array = new Uint8Array(0), offset = 0): boolean {
    const bytes = Buffer.from(body);
    if (type === 'input') this.mostPending = Math.max(this.mostPending, offset + bytes.length - this.typed.length);
    this.#later(() => this.#hear(type, bytes, offset));
    return this.#isConnected;
  }

  delivered(): Promise<void> {
    return Promise.resolve();
  }

  finished(): void {
    this.isFinished = true;
  }

  print(text: string): void {
    this.log.append(Buffer.from(text, 'latin1'));
    this.#pump();
  }

  /** Types what waits. */
  accept(): void {
    this.typed += this.#pending;
    this.#pending = '';
    const { length } = this.typed;
    this.#later(() => this.channel.accepted(length));
  }

  /** Loses every frame that is on its way. */
  cut(): void {
    this.#connection += 1;
    this.#isConnected = false;
  }

  /** With `earlier`, sends that many bytes of output again. */
  reconnect(earlier = 0): void {
    this.#isConnected = true;
    this.sentTo = Math.max(0, this.channel.received - earlier);
    this.#acked = this.channel.received;
    this.channel.reconnected(this.typed.length, this.typed.length + this.#pending.length);
    this.#pump();
  }

  #later(run: () => void): void {
    const connection = this.#connection;
    if (!this.#isConnected) return;
    setImmediate().then(
      () => connection === this.#connection && run(),
      () => {},
    );
  }

  #hear(type: ChannelFrame, body: Buffer, offset: number): void {
    if (type === 'ack') {
      this.#acked = Math.max(this.#acked, offset);
      return this.#pump();
    }
    if (type === 'flush') this.#later(() => this.channel.flushed(offset));
    if (type !== 'input') return void this.heard.push(`${type} ${body.toString('latin1')}`.trim());
    const bytes = unseen(body, offset, this.typed.length + this.#pending.length);
    this.#pending += Buffer.from(bytes ?? []).toString('latin1');
    if (this.accepts) this.accept();
  }

  #pump(): void {
    const limit = Math.min(this.log.end, this.#acked + windowBytes);
    for (let from = Math.max(this.sentTo, this.log.start); from < limit; from = this.sentTo) {
      const { bytes } = this.log.read(from, limit, 32 << 10);
      this.sentTo = from + bytes.length;
      this.#later(() => this.channel.data(bytes, from));
    }
  }
}

/** Enough turns for every frame, and the answers to it, to arrive. */
export async function arrived(turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
}
