import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Ended } from '../../../../engine/terminal/channel.ts';
import { encode } from '../../../resumable/messages.ts';
import { isAlive, startTime } from '../../pty/proc.ts';
import { LinuxPty } from '../../pty/pty-linux.ts';
import { type FrameType, frame } from '../frames.ts';
import type { Leased } from '../messages.ts';
import type { ReadPosition } from '../server/outlet.ts';
import type { Lessor } from './lessor.ts';
import type { SharedCalls } from './shared-calls.ts';
import { SharedLog } from './terminal-log.ts';

interface LeasesInit {
  readonly calls: SharedCalls;
  /** The process of the client: no other gets a descriptor. */
  readonly pid: number;
  readonly tell: (type: FrameType, id: string) => void;
  /** There is something to send. */
  readonly kick: () => void;
}

/** Descriptors that do not get through are sent again after this time. */
const againMs = 20;
const mostTries = 50;

/**
 * Leases terminals to the client of a keeper: the client gets descriptors of its own, reads and types itself, and the keeper
 * sleeps. Descriptors go over a second connection, because Node reads the first one and would drop them. On the first, `lent`
 * follows all output that the keeper has read.
 */
export class Leases implements Lessor {
  readonly ticket = randomBytes(16).toString('hex');
  readonly #init: LeasesInit;
  readonly #startTime: number | undefined;
  readonly #leased = new Set<ReadPosition>();
  readonly #refused = new Set<ReadPosition>();
  /** How many secrets the client has sent. */
  readonly #conceals = new Map<ReadPosition, number>();
  readonly #later = new Set<NodeJS.Timeout>();
  #socket: Socket | undefined;
  #number = 0;

  constructor(init: LeasesInit) {
    this.#init = init;
    this.#startTime = startTime(init.pid);
  }

  get isClientReading(): boolean {
    return this.#leased.size > 0 && isAlive(this.#init.pid, this.#startTime);
  }

  attach(socket: Socket, ticket: string): boolean {
    const fd = descriptorOf(socket);
    const [given, known] = [Buffer.from(ticket), Buffer.from(this.ticket)];
    const isOurs = given.length === known.length && timingSafeEqual(given, known);
    if (!isOurs || fd === undefined || this.#init.calls.peer(fd) !== this.#init.pid) return false;
    this.#socket = socket;
    return true;
  }

  isLeased(position: ReadPosition): boolean {
    return this.#leased.has(position);
  }

  /** The keeper stops reading at once; the client gets the descriptors when everything that was read is sent. */
  offer(position: ReadPosition, tries = 0): void {
    const { terminal } = position;
    const { channel, log } = terminal;
    if (!this.#socket || this.#socket.destroyed || this.#refused.has(position) || this.#leased.has(position)) return;
    if (position.onCaughtUp || position.sentTo === undefined || position.isFull || !terminal.isSettled) return;
    if (!(channel instanceof LinuxPty) || !(log instanceof SharedLog)) return;
    const { memory } = log;
    const master = channel.lease((ended) => this.#gone(position, ended));
    if (master === undefined) return;
    // A client that has sent more secrets since returns the lease.
    const conceals = this.#conceals.get(position) ?? 0;
    position.onCaughtUp = () => {
      position.onCaughtUp = undefined;
      this.#number += 1;
      memory.ready(terminal.typed);
      const fd = this.#socket && descriptorOf(this.#socket);
      if (fd === undefined || !this.#init.calls.send(fd, this.#number, [master, memory.fd])) {
        this.#tryAgain(position, tries + 1);
        return undefined;
      }
      position.sentTo = undefined;
      this.#leased.add(position);
      const lease: Leased = { number: this.#number, epoch: memory.epoch, conceals };
      return frame('lent', terminal.id, encode(lease), memory.head);
    };
    this.#init.kick();
  }

  returned(position: ReadPosition, isRefused: boolean): void {
    if (isRefused) this.#refused.add(position);
    if (this.#leased.has(position)) this.#reclaim(position);
  }

  /** If the descriptors are on their way already, the client returns them. */
  conceal(position: ReadPosition): void {
    this.#conceals.set(position, (this.#conceals.get(position) ?? 0) + 1);
    if (position.onCaughtUp) this.#reclaim(position);
  }

  forget(position: ReadPosition): void {
    this.#reclaim(position);
    this.#refused.delete(position);
    this.#conceals.delete(position);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#later) clearTimeout(timer);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  /** The keeper reads on behind what the client has read, logged or not. */
  #reclaim(position: ReadPosition): void {
    const { terminal } = position;
    position.onCaughtUp = undefined;
    if (this.#leased.delete(position)) position.want(terminal.log.end);
    const { channel, log } = terminal;
    if (!(channel instanceof LinuxPty) || !(log instanceof SharedLog) || !channel.isLeased) return;
    terminal.seen = Math.max(terminal.seen, log.end);
    log.memory.recover();
    terminal.typed = Math.max(terminal.typed, log.memory.typed);
    terminal.queued = Math.max(terminal.queued, terminal.typed);
    channel.reclaim();
  }

  /** The program has ended: a client that leases its terminal reads the last bytes, else the keeper does. */
  #gone(position: ReadPosition, ended: Ended | undefined): void {
    if (this.#leased.has(position) && ended) this.#init.tell('gone', position.terminal.id);
    else this.#reclaim(position);
  }

  /** A connection holds only so many descriptors. */
  #tryAgain(position: ReadPosition, tries: number): void {
    this.#reclaim(position);
    if (tries >= mostTries) return;
    const timer = setTimeout(() => {
      this.#later.delete(timer);
      this.offer(position, tries);
    }, againMs);
    this.#later.add(timer);
  }
}

/** Node does not promise that a socket shows its descriptor. Where it does not, there are no leases. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}
