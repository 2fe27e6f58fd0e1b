import { basename } from 'node:path';
import { removeOwnFolder } from '../../../../system/files/trusted-path.ts';
import { RecentSecrets } from '../../../../engine/person/recent-secrets.ts';
import type { Channel, Ended, Size } from '../../../../engine/terminal/channel.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { type Deferred, deferred } from '../../../../lib/deferred.ts';
import { LinuxPty } from '../../pty/pty-linux.ts';
import { startTime } from '../../pty/proc.ts';
import { type TerminalLog, SharedLog } from '../lease/terminal-log.ts';
import type { Listed } from '../messages.ts';
import type { SharedMemory } from '../lease/shared-memory.ts';

export interface KeeperTerminalInit {
  readonly id: string;
  readonly channel: Channel;
  readonly pid: number;
  /** Path of the device. */
  readonly terminal: string;
  readonly size: Size;
  readonly log: TerminalLog;
  readonly clock: Clock;
  readonly folder?: string | undefined;
  readonly about?: Readonly<Record<string, string>> | undefined;
  readonly typed?: number;
  readonly endedAt?: number | undefined;
}

export interface Snapshot {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** One terminal of a keeper: the program, the last bytes it printed, and what an instance wants remembered of it. */
export class KeeperTerminal {
  readonly id: string;
  readonly pid: number;
  readonly startTime: number;
  readonly terminal: string;
  readonly channel: Channel;
  readonly log: TerminalLog;
  readonly folder: string | undefined;
  readonly about: Readonly<Record<string, string>> | undefined;
  size: Size;
  meta: Uint8Array | undefined;
  snapshot: Snapshot | undefined;
  /** An instance has had its output up to here. */
  seen = 0;
  /** Bytes typed into it and accepted. */
  typed: number;
  /** Bytes typed into it, accepted or waiting. */
  queued: number;
  /** After each piece of output, and at the end. */
  onChange: () => void = () => {};
  /** Asked after each piece of output: while true, no more is read and the kernel makes the program wait. */
  mustWait: () => boolean = () => false;
  /** When there is nothing to conceal any more. */
  onOpen: () => void = () => {};
  /** After each piece of input the terminal has accepted, with its length. */
  onAccepted: (length: number) => void = () => {};
  readonly #secrets: RecentSecrets;
  readonly #clock: Clock;
  #concealing: Disposable | undefined;
  readonly #done: Promise<void>;
  #waiting: Deferred<void> | undefined;
  /** The last byte is in the log. */
  #read = false;
  /** Nothing waits any more: the program is gone or shall be. */
  #ending = false;
  #ended: Ended | undefined;
  #endedAt: number | undefined;
  #toldMs: number | undefined;

  constructor(init: KeeperTerminalInit) {
    this.id = init.id;
    this.channel = init.channel;
    this.pid = init.pid;
    this.startTime = startTime(init.pid) ?? 0;
    this.terminal = init.terminal;
    this.size = init.size;
    this.log = init.log;
    this.folder = init.folder;
    this.about = init.about;
    this.typed = init.typed ?? 0;
    this.queued = this.typed;
    if (this.channel instanceof LinuxPty) {
      // Byte by byte: of a piece that is under way when the next program takes over, the rest is typed, and only that.
      this.channel.onTyped = (bytes) => {
        this.typed += bytes;
      };
    }
    this.#clock = init.clock;
    this.#secrets = new RecentSecrets({ clock: init.clock, release: (bytes) => this.#take(bytes) });
    this.#endedAt = init.endedAt;
    this.#done = this.#pump();
  }

  get ended(): Ended | undefined {
    return this.#ended;
  }

  /** It is being ended, or has ended and its last bytes are being read. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /** An instance knows that it ended, since this moment of the clock that never goes back. */
  get toldMs(): number | undefined {
    return this.#toldMs;
  }

  told(): void {
    this.#toldMs ??= this.#clock.monotonic();
  }

  /** Settles when the program has ended and its last byte is in the log. */
  get done(): Promise<void> {
    return this.#done;
  }

  get listed(): Listed {
    const { id, pid, terminal, log } = this;
    return {
      id,
      pid,
      startTime: this.startTime,
      terminal,
      ...this.size,
      start: log.start,
      end: log.end,
      capacity: log.capacity,
      input: this.typed,
      queued: this.queued,
      seen: this.seen,
      ...(this.folder === undefined ? {} : { folder: this.folder }),
      ...(this.about === undefined ? {} : { about: this.about }),
      ...(this.#ended === undefined ? {} : { ended: this.#ended }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
    };
  }

  /** The process is still the one that was started: its number may have been given to another since (R-HUB-033). */
  get isItself(): boolean {
    return this.#ended === undefined && startTime(this.pid) === this.startTime;
  }

  /** Types what comes behind everything that came before. Whoever has the terminal when it is accepted is told. */
  type(bytes: Uint8Array): void {
    this.queued += bytes.length;
    this.channel.write(bytes).then(
      () => this.onAccepted(bytes.length),
      // It has ended: the client hears of that anyway.
      () => {},
    );
  }

  get secrets(): readonly Uint8Array[] {
    return this.#secrets.values;
  }

  /** Settles when all that was read is in the log. Only for a channel that reads no more. */
  async drained(): Promise<void> {
    this.#end();
    while (!this.#ended && !this.#read) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Output that shows this text is masked before anything else sees it. */
  conceal(text: string | Uint8Array): void {
    this.#secrets.add(text);
    this.#concealing?.[Symbol.dispose]();
    this.#concealing = this.#clock.after(this.#secrets.activeMs, () => this.onOpen());
  }

  /**
   * Reads no more, so that an instance can. Nothing when that cannot be, or not now: output that may show a secret is read by
   * the one who masks it, and what is on its way in or out gets there first.
   */
  lease(
    onGone: (ended: Ended | undefined) => void,
  ): { readonly master: number; readonly memory: SharedMemory } | undefined {
    const { channel, log } = this;
    if (!(channel instanceof LinuxPty) || !(log instanceof SharedLog) || this.#ended || this.#ending) return undefined;
    if (this.#secrets.active || this.#waiting || channel.output.size > 0 || this.queued > this.typed) return undefined;
    const master = channel.lease(onGone);
    return master === undefined ? undefined : { master, memory: log.memory };
  }

  /** Reads on behind what the instance has read, logged or not. */
  reclaim(): void {
    if (!(this.channel instanceof LinuxPty) || !(this.log instanceof SharedLog) || !this.channel.isLeased) return;
    this.seen = Math.max(this.seen, this.log.end);
    this.log.memory.recover();
    this.typed = Math.max(this.typed, this.log.memory.typed);
    this.queued = Math.max(this.queued, this.typed);
    this.channel.reclaim();
  }

  /** Everything the program has written so far is in the log when this settles. */
  async flush(): Promise<void> {
    if (this.#ended) return;
    await this.channel.flush?.();
    // What was read reaches the log through the pump, in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#secrets.released;
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Reads on, if there is no reason to wait any more. */
  look(): void {
    if (!this.#waiting || (this.mustWait() && !this.#ending)) return;
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** Ends it and whatever it started. With a grace it has that long to save its work, without one it has to hurry. */
  async terminate(graceMs?: number): Promise<void> {
    this.#end();
    if (graceMs !== undefined) await this.channel.endWithin?.(graceMs);
    await this.channel[Symbol.asyncDispose]();
    await this.#done;
  }

  [Symbol.dispose](): void {
    this.#secrets[Symbol.dispose]();
    this.#concealing?.[Symbol.dispose]();
    if (this.log instanceof SharedLog) this.log[Symbol.dispose]();
  }

  #end(): void {
    this.#ending = true;
    this.look();
  }

  async #pump(): Promise<void> {
    let ended: Ended;
    // Its end is told also while nobody takes its output.
    const ending = this.channel.ended.then(() => this.#end());
    try {
      // Whoever holds it listens first.
      await Promise.resolve();
      await this.channel.output.consume((chunk) => this.#receive(chunk));
      if (this.#secrets.active) this.#take(this.#secrets.rest());
      this.#read = true;
      await ending;
      ended = await this.channel.ended;
    } catch (thrown) {
      ended = { by: 'lost', reason: thrown instanceof Error ? thrown.message : 'the output broke off' };
    }
    this.#ended = ended;
    const { channel } = this;
    this.#endedAt ??= (channel instanceof LinuxPty ? channel.exitedAt : undefined) ?? this.#clock.now();
    this.#tidy();
    this.onChange();
  }

  #receive(chunk: Uint8Array): Promise<void> | undefined {
    this.#take(this.#secrets.active ? this.#secrets.mask(chunk) : chunk);
    if (this.#ending || !this.mustWait()) return undefined;
    this.#waiting ??= deferred();
    return this.#waiting.promise;
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.log.append(bytes);
    this.onChange();
  }

  #tidy(): void {
    const { folder } = this;
    // Whatever an instance says: nothing but the folder of a shell's session is ever removed.
    if (folder === undefined || !/^fairlead-\d+-[0-9a-f]{24}$/.test(basename(folder))) return;
    try {
      removeOwnFolder(folder);
    } catch {
      // Nothing depends on a tidy folder.
    }
  }
}
