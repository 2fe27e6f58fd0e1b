import type { Socket } from 'node:net';
import { frame, frameHead } from '../frames.ts';
import type { KeeperTerminal } from './keeper-terminal.ts';
import { encode, windowBytes } from '../../../resumable/messages.ts';

/** One write. A client has one such buffer, so a slow client costs no more memory than a fast one. */
const batchBytes = 256 << 10;
const pieceBytes = 64 << 10;
const littleBytes = 4 << 10;
/** With more answers than this waiting, no more frames are read. */
const mostControl = 1 << 20;
const nothing = new Uint8Array(0);

/** How far the client has read one terminal. */
export class ReadPosition {
  readonly terminal: KeeperTerminal;
  /** Undefined until the client wants its output. */
  sentTo: number | undefined;
  /** The client has consumed everything before. */
  taken = 0;
  exitTold = false;
  /** Called once everything in the log is sent; the frame it returns is sent next. */
  onCaughtUp: (() => Buffer | undefined) | undefined;
  readonly flushes: { readonly number: number; readonly to: number }[] = [];

  constructor(terminal: KeeperTerminal) {
    this.terminal = terminal;
  }

  want(from: number): void {
    this.sentTo = from;
    this.taken = from;
    this.exitTold = false;
  }

  /** The client has to consume before more is sent. */
  get isFull(): boolean {
    return this.sentTo !== undefined && this.terminal.log.end - this.taken >= this.window;
  }

  get window(): number {
    return Math.min(windowBytes, this.terminal.log.capacity >> 1);
  }

  /** What may be sent: after the program's end everything, since `exit` follows it. */
  get limit(): number {
    const { log, ended } = this.terminal;
    return ended ? log.end : Math.min(log.end, this.taken + this.window);
  }
}

/** Sends answers, and output straight from the rings: one batch at a time, and the rest stays in its ring. */
export class Outlet {
  readonly #socket: Socket;
  readonly #positions: ReadonlyMap<string, ReadPosition>;
  readonly #buffer = Buffer.allocUnsafeSlow(batchBytes);
  #control: Buffer[] = [];
  #controlBytes = 0;
  #filled = 0;
  #busy = false;
  #later: NodeJS.Immediate | undefined;
  /** The terminal whose turn it is, so that a flood in one does not starve the others. */
  #turn = 0;

  constructor(socket: Socket, positions: ReadonlyMap<string, ReadPosition>) {
    this.#socket = socket;
    this.#positions = positions;
  }

  send(bytes: Buffer): void {
    this.#control.push(bytes);
    this.#controlBytes += bytes.length;
    if (this.#controlBytes > mostControl) this.#socket.pause();
    this.kick();
  }

  /** With the next output, or by itself in the next turn of the event loop: one message instead of two. */
  sendLater(bytes: Buffer): void {
    this.#control.push(bytes);
    this.#controlBytes += bytes.length;
    this.#kickLater();
  }

  /** A little output is an echo and goes at once; of much output, more comes in the same turn of the event loop. */
  printed(position: ReadPosition): void {
    if (position.terminal.log.end - (position.sentTo ?? 0) < littleBytes) this.kick();
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
      // Part of the batch counts as sent: a new connection sends it again.
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
    const positions = [...this.#positions.values()];
    for (let round = 0; round < positions.length; round++) {
      const position = positions[(this.#turn + round) % positions.length];
      if (position && !this.#fillFrom(position)) {
        this.#turn = (this.#turn + round) % positions.length;
        return;
      }
    }
    this.#turn += 1;
  }

  /** False if the batch is full. */
  #fillFrom(position: ReadPosition): boolean {
    const { terminal } = position;
    const { log } = terminal;
    if (position.sentTo === undefined) return this.#fillFlushes(position);
    // The client sees from the offset what the ring has dropped.
    for (let from = Math.max(position.sentTo, log.start); from < position.limit; from = position.sentTo) {
      const room = batchBytes - this.#filled - 300;
      if (room < 1024) return false;
      const to = Math.min(position.limit, from + Math.min(room, pieceBytes));
      this.#put(frameHead('data', terminal.id, to - from, from));
      for (const view of log.views(from, to)) this.#put(view);
      position.sentTo = to;
    }
    if (batchBytes - this.#filled < 1024) return false;
    if (position.onCaughtUp && position.sentTo >= log.end) this.#put(position.onCaughtUp() ?? nothing);
    // After it: a client that leases the terminal reads the rest before it gets the answer to its flush.
    if (!this.#fillFlushes(position)) return false;
    if (terminal.ended && !position.exitTold && position.sentTo >= log.end) {
      const exit = frame('exit', terminal.id, encode({ ended: terminal.ended, at: terminal.listed.endedAt ?? 0 }));
      if (batchBytes - this.#filled < exit.length) return false;
      this.#put(exit);
      position.exitTold = true;
      terminal.told();
    }
    return true;
  }

  /** Answers flushes whose output was sent, or that the client reads itself. */
  #fillFlushes(position: ReadPosition): boolean {
    const { sentTo, flushes, terminal } = position;
    while (flushes[0] && (sentTo === undefined || flushes[0].to <= sentTo || sentTo >= position.limit)) {
      if (batchBytes - this.#filled < 1024) return false;
      this.#put(frame('flushed', terminal.id, undefined, flushes.shift()?.number));
    }
    return true;
  }

  #put(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}
