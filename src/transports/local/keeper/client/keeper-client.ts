import { setTimeout } from 'node:timers/promises';
import { FairleadError } from '../../../../contract/errors.ts';
import type { Size } from '../../../../engine/terminal/channel.ts';
import { incident } from '../../../../system/incident.ts';
import { decode, encode, type Exit } from '../../../resumable/messages.ts';
import type { ResumableInit } from '../../../resumable/resumable-channel.ts';
import type { LocalTarget } from '../../target.ts';
import { FrameFaults, mostNoted } from '../frame-faults.ts';
import { type Frame, frameTypes } from '../frames.ts';
import { type KeeperPlaces, keeperPlaces } from '../keeper-places.ts';
import { openAccess } from '../lease/leased-access.ts';
import type { TerminalAccess } from '../lease/terminal-access.ts';
import type { Failed, Listed, Spawn, Spawned } from '../messages.ts';
import { KeeperChannel } from './keeper-channel.ts';
import { KeeperConnection } from './keeper-connection.ts';
import type { KeeperLink, SavedTerminal } from './keeper-link.ts';
import { Spawns } from './spawns.ts';
import type { KeeperProgram } from './start-keeper.ts';
import { survivors } from './survivors.ts';

export interface KeeperClientOptions {
  /** The keeper's command line, for tests. */
  readonly program?: KeeperProgram;
  /** A keeper that speaks an older version is replaced; for tests. */
  readonly version?: number;
  /** Leases terminals where the system can. Default: true. */
  readonly lease?: boolean;
  /** Told when a keeper ended under its terminals. */
  readonly log?: (message: string) => void;
}

/** A terminal that the keeper held before this process connected. */
export interface ListedTerminal extends SavedTerminal {
  readonly listed: Listed;
}

/** Programs that end at a hang-up have ended after this time. */
const hangUpMs = 300;

/** The keeper of one instance, found or started when it is first needed. */
export function keeperFor(instance: string, home: string, options: KeeperClientOptions = {}): KeeperClient {
  return new KeeperClient(keeperPlaces(instance, home), options);
}

export class KeeperClient implements AsyncDisposable {
  readonly #places: KeeperPlaces;
  readonly #options: KeeperClientOptions;
  readonly #connection: KeeperConnection;
  readonly #channels = new Map<string, KeeperChannel>();
  readonly #spawns = new Spawns();
  /** Closed while there was no connection: the next connection ends them. */
  readonly #unwanted = new Set<string>();
  readonly #faults = new FrameFaults();
  #access: TerminalAccess | undefined;

  constructor(places: KeeperPlaces, options: KeeperClientOptions) {
    this.#places = places;
    this.#options = options;
    this.#connection = new KeeperConnection({
      places,
      options,
      prepare: async () => {
        this.#access ??= await openAccess(options.lease ?? true, this.#connection);
      },
      hello: () => {
        const wanted = Object.fromEntries([...this.#channels].map(([id, { received }]) => [id, received]));
        return { wanted, ...this.#access?.hello };
      },
      frame: (one) => this.#take(one),
      connected: (link) => this.#resume(link),
      disconnected: () => this.#access?.disconnected(),
      gone: (pid, error) => this.#gone(pid, error),
    });
  }

  /** The process that holds the terminals, while there is a connection. */
  get pid(): number | undefined {
    return this.#connection.link?.welcome.pid;
  }

  /** Connects to a keeper that runs already; its terminals in the order they were opened. */
  async find(signal: AbortSignal): Promise<readonly ListedTerminal[]> {
    const link = await this.#connection.connect(signal, false);
    if (!link) return [];
    return link.welcome.terminals.map((listed) => ({ listed, ...link.remembered.get(listed.id) }));
  }

  async open(
    spawn: LocalTarget & Pick<Spawn, 'capacity' | 'folder' | 'about'>,
    size: Size,
    id: string,
    signal: AbortSignal,
  ): Promise<KeeperChannel> {
    await this.ready(signal);
    const body = encode({ ...spawn, ...size, umask: process.umask() } satisfies Spawn);
    // The answer comes at once, so an abort is looked at after it: then the new terminal is ended.
    const channel = await this.#spawns.wait(id, body, () => this.#connection.post('spawn', id, body));
    if (!signal.aborted) return channel;
    await channel[Symbol.asyncDispose]();
    throw new FairleadError('cancelled', 'The terminal was no longer wanted.', { cause: signal.reason });
  }

  /** The process that holds the terminals; it is started where there is none. */
  async ready(signal: AbortSignal): Promise<number> {
    const link = await this.#connection.connect(signal, true);
    if (!link) throw new FairleadError('unavailable', 'The keeper of the terminals cannot be reached.');
    return link.welcome.pid;
  }

  /** A channel to a terminal that the keeper holds, from its oldest byte on. With `apart`, past output is in `replayed`. */
  take({ listed }: ListedTerminal, apart = false): KeeperChannel {
    const { id, start, end, input, capacity } = listed;
    const channel = this.#adopt(id, listed, start, input, apart ? { to: end, capacity } : undefined);
    this.#connection.post('want', id, undefined, start);
    return channel;
  }

  /** The keeper becomes another program with all it holds; settles when it is back. */
  replace(program: KeeperProgram, signal: AbortSignal): Promise<void> {
    return this.#connection.replace(program, signal);
  }

  /** Leaves the keeper and what it holds alone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
    this.#loseAll('This process released the terminal.');
  }

  async #gone(pid: number, error?: Error): Promise<void> {
    if (error) return this.#loseAll(error.message);
    await setTimeout(hangUpMs);
    const left = survivors([...this.#channels.values()].map(({ process }) => process.pid));
    if (this.#channels.size > 0) this.#options.log?.(`The keeper of the terminals (process ${pid}) has ended.${left}`);
    this.#loseAll(`its keeper (process ${pid}) has ended.${left}`);
  }

  #resume(link: KeeperLink): void {
    const there = new Map(link.welcome.terminals.map((listed) => [listed.id, listed]));
    for (const [id, channel] of this.#channels) {
      const listed = there.get(id);
      if (listed) channel.reconnected(listed.input, listed.queued);
      else channel.lost('its keeper does not know it any more.');
    }
    for (const [id, listed] of there) {
      if (this.#unwanted.has(id)) link.post('terminate', id, encode({}));
      if (!this.#spawns.has(id)) continue;
      this.#spawns.opened(id, this.#adopt(id, listed, 0, 0));
      link.post('want', id, undefined, 0);
    }
    this.#spawns.again((id, body) => there.has(id) || link.post('spawn', id, body));
    this.#access?.connected(this.#places.socket, link.welcome);
  }

  #loseAll(reason: string): void {
    this.#spawns.lost();
    for (const channel of this.#channels.values()) channel.lost(reason);
    this.#channels.clear();
    this.#unwanted.clear();
  }

  #adopt(id: string, terminal: Spawned, from: number, typed: number, replay?: ResumableInit['replay']): KeeperChannel {
    if (!this.#access) throw new FairleadError('internal', 'A terminal was resumed before there was a connection.');
    const link = this.#access.link(id, terminal);
    const onGone = (isKnown: boolean): void => {
      this.#channels.delete(id);
      if (!isKnown && !this.#connection.isClosed) this.#unwanted.add(id);
    };
    const channel = new KeeperChannel({ link, from, typed, replay, onGone });
    this.#channels.set(id, channel);
    return channel;
  }

  /**
   * A fault of ours ends the connection, and the next one repeats what is missing. A terminal that causes a second fault is
   * given up: its program runs on in the keeper, for the next process.
   */
  #take(one: Frame): void {
    try {
      this.#hear(one);
    } catch (thrown) {
      const { id } = one;
      const times = this.#faults.count(id);
      if (times <= mostNoted) incident(thrown, `what the keeper said of terminal ${id}`, this.#options.log);
      if (times > 1) {
        const channel = this.#channels.get(id);
        if (!channel) return;
        this.#channels.delete(id);
        channel.lost('Something went wrong inside Fairlead; its program runs on, and the next server finds it.');
      }
      throw thrown;
    }
  }

  #hear(one: Frame): void {
    const { type, id, body, offset } = one;
    const channel = this.#channels.get(id);
    switch (type) {
      case frameTypes.data:
        return channel?.data(body, offset);
      case frameTypes.accepted:
        return channel?.accepted(offset);
      case frameTypes.flushed:
        return channel?.flushed(offset);
      case frameTypes.terminated:
        if (this.#unwanted.delete(id)) this.#connection.post('forget', id);
        return channel?.terminated();
      case frameTypes.exit:
        return channel?.exit(decode<Exit>(body)?.ended ?? { by: 'lost', reason: 'it ended, and how is unknown' });
      case frameTypes.spawned:
        // At once: its first output may be right behind.
        return this.#spawns.opened(id, this.#adopt(id, decode<Spawned>(body) as Spawned, 0, 0));
      case frameTypes.failed:
        return this.#spawns.failed(id, decode<Failed>(body) ?? {});
      case frameTypes.pong:
        return this.#connection.link?.ponged();
      case frameTypes.ping:
        return void this.#connection.post('pong', '');
      default:
        return this.#access?.hear(one, channel);
    }
  }
}
