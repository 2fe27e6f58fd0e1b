import type { Socket } from 'node:net';
import { FairleadError } from '../../../../contract/errors.ts';
import type { Signal } from '../../../../engine/terminal/channel.ts';
import { decode, encode, type Kill, type Terminate, unseen } from '../../../resumable/messages.ts';
import { startTime } from '../../pty/proc.ts';
import { mostNoted } from '../frame-faults.ts';
import { type Frame, type FrameType, frame, frameTypes, frameVersion } from '../frames.ts';
import { Leases } from '../lease/leases.ts';
import { type Lessor, noLeases } from '../lease/lessor.ts';
import type { SharedCalls } from '../lease/shared-calls.ts';
import type { KeeperResize, Replace, Returned, Spawn } from '../messages.ts';
import type { Keeper } from './keeper.ts';
import type { KeeperTerminal } from './keeper-terminal.ts';
import { Outlet, ReadPosition } from './outlet.ts';
import { Pulse } from './pulse.ts';

/** More bytes than this were pasted, not typed. */
const keystroke = 64;

/**
 * The connection with the one instance that has this keeper. A client that does not acknowledge makes the program wait, as any
 * terminal does. A client that is silent does not: then the ring drops its oldest bytes, as the offsets show.
 */
export class Conversation implements Disposable {
  readonly pid: number;
  readonly #keeper: Keeper;
  readonly #positions = new Map<string, ReadPosition>();
  readonly #outlet: Outlet;
  /** Frames about a terminal that the keeper has. */
  readonly #handlers: Readonly<Record<number, (position: ReadPosition, frame: Frame) => void>> = {
    [frameTypes.want]: (position, { offset }) => this.#want(position, offset),
    [frameTypes.ack]: (position, { offset }) => this.#ack(position, offset),
    [frameTypes.input]: ({ terminal }, { offset, body }) => {
      // A client that reconnected repeats bytes that may have arrived.
      const bytes = offset <= terminal.queued ? unseen(body, offset, terminal.queued) : undefined;
      if (bytes) terminal.type(bytes);
    },
    [frameTypes.conceal]: (position, { body }) => {
      this.#leases.conceal(position);
      position.terminal.conceal(body);
    },
    [frameTypes.resize]: ({ terminal }, { body }) => resize(terminal, body),
    [frameTypes.kill]: ({ terminal }, { body }) => kill(terminal, body),
    [frameTypes.returned]: (position, { body }) => {
      this.#leases.returned(position, decode<Returned>(body)?.refused === true);
      this.#outlet.kick();
    },
    [frameTypes.forget]: ({ terminal }) => this.#forget(terminal),
    // A copy: the body is a view into a larger buffer.
    [frameTypes.meta]: ({ terminal }, { body }) => {
      terminal.meta = new Uint8Array(body);
    },
    [frameTypes.snapshot]: ({ terminal }, { offset, body }) => {
      terminal.snapshot = { at: offset, bytes: new Uint8Array(body) };
    },
  };
  /** Frames that are always answered. */
  readonly #general: Readonly<Record<number, (frame: Frame, position: ReadPosition | undefined) => void>> = {
    [frameTypes.ping]: () => this.#tell('pong'),
    [frameTypes.spawn]: (one) => this.#spawn(one),
    [frameTypes.flush]: ({ id, offset }, position) => void this.#flush(id, offset, position).catch(() => {}),
    [frameTypes.terminate]: (one, position) => void this.#terminate(one, position).catch(() => {}),
    [frameTypes.replace]: ({ body }) => {
      const { argv } = decode<Replace>(body) ?? {};
      if (argv?.[0] !== undefined) this.#keeper.replace(argv);
    },
    [frameTypes.end]: () => void this.#keeper.end().catch(() => {}),
  };
  readonly #leases: Lessor;
  /** Later frames are ignored: the client repeats them over its next connection. */
  #over = false;
  readonly #pulse = new Pulse({
    ask: () => this.#tell('ping'),
    isAwaited: () => [...this.#positions.values()].some(({ terminal }) => terminal.isWaiting),
    onSilent: () => {
      for (const { terminal } of this.#positions.values()) terminal.look();
    },
  });

  constructor(socket: Socket, pid: number, keeper: Keeper, calls?: SharedCalls) {
    this.pid = pid;
    this.#keeper = keeper;
    this.#outlet = new Outlet(socket, this.#positions);
    const kick = (): void => this.#outlet.kick();
    this.#leases = calls ? new Leases({ calls, pid, kick, tell: (...what) => this.#tell(...what) }) : noLeases;
    for (const terminal of keeper.terminals.values()) this.#join(terminal);
  }

  welcome(wanted: Readonly<Record<string, number>>): void {
    const all = [...this.#keeper.terminals.values()];
    for (const { id, meta, snapshot } of all) {
      if (meta) this.#tell('meta', id, meta);
      if (snapshot) this.#tell('snapshot', id, snapshot.bytes, snapshot.at);
    }
    const { pid } = process;
    // A client that reconnected repeats what was not accepted; a new one types after everything that waits.
    const terminals = all.map((terminal) => ({
      ...terminal.listed,
      input: terminal.id in wanted ? terminal.typed : terminal.queued,
    }));
    const { ticket } = this.#leases;
    this.#tell(
      'welcome',
      '',
      encode({ version: frameVersion, pid, startTime: startTime(pid) ?? 0, terminals, ticket }),
    );
    for (const [id, from] of Object.entries(wanted)) this.#positions.get(id)?.want(from);
    this.#outlet.kick();
  }

  /** Takes a second connection; false if it is not this client's. */
  attach(socket: Socket, ticket: string): boolean {
    if (!this.#leases.attach(socket, ticket)) return false;
    for (const position of this.#positions.values()) this.#leases.offer(position);
    return true;
  }

  /** The client's process may read terminals without the keeper: no other client can have them. */
  get mayRead(): boolean {
    return this.#leases.isClientReading;
  }

  /** Whether the client says something within the time. */
  isThere(ms: number): Promise<boolean> {
    return this.#pulse.isThere(ms);
  }

  hear(frames: readonly Frame[]): void {
    this.#pulse.heard();
    for (const one of frames) if (!this.#over) this.#take(one);
  }

  /**
   * A fault of ours ends the connection, so that the client repeats what was missed; otherwise it would wait for an answer. What
   * fails a second time is left out. Unknown types are skipped: they come from a newer client.
   */
  #take(one: Frame): void {
    try {
      const position = this.#positions.get(one.id);
      this.#general[one.type]?.(one, position);
      if (position) this.#handlers[one.type]?.(position, one);
    } catch (thrown) {
      const times = this.#keeper.faults.count(one.id);
      if (times === 1) throw thrown;
      if (times <= mostNoted) this.#keeper.complain(thrown);
    }
  }

  #join(terminal: KeeperTerminal): ReadPosition {
    const position = new ReadPosition(terminal);
    this.#positions.set(terminal.id, position);
    terminal.onChange = () => this.#outlet.printed(position);
    terminal.mustWait = () => {
      if (!position.isFull || this.#pulse.isSilent) return false;
      this.#pulse.watch();
      return true;
    };
    terminal.onUnmasked = () => this.#leases.offer(position);
    terminal.onAccepted = (length) => this.#accepted(position, length);
    return position;
  }

  /** The client is told nothing more about this terminal. */
  leave(terminal: KeeperTerminal): void {
    const position = this.#positions.get(terminal.id);
    terminal.seen = Math.max(terminal.seen, position?.sentTo ?? 0);
    this.#positions.delete(terminal.id);
    terminal.onChange = () => {};
    terminal.onUnmasked = () => {};
    terminal.onAccepted = () => {};
    if (position) this.#leases.forget(position);
    terminal.mustWait = () => false;
    terminal.look();
  }

  /** The connection is over. True if the client's process may read on: then those terminals rest until it is certain. */
  part(): boolean {
    const { mayRead } = this;
    for (const position of this.#positions.values()) {
      if (!this.#leases.isLeased(position)) this.leave(position.terminal);
    }
    return mayRead;
  }

  [Symbol.dispose](): void {
    this.#over = true;
    this.#pulse[Symbol.dispose]();
    for (const { terminal } of this.#positions.values()) this.leave(terminal);
    this.#leases[Symbol.dispose]();
  }

  #tell(type: FrameType, id = '', body?: Uint8Array, offset?: number): void {
    this.#outlet.send(frame(type, id, body, offset));
  }

  #spawn({ id, body }: Frame): void {
    try {
      const opened = this.#keeper.spawn(id, decode<Spawn>(body) ?? {});
      const position = this.#join(opened);
      const { pid, startTime: started, terminal } = opened;
      this.#tell('spawned', id, encode({ pid, startTime: started, terminal }));
      position.want(0);
      this.#leases.offer(position);
    } catch (thrown) {
      const known = thrown instanceof FairleadError ? thrown : { code: 'internal', message: String(thrown) };
      const { code, message, hint, data } = known as Partial<FairleadError>;
      this.#tell('failed', id, encode({ code, message, hint, data }));
    }
  }

  #want(position: ReadPosition, offset: number): void {
    if (this.#leases.isLeased(position)) return;
    position.want(offset);
    this.#moved(position);
  }

  #ack(position: ReadPosition, offset: number): void {
    position.taken = Math.max(position.taken, Math.min(offset, position.terminal.log.end));
    this.#moved(position);
  }

  #moved(position: ReadPosition): void {
    position.terminal.look();
    this.#leases.offer(position);
    this.#outlet.kick();
  }

  async #flush(id: string, number: number, position: ReadPosition | undefined): Promise<void> {
    if (position?.sentTo === undefined) return this.#tell('flushed', id, undefined, number);
    await position.terminal.flush();
    position.flushes.push({ number, to: position.terminal.log.end });
    this.#outlet.kick();
  }

  /** Told also when an earlier client typed it. */
  #accepted(position: ReadPosition, length: number): void {
    const { terminal } = position;
    this.#outlet.sendLater(frame('accepted', terminal.id, undefined, terminal.typed));
    // The echo of a key is usually there already: both go in one message.
    if (length <= keystroke && !terminal.isWaiting) Promise.resolve(terminal.channel.flush?.()).catch(() => {});
    this.#leases.offer(position);
  }

  async #terminate({ id, body }: Frame, position: ReadPosition | undefined): Promise<void> {
    const { graceMs } = decode<Terminate>(body) ?? {};
    await position?.terminal.terminate(typeof graceMs === 'number' ? graceMs : undefined);
    this.#tell('terminated', id);
  }

  #forget(terminal: KeeperTerminal): void {
    if (terminal.ended) this.#keeper.forget(terminal);
    // The client that ended it has stopped waiting, and does not repeat this.
    else if (terminal.isEnding) {
      const isKnown = (): boolean => this.#keeper.terminals.get(terminal.id) === terminal;
      void terminal.done.then(() => isKnown() && this.#keeper.forget(terminal));
    }
  }
}

function resize(terminal: KeeperTerminal, body: Uint8Array): void {
  const { cols, rows, done = false } = decode<KeeperResize>(body) ?? {};
  if (cols === undefined || rows === undefined) return;
  terminal.size = { cols, rows };
  if (!done) terminal.channel.resize?.({ cols, rows }).catch(() => {});
}

function kill(terminal: KeeperTerminal, body: Uint8Array): void {
  const { signal } = decode<Kill>(body) ?? {};
  if (terminal.isItself && isSignal(signal)) terminal.channel.kill?.(signal).catch(() => {});
}

const signals: readonly Signal[] = ['INT', 'TERM', 'HUP', 'KILL', 'QUIT', 'USR1', 'USR2', 'STOP', 'CONT'];
const isSignal = (signal: unknown): signal is Signal => signals.includes(signal as Signal);
