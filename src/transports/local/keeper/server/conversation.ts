import type { Socket } from 'node:net';
import { FairleadError } from '../../../../contract/errors.ts';
import type { Signal } from '../../../../engine/terminal/channel.ts';
import { isAlive, startTime } from '../../pty/proc.ts';
import type { SharedCalls } from '../lease/shared-calls.ts';
import { type FrameFaults, mostNoted } from '../frame-faults.ts';
import { type Frame, type FrameType, frame, frameTypes, frameVersion } from '../frames.ts';
import type { KeeperTerminal } from './keeper-terminal.ts';
import { Leases } from '../lease/leases.ts';
import { ReadPosition, Outlet } from './outlet.ts';
import { Pulse } from './pulse.ts';
import { decode, encode, type Kill, type Terminate, unseen } from '../../../resumable/messages.ts';
import type { KeeperResize, Replace, Returned, Spawn } from '../messages.ts';

/** What a keeper does for its client. */
export interface KeeperActions {
  readonly all: ReadonlyMap<string, KeeperTerminal>;
  readonly spawn: (id: string, spawn: Partial<Spawn>) => KeeperTerminal;
  readonly forget: (held: KeeperTerminal) => void;
  readonly end: () => void;
  readonly replace: (argv: readonly [string, ...string[]]) => void;
  readonly faults: FrameFaults;
  readonly complain: (thrown: unknown) => void;
  readonly pid: number;
  readonly startTime: number;
}

/** Typed by a person, not pasted. */
const keystroke = 64;

/**
 * The talk with the one instance that has this keeper. A reader that says "not yet" makes the program wait, as in any
 * terminal; one that says nothing at all does not: then the ring drops its oldest bytes, and offsets tell.
 */
export class Conversation implements Disposable {
  readonly pid: number;
  readonly #keeper: KeeperActions;
  readonly #lanes = new Map<string, ReadPosition>();
  readonly #outlet: Outlet;
  readonly #handlers: Readonly<Record<number, (frame: Frame) => void>> = {
    [frameTypes.ping]: () => this.#tell('pong'),
    [frameTypes.spawn]: (one) => this.#spawn(one),
    [frameTypes.want]: (one) => this.#want(one),
    [frameTypes.ack]: (one) => this.#ack(one),
    [frameTypes.flush]: (one) => void this.#flush(one).catch(() => {}),
    [frameTypes.input]: (one) => this.#input(one),
    [frameTypes.conceal]: (one) => this.#conceal(one),
    [frameTypes.resize]: (one) => this.#resize(one),
    [frameTypes.kill]: (one) => this.#kill(one),
    [frameTypes.terminate]: (one) => void this.#terminate(one).catch(() => {}),
    [frameTypes.returned]: (one) => this.#returned(one),
    [frameTypes.forget]: (one) => this.#forget(one),
    [frameTypes.meta]: (one) => this.#meta(one),
    [frameTypes.snapshot]: (one) => this.#snapshot(one),
    [frameTypes.replace]: (one) => this.#replace(one),
    [frameTypes.end]: () => this.#keeper.end(),
  };
  /** When the client's process was started. */
  readonly #startTime: number | undefined;
  readonly #leases: Leases | undefined;
  /** What came behind the last word is said again over the next connection. */
  #over = false;
  readonly #pulse = new Pulse({
    ask: () => this.#tell('ping'),
    isAwaited: () => [...this.#lanes.values()].some(({ terminal: held }) => held.isWaiting),
    onSilent: () => {
      for (const { terminal: held } of this.#lanes.values()) held.look();
    },
  });

  constructor(socket: Socket, pid: number, held: KeeperActions, shared?: SharedCalls) {
    this.pid = pid;
    this.#startTime = startTime(pid);
    this.#keeper = held;
    this.#outlet = new Outlet(socket, this.#lanes);
    const kick = (): void => this.#outlet.kick();
    if (shared) this.#leases = new Leases({ calls: shared, pid, kick, tell: (...what) => this.#tell(...what) });
    for (const terminal of held.all.values()) this.#join(terminal);
  }

  welcome(wanted: Readonly<Record<string, number>>): void {
    for (const { id, meta, snapshot } of this.#keeper.all.values()) {
      if (meta) this.#tell('meta', id, meta);
      if (snapshot) this.#tell('snapshot', id, snapshot.bytes, snapshot.at);
    }
    const { pid, startTime } = this.#keeper;
    // Who comes back sends again what was not accepted; who is new types behind all that waits.
    const terminals = [...this.#keeper.all.values()].map((held) => ({
      ...held.listed,
      input: held.id in wanted ? held.typed : held.queued,
    }));
    this.#tell('welcome', '', encode({ version: frameVersion, pid, startTime, terminals, ...this.#ticket }));
    for (const [id, from] of Object.entries(wanted)) this.#lanes.get(id)?.want(from);
    this.#outlet.kick();
  }

  /** Its connection for descriptors; false when it is not its. */
  attach(socket: Socket, ticket: string): boolean {
    if (!this.#leases?.attach(socket, ticket)) return false;
    for (const lane of this.#lanes.values()) this.#leases.look(lane);
    return true;
  }

  /** It has terminals lent to it, and lives: nobody else can have them. */
  get mayRead(): boolean {
    const some = [...this.#lanes.values()].some(({ isLeased }) => isLeased);
    return some && isAlive(this.pid, this.#startTime);
  }

  get #ticket(): { readonly ticket?: string } {
    return this.#leases ? { ticket: this.#leases.ticket } : {};
  }

  /** Whether it says something within the time. */
  isThere(ms: number): Promise<boolean> {
    return this.#pulse.isThere(ms);
  }

  hear(frames: readonly Frame[]): void {
    this.#pulse.heard();
    // Types without a row are skipped: they are for the other side, or from the future.
    for (const one of frames) if (!this.#over) this.#take(one);
  }

  /**
   * A mistake of ours ends the connection: whoever missed something comes back and tells it again, one that did not know would
   * wait for it. What cannot be heard even then is left out.
   */
  #take(one: Frame): void {
    try {
      this.#handlers[one.type]?.(one);
    } catch (thrown) {
      const times = this.#keeper.faults.count(one.id);
      if (times === 1) throw thrown;
      if (times <= mostNoted) this.#keeper.complain(thrown);
    }
  }

  /** A terminal that came to be. */
  #join(held: KeeperTerminal): ReadPosition {
    const lane = new ReadPosition(held);
    this.#lanes.set(held.id, lane);
    held.onChange = () => this.#outlet.printed(lane);
    held.mustWait = () => {
      if (!lane.isFull || this.#pulse.isSilent) return false;
      this.#pulse.watch();
      return true;
    };
    held.onOpen = () => this.#leases?.look(lane);
    held.onAccepted = (length) => this.#accepted(lane, length);
    return lane;
  }

  /** Says no more about it. */
  leave(held: KeeperTerminal): void {
    const lane = this.#lanes.get(held.id);
    held.seen = Math.max(held.seen, lane?.sentTo ?? 0);
    this.#lanes.delete(held.id);
    held.onChange = () => {};
    held.onOpen = () => {};
    held.onAccepted = () => {};
    if (lane) this.#leases?.forget(lane);
    held.mustWait = () => false;
    held.look();
  }

  /** Its connection is over. True when it may still read what it was lent: the rest is its no longer. */
  part(): boolean {
    const { mayRead } = this;
    for (const { terminal: held, isLeased } of this.#lanes.values()) if (!isLeased) this.leave(held);
    return mayRead;
  }

  /** Nobody waits for it any more. */
  [Symbol.dispose](): void {
    this.#over = true;
    this.#pulse[Symbol.dispose]();
    for (const { terminal: held } of this.#lanes.values()) this.leave(held);
    this.#leases?.[Symbol.dispose]();
  }

  #tell(type: FrameType, id = '', body?: Uint8Array, offset?: number): void {
    this.#outlet.send(frame(type, id, body, offset));
  }

  #spawn({ id, body }: Frame): void {
    try {
      const held = this.#keeper.spawn(id, decode<Spawn>(body) ?? {});
      const lane = this.#join(held);
      const { pid, startTime, terminal } = held;
      this.#tell('spawned', id, encode({ pid, startTime, terminal }));
      lane.want(0);
      this.#leases?.look(lane);
    } catch (thrown) {
      const { code, message, hint, data } =
        thrown instanceof FairleadError
          ? thrown
          : { code: 'internal', message: String(thrown), hint: undefined, data: undefined };
      this.#tell('failed', id, encode({ code, message, hint, data }));
    }
  }

  #want({ id, offset }: Frame): void {
    const lane = this.#lanes.get(id);
    if (!lane || lane.isLeased) return;
    lane.want(offset);
    lane.terminal.look();
    this.#leases?.look(lane);
    this.#outlet.kick();
  }

  #returned({ id, body }: Frame): void {
    const lane = this.#lanes.get(id);
    if (lane) this.#leases?.returned(lane, decode<Returned>(body)?.refused === true);
    this.#outlet.kick();
  }

  #ack({ id, offset }: Frame): void {
    const lane = this.#lanes.get(id);
    if (!lane) return;
    lane.taken = Math.max(lane.taken, Math.min(offset, lane.terminal.log.end));
    lane.terminal.look();
    this.#leases?.look(lane);
    this.#outlet.kick();
  }

  async #flush({ id, offset }: Frame): Promise<void> {
    const lane = this.#lanes.get(id);
    if (!lane || lane.sentTo === undefined) return this.#tell('flushed', id, undefined, offset);
    await lane.terminal.flush();
    lane.flushes.push({ number: offset, to: lane.terminal.log.end });
    this.#outlet.kick();
  }

  #input({ id, offset, body }: Frame): void {
    const held = this.#keeper.all.get(id);
    // A client that reconnected repeats bytes that may have arrived.
    const bytes = held && offset <= held.queued ? unseen(body, offset, held.queued) : undefined;
    if (bytes) held?.type(bytes);
  }

  /** It may have been typed by a client before this one. */
  #accepted(lane: ReadPosition, length: number): void {
    const { terminal: held } = lane;
    this.#outlet.sendLater(frame('accepted', held.id, undefined, held.typed));
    // The echo of a key is there already, as a rule: both go in one message.
    if (length <= keystroke && !held.isWaiting) Promise.resolve(held.channel.flush?.()).catch(() => {});
    this.#leases?.look(lane);
  }

  #conceal({ id, body }: Frame): void {
    const lane = this.#lanes.get(id);
    if (lane) lane.conceals += 1;
    // Offered and not yet handed out: it stays here, with the one who masks. If it is on its way, the client sends it back.
    if (lane?.offer) this.#leases?.recall(lane);
    this.#keeper.all.get(id)?.conceal(body);
  }

  #resize({ id, body }: Frame): void {
    const held = this.#keeper.all.get(id);
    const { cols, rows, done = false } = decode<KeeperResize>(body) ?? {};
    if (!held || cols === undefined || rows === undefined) return;
    held.size = { cols, rows };
    if (!done) held.channel.resize?.({ cols, rows }).catch(() => {});
  }

  #kill({ id, body }: Frame): void {
    const held = this.#keeper.all.get(id);
    const { signal } = decode<Kill>(body) ?? {};
    if (held?.isItself === true && isSignal(signal)) held.channel.kill?.(signal).catch(() => {});
  }

  async #terminate({ id, body }: Frame): Promise<void> {
    const { graceMs } = decode<Terminate>(body) ?? {};
    await this.#keeper.all.get(id)?.terminate(typeof graceMs === 'number' ? graceMs : undefined);
    this.#tell('terminated', id);
  }

  #forget({ id }: Frame): void {
    const held = this.#keeper.all.get(id);
    if (held?.ended) this.#keeper.forget(held);
    // Whoever had it ended waited long enough for that, and does not say it again.
    else if (held?.isEnding === true)
      void held.done.then(() => this.#keeper.all.get(id) === held && this.#keeper.forget(held));
  }

  #meta({ id, body }: Frame): void {
    const held = this.#keeper.all.get(id);
    // A copy: what came is a view into a larger buffer.
    if (held) held.meta = new Uint8Array(body);
  }

  #snapshot({ id, offset, body }: Frame): void {
    const held = this.#keeper.all.get(id);
    if (held) held.snapshot = { at: offset, bytes: new Uint8Array(body) };
  }

  #replace({ body }: Frame): void {
    const { argv } = decode<Replace>(body) ?? {};
    if (argv?.[0] !== undefined) this.#keeper.replace(argv);
  }
}

const signals: ReadonlySet<unknown> = new Set<Signal>([
  'INT',
  'TERM',
  'HUP',
  'KILL',
  'QUIT',
  'USR1',
  'USR2',
  'STOP',
  'CONT',
]);
const isSignal = (signal: unknown): signal is Signal => signals.has(signal);
