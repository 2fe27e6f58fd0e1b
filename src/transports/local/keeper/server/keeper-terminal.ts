import { basename } from 'node:path';
import { removeOwnFolder } from '../../../../system/files/trusted-path.ts';
import { RecentSecrets } from '../../../../engine/person/recent-secrets.ts';
import type { Channel, Ended, Size } from '../../../../engine/terminal/channel.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { type Deferred, deferred } from '../../../../lib/deferred.ts';
import { LinuxPty } from '../../pty/pty-linux.ts';
import { startTime } from '../../pty/proc.ts';
import type { TerminalLog } from '../lease/terminal-log.ts';
import type { Listed } from '../messages.ts';

interface KeeperTerminalInit {
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

interface Snapshot {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** One terminal of a keeper: the program, its last output, and what an instance wants remembered of it. */
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
  /** An instance has had the output before this offset. */
  seen = 0;
  /** Bytes of input that the terminal has accepted. */
  typed: number;
  /** Bytes of input, accepted or waiting. */
  queued: number;
  /** After each piece of output, and at the end. */
  onChange: () => void = () => {};
  /** Asked after each piece of output: while true, no more is read and the kernel makes the program wait. */
  mustWait: () => boolean = () => false;
  /** When nothing is masked any more. */
  onUnmasked: () => void = () => {};
  /** After each piece of input the terminal has accepted, with its length. */
  onAccepted: (length: number) => void = () => {};
  readonly #secrets: RecentSecrets;
  readonly #clock: Clock;
  #concealing: Disposable | undefined;
  readonly #done: Promise<void>;
  #waiting: Deferred<void> | undefined;
  /** The last byte is in the log. */
  #read = false;
  /** Reading no longer waits for a client. */
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
      // Counted byte by byte: a keeper that becomes another program in the middle of a write types exactly the rest.
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

  /** The program is being ended, or its last output is being read. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /** Since when an instance knows that the program ended, on the monotonic clock. */
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
      folder: this.folder,
      about: this.about,
      ended: this.#ended,
      endedAt: this.#endedAt,
    };
  }

  /** The pid still means the process that was started: the system may have given it to another since. */
  get isItself(): boolean {
    return this.#ended === undefined && startTime(this.pid) === this.startTime;
  }

  /** Types after everything that waits. The client at the time of acceptance is told. */
  type(bytes: Uint8Array): void {
    this.queued += bytes.length;
    this.channel.write(bytes).then(
      () => this.onAccepted(bytes.length),
      // The program has ended, and the client is told that.
      () => {},
    );
  }

  get secrets(): readonly Uint8Array[] {
    return this.#secrets.values;
  }

  /** Settles when everything that was read is in the log. Only for a channel that no longer reads. */
  async drained(): Promise<void> {
    this.#end();
    while (!this.#ended && !this.#read) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Masks this text in all output from here on. */
  conceal(text: string | Uint8Array): void {
    this.#secrets.add(text);
    this.#concealing?.[Symbol.dispose]();
    this.#concealing = this.#clock.after(this.#secrets.activeMs, () => this.onUnmasked());
  }

  /** Nothing is masked, on its way in or out, or about to end. */
  get isSettled(): boolean {
    const isBusy = this.#waiting !== undefined || this.channel.output.size > 0 || this.queued > this.typed;
    return !isBusy && !this.#ending && !this.#ended && !this.#secrets.active;
  }

  /** Everything the program has written so far is in the log when this settles. */
  async flush(): Promise<void> {
    if (this.#ended) return;
    await this.channel.flush?.();
    // The pump logs what was read in a turn of its own.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#secrets.released;
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Reads on if there is no reason to wait any more. */
  look(): void {
    if (!this.#waiting || (this.mustWait() && !this.#ending)) return;
    this.#waiting.resolve();
    this.#waiting = undefined;
  }

  /** Ends the program and all it started. It has the grace to save its work, or little time without one. */
  async terminate(graceMs?: number): Promise<void> {
    this.#end();
    if (graceMs !== undefined) await this.channel.endWithin?.(graceMs);
    await this.channel[Symbol.asyncDispose]();
    await this.#done;
  }

  [Symbol.dispose](): void {
    this.#secrets[Symbol.dispose]();
    this.#concealing?.[Symbol.dispose]();
    this.log[Symbol.dispose]?.();
  }

  #end(): void {
    this.#ending = true;
    this.look();
  }

  async #pump(): Promise<void> {
    let ended: Ended;
    // The end is reported also while no client reads the output.
    const ending = this.channel.ended.then(() => this.#end());
    try {
      // The owner sets its callbacks first.
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
    // An instance can only have the folder of a shell session removed.
    if (folder === undefined || !/^fairlead-\d+-[0-9a-f]{24}$/.test(basename(folder))) return;
    try {
      removeOwnFolder(folder);
    } catch {
      // Nothing depends on its removal.
    }
  }
}
