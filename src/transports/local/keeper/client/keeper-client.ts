import { setTimeout } from 'node:timers/promises';
import { FairleadError } from '../../../../contract/errors.ts';
import type { Size } from '../../../../engine/terminal/channel.ts';
import { incident } from '../../../../system/incident.ts';
import { type Libc, loadLibc } from '../../pty/libc.ts';
import { startTime } from '../../pty/proc.ts';
import { loadSharedCalls, type SharedCalls } from '../lease/shared-calls.ts';
import type { LocalTarget } from '../../target.ts';
import { closeLeased, Descriptors } from '../lease/descriptors.ts';
import { FrameFaults, mostNoted } from '../frame-faults.ts';
import { type Frame, frameTypes, frameVersion } from '../frames.ts';
import { ResumableChannel, type ResumableInit } from '../../../resumable/resumable-channel.ts';
import { KeeperLink, patiently, type SavedTerminal } from './keeper-link.ts';
import {
  decode,
  encode,
  type Exit,
  type Failed,
  type Leased,
  type Listed,
  type Replace,
  type Spawn,
  type Spawned,
} from '../messages.ts';
import { type KeeperPlaces, keeperPlaces } from '../keeper-places.ts';
import { type KeeperProgram, keeperProgram, startKeeper, untilThere } from './start-keeper.ts';
import { Spawns } from './spawns.ts';
import { survivors } from './survivors.ts';

export interface KeeperClientOptions {
  /** The keeper's command line, for tests. */
  readonly program?: KeeperProgram;
  /** What the keeper must speak, or it is replaced; for tests. */
  readonly version?: number;
  /** Terminals are read and typed into from here, where that is possible; on unless it is off. */
  readonly lease?: boolean;
  /** A keeper that ended under its terminals is worth a word. */
  readonly log?: (message: string) => void;
}

/** A terminal the keeper had before we came. */
export interface ListedTerminal extends SavedTerminal {
  readonly listed: Listed;
}

/** A keeper that goes on as another program is back within this time. */
const backMs = 5000;
const startMs = 10_000;
/** What a hang-up ends is gone by then. */
const hangUpMs = 300;

/** The keeper of one instance, found or started when it is first needed. */
export function keeperFor(instance: string, home: string, options: KeeperClientOptions = {}): KeeperClient {
  return new KeeperClient(keeperPlaces(instance, home), options);
}

export class KeeperClient implements AsyncDisposable {
  readonly #places: KeeperPlaces;
  readonly #options: KeeperClientOptions;
  readonly #channels = new Map<string, ResumableChannel>();
  readonly #spawns = new Spawns();
  /** Closed while there was no connection: the keeper is told when there is one. */
  readonly #unwanted = new Set<string>();
  readonly #faults = new FrameFaults();
  #linking: Promise<KeeperLink | undefined> | undefined;
  #link: KeeperLink | undefined;
  /** A connection that is about to end: whatever is lent over it would be taken back without a word. */
  #ending: KeeperLink | undefined;
  #libc: Libc | undefined;
  #shared: SharedCalls | undefined;
  #closed = false;

  constructor(places: KeeperPlaces, options: KeeperClientOptions) {
    this.#places = places;
    this.#options = options;
  }

  /** The process that holds the terminals, while we are connected. */
  get pid(): number | undefined {
    return this.#link?.welcome.pid;
  }

  /** Connects to a keeper that is there already; what it holds, in the order it was opened. */
  async find(signal: AbortSignal): Promise<readonly ListedTerminal[]> {
    const link = await this.#connect(signal, false);
    if (!link) return [];
    return link.welcome.terminals.map((listed) => ({ listed, ...link.remembered.get(listed.id) }));
  }

  async open(
    spawn: LocalTarget & Pick<Spawn, 'capacity' | 'folder' | 'about'>,
    size: Size,
    id: string,
    signal: AbortSignal,
  ): Promise<ResumableChannel> {
    const link = await this.#connect(signal, true);
    if (!link) throw new FairleadError('unavailable', 'The keeper of the terminals cannot be reached.');
    const body = encode({ ...spawn, ...size, umask: process.umask() } satisfies Spawn);
    // Nothing is given up from here on: the answer comes at once, and a terminal nobody wants is ended below.
    const channel = await this.#spawns.wait(id, body, () => link.post('spawn', id, body));
    if (!signal.aborted) return channel;
    await channel[Symbol.asyncDispose]();
    throw new FairleadError('cancelled', 'The terminal was no longer wanted.', { cause: signal.reason });
  }

  /** The process that holds the terminals; it is started where there is none. */
  async ready(signal: AbortSignal): Promise<number> {
    const link = await this.#connect(signal, true);
    if (!link) throw new FairleadError('unavailable', 'The keeper of the terminals cannot be reached.');
    return link.welcome.pid;
  }

  /** Reads a terminal the keeper has from its oldest byte on; what it has now can be had apart from what comes. */
  take({ listed }: ListedTerminal, apart = false): ResumableChannel {
    const { id, start, end, input, capacity } = listed;
    const channel = this.#adopt(id, listed, start, input, apart ? { to: end, capacity } : undefined);
    this.#link?.post('want', listed.id, undefined, listed.start);
    return channel;
  }

  /** The keeper goes on as another program, with all it holds; so do we, after a moment. */
  async replace(program: KeeperProgram, signal: AbortSignal): Promise<void> {
    const old = await this.#connect(signal, false);
    if (old) await this.#replace(old, program, signal);
  }

  async #replace(old: KeeperLink, argv: KeeperProgram, signal: AbortSignal): Promise<void> {
    this.#ending = old;
    this.#endLeases();
    old.post('replace', '', encode({ argv } satisfies Replace));
    while ((this.#link === old || !this.#link) && !signal.aborted) await setTimeout(5);
  }

  /** Leaves the keeper and what it holds alone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#ending = this.#link;
    this.#endLeases();
    await this.#link?.close();
    this.#link = undefined;
    this.#loseAll('This process has let go of it.');
  }

  #connect(signal: AbortSignal, start: boolean): Promise<KeeperLink | undefined> {
    if (this.#link) return Promise.resolve(this.#link);
    if (this.#closed) throw new FairleadError('unavailable', 'The server is shutting down.');
    // One at a time, also when a search for a keeper and the start of one come together.
    const before = this.#linking ?? Promise.resolve(undefined);
    const linking = before
      .catch(() => undefined)
      .then(
        (link) => link ?? this.#link ?? this.#reach(AbortSignal.any([signal, AbortSignal.timeout(startMs)]), start),
      );
    this.#linkBy(linking);
    return linking;
  }

  #linkBy(linking: Promise<KeeperLink | undefined>): void {
    const over = (): void => {
      if (this.#linking === linking) this.#linking = undefined;
    };
    this.#linking = linking;
    linking.then(over, over);
  }

  async #reach(signal: AbortSignal, start: boolean): Promise<KeeperLink | undefined> {
    this.#libc = await loadLibc();
    if (this.#options.lease !== false) this.#shared = await loadSharedCalls();
    const there = await patiently(() => this.#openLink(signal));
    const wanted = this.#options.version ?? frameVersion;
    if (there && there.welcome.version < wanted) {
      await this.#replace(there, this.#options.program ?? keeperProgram(), signal);
      return this.#link;
    }
    if (there || !start) return there;
    const { failed } = startKeeper(this.#places, this.#options.program ?? keeperProgram());
    return await untilThere(() => this.#openLink(signal), failed, signal);
  }

  async #openLink(signal: AbortSignal): Promise<KeeperLink | undefined> {
    const wanted = Object.fromEntries([...this.#channels].map(([id, { received }]) => [id, received]));
    const events = {
      frame: (one: Frame) => this.#take(one),
      closed: () => {
        this.#link = undefined;
        link?.descriptors?.[Symbol.dispose]();
        this.#endLeases();
        // Whoever wants a connection meanwhile waits for this one.
        this.#linkBy(this.#broken(link).then(() => this.#link));
      },
    };
    const link: KeeperLink | undefined = await KeeperLink.open(
      this.#places.socket,
      { wanted, direct: this.#shared !== undefined },
      events,
      signal,
    );
    if (link && this.#closed) {
      await link.close();
      return undefined;
    }
    this.#link = link;
    // Before anybody else can say something over it.
    if (link) this.#resume(link);
    const ticket = link?.welcome.ticket;
    if (link && this.#libc && this.#shared && ticket !== undefined) {
      link.descriptors = Descriptors.open(this.#libc, this.#shared, this.#places.socket, ticket);
    }
    return link;
  }

  /** From here on the keeper reads, until it lends again. */
  #endLeases(): void {
    for (const channel of this.#channels.values()) channel.endLease();
  }

  #leased(id: string, lent: Partial<Leased>): void {
    const borrowed = this.#link?.descriptors?.receive(lent.number ?? 0);
    const channel = this.#channels.get(id);
    if (borrowed && channel && this.#link !== this.#ending) return channel.leased(borrowed, lent);
    if (borrowed) closeLeased(borrowed);
    this.#link?.post('returned', id, encode({ refused: true }));
  }

  /** The connection broke. A keeper that lives is one that goes on as another program: it is back in a moment. */
  async #broken(link: KeeperLink | undefined): Promise<void> {
    if (this.#closed || !link) return;
    const { pid, startTime: started } = link.welcome;
    const limit = AbortSignal.timeout(backMs);
    try {
      while (!limit.aborted && startTime(pid) === started) {
        if (await patiently(() => this.#openLink(limit))) return;
        await setTimeout(10);
      }
    } catch (thrown) {
      return this.#loseAll(thrown instanceof Error ? thrown.message : String(thrown));
    }
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
  }

  #loseAll(reason: string): void {
    this.#spawns.lost();
    for (const channel of this.#channels.values()) channel.lost(reason);
    this.#channels.clear();
    this.#unwanted.clear();
  }

  #adopt(
    id: string,
    process: Spawned,
    from: number,
    typed: number,
    replay?: ResumableInit['replay'],
  ): ResumableChannel {
    if (!this.#libc) throw new FairleadError('internal', 'A terminal was taken over before there was a connection.');
    const channel = new ResumableChannel({
      libc: this.#libc,
      post: (type, body, offset) => {
        this.#link?.post(type, id, body, offset);
        const isHeard = this.#link !== undefined && this.#link !== this.#ending;
        if (type === 'forget' && !isHeard && !this.#closed) this.#unwanted.add(id);
        return isHeard;
      },
      posted: async () => this.#link?.posted(),
      process,
      from,
      typed,
      onGone: () => this.#channels.delete(id),
      ...(replay ? { replay } : {}),
    });
    this.#channels.set(id, channel);
    return channel;
  }

  /**
   * A mistake of ours ends the connection: the next one sets right what is behind by then. A terminal that brings it about again
   * is let go of: its program runs on in the keeper, for the next process.
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

  #hear({ type, id, body, offset }: Frame): void {
    if (type === frameTypes.data) return this.#channels.get(id)?.data(body, offset);
    switch (type) {
      case frameTypes.lent:
        return this.#leased(id, decode<Leased>(body) ?? {});
      case frameTypes.gone:
        return this.#channels.get(id)?.gone();
      case frameTypes.accepted:
        return this.#channels.get(id)?.accepted(offset);
      case frameTypes.flushed:
        return this.#channels.get(id)?.flushed(offset);
      case frameTypes.terminated:
        if (this.#unwanted.delete(id)) this.#link?.post('forget', id);
        return this.#channels.get(id)?.terminated();
      case frameTypes.exit: {
        const { ended, at } = decode<Exit>(body) ?? {};
        return this.#channels.get(id)?.exit(ended ?? { by: 'lost', reason: 'it ended, and nobody knows how' }, at ?? 0);
      }
      case frameTypes.spawned:
        // At once: its first output may be right behind.
        return this.#spawns.opened(id, this.#adopt(id, decode<Spawned>(body) as Spawned, 0, 0));
      case frameTypes.failed:
        return this.#spawns.failed(id, decode<Failed>(body) ?? {});
      case frameTypes.pong:
        return this.#link?.ponged();
      case frameTypes.ping:
        return this.#link?.post('pong', '');
      default:
        return undefined;
    }
  }
}
