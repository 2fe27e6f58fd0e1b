import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Ended } from '../../../../engine/terminal/channel.ts';
import type { SharedCalls } from './shared-calls.ts';
import { type FrameType, frame } from '../frames.ts';
import { encode } from '../../../resumable/messages.ts';
import type { Leased } from '../messages.ts';
import type { ReadPosition } from '../server/outlet.ts';

export interface LeasesInit {
  readonly calls: SharedCalls;
  /** The process of the client: nobody else gets a descriptor. */
  readonly pid: number;
  readonly tell: (type: FrameType, id: string) => void;
  /** There is something to send. */
  readonly kick: () => void;
}

/** Descriptors that do not get through are sent again after this time. */
const againMs = 20;
const mostTries = 50;

/**
 * Lends terminals to the client of a keeper: it gets descriptors of its own, reads and types itself, and the keeper sleeps. They
 * go over a second connection, because the first is read by Node, which would drop them. The first says `lent` after all
 * that was read before.
 */
export class Leases implements Disposable {
  /** Whoever brings it is the client, or was told by it. */
  readonly ticket = randomBytes(16).toString('hex');
  readonly #init: LeasesInit;
  readonly #refused = new Set<ReadPosition>();
  readonly #later = new Set<NodeJS.Timeout>();
  #socket: Socket | undefined;
  #number = 0;

  constructor(init: LeasesInit) {
    this.#init = init;
  }

  /** The second connection; false when it is somebody else's. */
  attach(socket: Socket, ticket: string): boolean {
    const fd = descriptorOf(socket);
    const given = Buffer.from(ticket);
    const known = Buffer.from(this.ticket);
    const isOurs = given.length === known.length && timingSafeEqual(given, known);
    if (!isOurs || fd === undefined || this.#init.calls.peer(fd) !== this.#init.pid) return false;
    this.#socket = socket;
    return true;
  }

  /** Lends it, if nothing speaks against it: no more is read from here on, and when all that was read is sent, it is handed out. */
  look(lane: ReadPosition, tries = 0): void {
    const { terminal: held } = lane;
    if (
      !this.#socket ||
      this.#socket.destroyed ||
      lane.offer ||
      lane.isLeased ||
      lane.sentTo === undefined ||
      lane.isFull
    )
      return;
    const lending = this.#refused.has(lane) ? undefined : held.lease((ended) => this.#gone(lane, ended));
    if (!lending) return;
    const { memory, master } = lending;
    // What was told since is not in it: then the client does not take the terminal.
    const { conceals } = lane;
    lane.offer = () => {
      lane.offer = undefined;
      this.#number += 1;
      memory.ready(held.typed);
      const fd = this.#socket && descriptorOf(this.#socket);
      if (fd === undefined || !this.#init.calls.send(fd, this.#number, [master, memory.fd])) {
        this.#tryAgain(lane, tries + 1);
        return undefined;
      }
      lane.handedOut();
      const lent: Leased = { number: this.#number, epoch: memory.epoch, conceals };
      return frame('lent', held.id, encode(lent), memory.head);
    };
    this.#init.kick();
  }

  /** The client reads it no more, or could not. */
  returned(lane: ReadPosition, refused: boolean): void {
    if (refused) this.#refused.add(lane);
    if (lane.isLeased) this.#reclaim(lane);
  }

  /** The keeper reads it from here on, whatever the client does. */
  recall(lane: ReadPosition): void {
    lane.offer = undefined;
    this.#reclaim(lane);
  }

  /** Its terminal is no longer the client's. */
  forget(lane: ReadPosition): void {
    this.recall(lane);
    this.#refused.delete(lane);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#later) clearTimeout(timer);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #reclaim(lane: ReadPosition): void {
    const { terminal: held } = lane;
    if (lane.isLeased) lane.want(held.log.end);
    held.reclaim();
  }

  /** The client has the last bytes, if it has the terminal; else they are ours. */
  #gone(lane: ReadPosition, ended: Ended | undefined): void {
    if (lane.isLeased && ended) this.#init.tell('gone', lane.terminal.id);
    else this.recall(lane);
  }

  /** Many at once may be more than a connection holds. */
  #tryAgain(lane: ReadPosition, tries: number): void {
    lane.terminal.reclaim();
    if (tries >= mostTries) return;
    const timer = setTimeout(() => {
      this.#later.delete(timer);
      this.look(lane, tries);
    }, againMs);
    this.#later.add(timer);
  }
}

/** Node does not promise that it is there. Where it is not, nothing is lent. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}
