import { setTimeout } from 'node:timers/promises';
import { FairleadError } from '../../../../contract/errors.ts';
import { encode } from '../../../resumable/messages.ts';
import { type Frame, type FrameType, frameVersion } from '../frames.ts';
import type { KeeperPlaces } from '../keeper-places.ts';
import type { Hello, Replace } from '../messages.ts';
import type { KeeperClientOptions } from './keeper-client.ts';
import { KeeperLink, patiently } from './keeper-link.ts';
import { reconnect } from './reconnect.ts';
import { type KeeperProgram, keeperProgram, startKeeper, untilThere } from './start-keeper.ts';
import { timeLimit } from '../../../../system/time-limit.ts';

interface KeeperConnectionInit {
  readonly places: KeeperPlaces;
  readonly options: Pick<KeeperClientOptions, 'program' | 'version'>;
  /** Runs before the first connection is made. */
  readonly prepare: () => Promise<void>;
  readonly hello: () => Pick<Hello, 'wanted' | 'direct'>;
  readonly frame: (frame: Frame) => void;
  /** Runs before anything else is sent over the new connection. */
  readonly connected: (link: KeeperLink) => void;
  /** The connection has ended, or is about to. */
  readonly disconnected: () => void;
  /** The connection broke and the keeper does not come back; `error` says why it cannot be reached, if it lives. */
  readonly gone: (pid: number, error?: Error) => Promise<void>;
}

const startMs = 10_000;

/** The connection to the keeper of one instance: made when it is first needed, and again when it breaks. */
export class KeeperConnection implements AsyncDisposable {
  readonly #init: KeeperConnectionInit;
  #linking: Promise<KeeperLink | undefined> | undefined;
  #link: KeeperLink | undefined;
  /** A connection that is about to end: frames sent over it may be lost. */
  #ending: KeeperLink | undefined;
  #closed = false;

  constructor(init: KeeperConnectionInit) {
    this.#init = init;
  }

  get link(): KeeperLink | undefined {
    return this.#link;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** False if the frame may be lost. */
  post(type: FrameType, id: string, body?: Uint8Array, offset?: number): boolean {
    this.#link?.post(type, id, body, offset);
    return this.#link !== undefined && this.#link !== this.#ending;
  }

  async delivered(): Promise<void> {
    await this.#link?.posted();
  }

  /** Undefined if no keeper runs, and none is to be started. */
  connect(signal: AbortSignal, start: boolean): Promise<KeeperLink | undefined> {
    if (this.#link) return Promise.resolve(this.#link);
    if (this.#closed) throw new FairleadError('unavailable', 'The server is shutting down.');
    // One attempt at a time, also when a search for a keeper and the start of one coincide.
    const before = this.#linking ?? Promise.resolve(undefined);
    const linking = before
      .catch(() => undefined)
      .then(async (link) => {
        if (link ?? this.#link) return link ?? this.#link;
        using limit = timeLimit(signal, startMs);
        return await this.#reach(limit.signal, start);
      });
    this.#linkBy(linking);
    return linking;
  }

  /** The keeper becomes another program with all it holds; settles when it is back. */
  async replace(program: KeeperProgram, signal: AbortSignal): Promise<void> {
    const old = await this.connect(signal, false);
    if (old) await this.#replace(old, program, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#ending = this.#link;
    this.#init.disconnected();
    await this.#link?.close();
    this.#link = undefined;
  }

  async #replace(old: KeeperLink, argv: KeeperProgram, signal: AbortSignal): Promise<void> {
    this.#ending = old;
    this.#init.disconnected();
    old.post('replace', '', encode({ argv } satisfies Replace));
    while ((this.#link === old || !this.#link) && !signal.aborted) await setTimeout(5);
  }

  #linkBy(linking: Promise<KeeperLink | undefined>): void {
    const over = (): void => {
      if (this.#linking === linking) this.#linking = undefined;
    };
    this.#linking = linking;
    linking.then(over, over);
  }

  async #reach(signal: AbortSignal, start: boolean): Promise<KeeperLink | undefined> {
    const { places, options } = this.#init;
    const { program, version = frameVersion } = options;
    await this.#init.prepare();
    const there = await patiently(() => this.#open(signal));
    if (there && there.welcome.version < version) {
      await this.#replace(there, program ?? keeperProgram(), signal);
      return this.#link;
    }
    if (there || !start) return there;
    const { failed } = startKeeper(places, program ?? keeperProgram());
    return await untilThere(() => this.#open(signal), failed, signal);
  }

  async #open(signal: AbortSignal): Promise<KeeperLink | undefined> {
    const { places, hello, frame, connected, disconnected } = this.#init;
    const closed = (): void => {
      this.#link = undefined;
      disconnected();
      // A caller that wants a connection meanwhile waits for this one.
      if (link) this.#linkBy(this.#recover(link).then(() => this.#link));
    };
    const link: KeeperLink | undefined = await KeeperLink.open(places.socket, hello(), { frame, closed }, signal);
    if (link && this.#closed) {
      await link.close();
      return undefined;
    }
    this.#link = link;
    if (link) connected(link);
    return link;
  }

  async #recover({ welcome }: KeeperLink): Promise<void> {
    if (this.#closed) return;
    try {
      if (await reconnect(welcome, (signal) => this.#open(signal))) return;
    } catch (thrown) {
      return await this.#init.gone(welcome.pid, thrown as Error);
    }
    await this.#init.gone(welcome.pid);
  }
}
