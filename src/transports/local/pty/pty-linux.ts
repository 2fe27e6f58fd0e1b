import { closeSync, constants, openSync } from 'node:fs';
import { FairleadError } from '../../../contract/errors.ts';
import type { Channel, Ended, ProcessView, Signal, Size } from '../../../engine/terminal/channel.ts';
import { ByteQueue } from '../../../lib/byte-queue.ts';
import { deferred } from '../../../lib/deferred.ts';
import { forgetChild, watchChild } from './children.ts';
import { ProgramEnd, endProgram, GIVE_UP_MS, HURRIED_MS, neverEnds } from './ending.ts';
import { WriteQueue } from './write-queue.ts';
import { errnoName, type Libc, TCGETS, TCSETS, TIOCGPTN, TIOCSPTLCK } from './libc.ts';
import { foregroundOf, masterView, setSize } from './master-view.ts';
import { HIGH_WATER, PtyReader } from './pty-reader.ts';
import { settledWithin } from '../../../system/settled-within.ts';
import { signalTerminal } from './signals.ts';
import { recycle } from './slabs.ts';
import { checkSize, checkTarget, launchError, type LocalTarget, resolveProgram } from '../target.ts';

const IUTF8 = 0o40000;

export function openLinuxPty(libc: Libc, target: LocalTarget, size: Size): LinuxPty {
  checkTarget(target, size);
  const program = resolveProgram(target);
  const fds: number[] = [];
  const keep = (fd: number): number => {
    fds.push(fd);
    return fd;
  };
  try {
    const master = keep(openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK));
    const number = new Int32Array(1);
    if (libc.ioctl(master, TIOCSPTLCK, number) !== 0 || libc.ioctl(master, TIOCGPTN, number) !== 0) {
      throw new FairleadError('unsupported', 'This system gives no pseudo-terminals.', {
        hint: 'Is /dev/pts mounted?',
      });
    }
    const terminal = `/dev/pts/${number[0]}`;
    setSize(libc, master, size);
    const settings = new Uint32Array(64);
    libc.ioctl(master, TCGETS, settings);
    settings[0] = (settings[0] ?? 0) | IUTF8;
    libc.ioctl(master, TCSETS, settings);
    // Held while the program lives: it may close its own descriptors and open /dev/tty again later, and without this
    // one the terminal would count as hung up in between.
    const held = keep(openSync(terminal, constants.O_RDWR | constants.O_NOCTTY));
    const watched = keep(libc.duplicate(master));
    if (watched < 0)
      throw new FairleadError('limit_reached', 'Too many open files.', { hint: 'Close some terminals.' });
    const env = Object.entries(target.env).map(([name, value]) => `${name}=${value}`);
    const spawned = libc.spawn({ program, argv: target.argv, env, cwd: target.cwd, terminal });
    if ('errno' in spawned) throw launchError(target, program, errnoName(spawned.errno));
    return new LinuxPty(libc, spawned.pid, terminal, master, held, watched);
  } catch (thrown) {
    for (const fd of fds) if (fd >= 0) closeSync(fd);
    if (thrown instanceof FairleadError) throw thrown;
    throw new FairleadError('limit_reached', 'No pseudo-terminal could be opened.', {
      hint: 'Close terminals that are no longer needed, or raise the limit of open files.',
      cause: thrown,
    });
  }
}

/** How a program ended whose output a lessee reads; undefined to reclaim it whether or not the lessee has read everything. */
type Gone = (ended: Ended | undefined) => void;

export class LinuxPty implements Channel {
  /** Path of the device. */
  readonly terminal: string;
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  readonly process: ProcessView;
  /** After each write that the terminal has accepted, with how many bytes it was. */
  onTyped: (bytes: number) => void = () => {};
  readonly #libc: Libc;
  readonly #pid: number;
  readonly #master: number;
  readonly #held: number;
  readonly #reader: PtyReader;
  readonly #input: WriteQueue;
  readonly #settle: (ended: Ended) => void;
  #open = true;
  /** Another process reads: how the program ended meanwhile is kept until it has read the last byte. */
  #lease: { readonly onGone: Gone } | undefined;
  /** How the program ended, and when. Its number may be another's from here on: nothing is sent to it any more. */
  #exited: { readonly ended: Ended; readonly at: number } | undefined;
  readonly #exit = deferred();
  readonly #ending = new ProgramEnd(() => this.#end());

  constructor(libc: Libc, pid: number, terminal: string, master: number, held: number, watched: number) {
    this.terminal = terminal;
    this.#libc = libc;
    this.#pid = pid;
    this.#master = master;
    this.#held = held;
    this.output = new ByteQueue(HIGH_WATER, () => this.#reader.resume(), recycle);
    this.#input = new WriteQueue((bytes) => {
      const accepted = this.#open ? libc.write(master, bytes, bytes.length) : 0;
      if (accepted > 0) this.onTyped(accepted);
      return accepted;
    });
    let settle: (ended: Ended) => void = () => {};
    this.ended = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
    this.process = masterView(libc, pid, terminal, () => (this.#open ? master : undefined));
    this.#reader = new PtyReader(libc, master, watched, this.output);
    watchChild(libc, pid, (ended) => this.#finish(ended));
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  flush(): void {
    this.#reader.flush();
  }

  async resize(size: Size): Promise<void> {
    checkSize(size);
    if (this.#open) setSize(this.#libc, this.#master, size);
  }

  async kill(signal: Signal): Promise<void> {
    if (this.#open && !this.#exited) signalTerminal(this.#pid, this.#foregroundGroup(), signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.endWithin(HURRIED_MS);
  }

  endWithin(graceMs: number): Promise<void> {
    return this.#ending.within(graceMs);
  }

  async #end(): Promise<void> {
    // A shell that ended by itself leaves its background jobs alive, as in any terminal.
    if (!this.#open) return;
    if (!this.#exited) {
      const foreground = this.#foregroundGroup();
      await endProgram({ leader: this.#pid, foreground, exited: this.#exit.promise }, this.#ending);
    }
    // A lessee reads its last bytes and returns it; a hung lessee does not.
    if (this.#lease && !(await settledWithin(this.ended, GIVE_UP_MS))) this.#lease?.onGone(undefined);
    this.#finish(neverEnds(this.#pid));
  }

  /** When the program ended, in ms since the epoch. */
  get exitedAt(): number | undefined {
    return this.#exited?.at;
  }

  /**
   * Stops reading at once: a lessee takes over through its own descriptor. What was read is in `output`. Should the
   * program end, he is told and has its last bytes; it counts as ended once it was taken back. Undefined when it cannot be.
   */
  lease(onGone: Gone): number | undefined {
    if (!this.#open || !this.#reader.rest()) return undefined;
    this.#lease = { onGone };
    return this.#master;
  }

  get isLeased(): boolean {
    return this.#lease !== undefined;
  }

  reclaim(): void {
    const lease = this.#lease;
    this.#lease = undefined;
    if (!lease || !this.#open) return;
    this.#reader.wake();
    if (this.#exited) this.#finish(this.#exited.ended);
  }

  /**
   * Stops reading, and leaves the program, the descriptors and the pending input to its successor. What was read is still
   * in `output`.
   */
  letGo(): { readonly descriptors: { readonly master: number; readonly held: number }; readonly waiting: Uint8Array } {
    this.#open = false;
    const waiting = Buffer.concat(this.#input.end());
    this.#reader.stop();
    forgetChild(this.#pid);
    this.output.end();
    return { descriptors: { master: this.#master, held: this.#held }, waiting };
  }

  #finish(ended: Ended): void {
    if (!this.#open) return;
    this.#exited ??= { ended, at: Date.now() };
    this.#exit.resolve();
    if (this.#lease) return this.#lease.onGone(ended);
    this.#reader.drain();
    this.#open = false;
    this.#input.end();
    this.#reader.stop();
    closeSync(this.#master);
    closeSync(this.#held);
    this.output.end();
    this.#settle(this.#exited.ended);
  }

  #foregroundGroup(): number | undefined {
    return this.#open ? foregroundOf(this.#libc, this.#master) : undefined;
  }
}
