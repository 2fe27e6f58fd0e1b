import type { Socket } from 'node:net';
import { frame, frameHead } from '../frames.ts';
import type { KeeperTerminal } from './keeper-terminal.ts';
import { encode, windowBytes } from '../../../resumable/messages.ts';

/** Sent in one go. With one such buffer per client, a slow one costs no more memory than a quick one. */
const batchBytes = 256 << 10;
const pieceBytes = 64 << 10;
const littleBytes = 4 << 10;
/** More answers than this waiting, and no more questions are read. */
const mostControl = 1 << 20;
const nothing = new Uint8Array(0);

/** How far one client has read one terminal. */
export class ReadPosition {
  readonly terminal: KeeperTerminal;
  /** Undefined until the client wants its output. */
  sentTo: number | undefined;
  /** The client has taken in everything before. */
  taken = 0;
  exitTold = false;
  /** Hands the terminal out and says so, once everything that was read is sent. Nothing is read until then. */
  offer: (() => Buffer | undefined) | undefined;
  /** How many times the client has said what to conceal. */
  conceals = 0;
  /** The client reads it itself. */
  isLeased = false;
  readonly flushes: { readonly number: number; readonly to: number }[] = [];

  constructor(held: KeeperTerminal) {
    this.terminal = held;
  }

  want(from: number): void {
    this.sentTo = from;
    this.taken = from;
    this.exitTold = false;
    this.isLeased = false;
  }

  handedOut(): void {
    this.sentTo = undefined;
    this.isLeased = true;
  }

  /** Its client has enough for now. */
  get isFull(): boolean {
    return this.sentTo !== undefined && this.terminal.log.end - this.taken >= this.window;
  }

  get window(): number {
    return Math.min(windowBytes, this.terminal.log.capacity >> 1);
  }

  /** What may be sent: after the end everything, for the end comes behind it. */
  get limit(): number {
    const { log, ended } = this.terminal;
    return ended ? log.end : Math.min(log.end, this.taken + this.window);
  }
}

/** Sends answers, and output straight from the rings: at any time one batch is under way, and the rest stays where it is. */
export class Outlet {
  readonly #socket: Socket;
  readonly #lanes: ReadonlyMap<string, ReadPosition>;
  readonly #buffer = Buffer.allocUnsafeSlow(batchBytes);
  #control: Buffer[] = [];
  #controlBytes = 0;
  #filled = 0;
  #busy = false;
  #later: NodeJS.Immediate | undefined;
  /** The lane whose turn it is, so that a flood on one does not starve the others. */
  #turn = 0;

  constructor(socket: Socket, lanes: ReadonlyMap<string, ReadPosition>) {
    this.#socket = socket;
    this.#lanes = lanes;
  }

  send(bytes: Buffer): void {
    this.#control.push(bytes);
    this.#controlBytes += bytes.length;
    if (this.#controlBytes > mostControl) this.#socket.pause();
    this.kick();
  }

  /** With the output that comes next, or by itself in the next turn of the loop: one message instead of two. */
  sendLater(bytes: Buffer): void {
    this.#control.push(bytes);
    this.#controlBytes += bytes.length;
    this.#kickLater();
  }

  /** A little output is somebody's echo and goes at once; of much, more comes in the same turn of the loop. */
  printed(lane: ReadPosition): void {
    if (lane.terminal.log.end - (lane.sentTo ?? 0) < littleBytes) this.kick();
    else this.#kickLater();
  }

  #kickLater(): void {
    this.#later ??= setImmediate(() => this.kick());
  }

  /** There may be something to send. */
  kick(): void {
    if (this.#later) clearImmediate(this.#later);
    this.#later = undefined;
    if (this.#busy || this.#socket.destroyed) return;
    const control = this.#control;
    try {
      this.#fill();
    } catch (thrown) {
      // Part of it counts as sent, and is not: on a new connection it is sent again.
      return void this.#socket.destroy(thrown as Error);
    }
    if (control.length === 0 && this.#filled === 0) return;
    this.#control = [];
    this.#controlBytes = 0;
    this.#busy = true;
    this.#socket.cork();
    for (const bytes of control) this.#socket.write(bytes);
    this.#socket.write(this.#buffer.subarray(0, this.#filled), () => {
      this.#busy = false;
      this.#socket.resume();
      this.kick();
    });
    this.#socket.uncork();
  }

  #fill(): void {
    this.#filled = 0;
    const lanes = [...this.#lanes.values()];
    for (let round = 0; round < lanes.length; round++) {
      const lane = lanes[(this.#turn + round) % lanes.length];
      if (lane && !this.#fillFrom(lane)) {
        this.#turn = (this.#turn + round) % lanes.length;
        return;
      }
    }
    this.#turn += 1;
  }

  /** False when there is no more room. */
  #fillFrom(lane: ReadPosition): boolean {
    const { terminal: held } = lane;
    const { log } = held;
    if (lane.sentTo === undefined) return this.#fillFlushes(lane);
    // Whatever the ring has dropped meanwhile is gone; the offset tells.
    for (let from = Math.max(lane.sentTo, log.start); from < lane.limit; from = lane.sentTo) {
      const room = batchBytes - this.#filled - 300;
      if (room < 1024) return false;
      const to = Math.min(lane.limit, from + Math.min(room, pieceBytes));
      this.#put(frameHead('data', held.id, to - from, from));
      for (const view of log.views(from, to)) this.#put(view);
      lane.sentTo = to;
    }
    if (batchBytes - this.#filled < 1024) return false;
    if (lane.offer && lane.sentTo >= log.end) this.#put(lane.offer() ?? nothing);
    // After the offer: whoever has the terminal reads the rest itself before it hears of its flush.
    if (!this.#fillFlushes(lane)) return false;
    if (held.ended && !lane.exitTold && lane.sentTo >= log.end) {
      const exit = frame('exit', held.id, encode({ ended: held.ended, at: held.listed.endedAt ?? 0 }));
      if (batchBytes - this.#filled < exit.length) return false;
      this.#put(exit);
      lane.exitTold = true;
      held.told();
    }
    return true;
  }

  /** Answers what waits for output that was sent, or that the client reads itself. */
  #fillFlushes(lane: ReadPosition): boolean {
    const { sentTo, flushes, terminal: held } = lane;
    while (flushes[0] && (sentTo === undefined || flushes[0].to <= sentTo || sentTo >= lane.limit)) {
      if (batchBytes - this.#filled < 1024) return false;
      this.#put(frame('flushed', held.id, undefined, flushes.shift()?.number));
    }
    return true;
  }

  #put(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}
