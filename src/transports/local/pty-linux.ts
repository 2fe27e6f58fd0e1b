import { closeSync, constants, openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { FairleadError } from '../../contract/errors.ts';
import type { Channel, Ended, Foreground, ProcessView, Signal, Size } from '../../engine/channel.ts';
import { ByteQueue } from '../../lib/byte-queue.ts';
import { forgetChild, watchChild } from './children.ts';
import { InputQueue } from './input-queue.ts';
import { errnoName, FIONREAD, type Libc, TCGETS, TCSETS, TIOCGPGRP, TIOCGPTN, TIOCSPTLCK, TIOCSWINSZ } from './libc.ts';
import { initialEnvironment, programArguments, programName, workingDirectory } from './proc.ts';
import { settledWithin } from './settled-within.ts';
import { endGroups, groupsOf, KILL_AFTER_MS, signalGroup, signalTerminal } from './signals.ts';
import { fill, firstRead, recycle, SHORT, SLAB } from './slabs.ts';
import { checkSize, checkTarget, explain, type LocalTarget, resolveProgram } from './target.ts';
import { groupReads } from './terminal-readers.ts';
import { echoOf } from './termios.ts';

/** Unread output at which reading stops and the kernel makes the program wait. */
const HIGH_WATER = 256 * 1024;
/** Read in one turn of the event loop at most; a flood on one terminal must not be felt on the others. */
const TURN = 64 * 1024;
/** More than a pseudo-terminal can hold: what was written before the call is read, a flood is not chased. */
const HELD = 512 * 1024;
/** A killed process that is still there then is stuck in the kernel; a server must be gone in two seconds. */
const GIVE_UP_MS = 800;

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
    if ('errno' in spawned) throw explain(target, program, errnoName(spawned.errno));
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

function setSize(libc: Libc, master: number, { cols, rows }: Size): void {
  libc.ioctl(master, TIOCSWINSZ, new Uint16Array([rows, cols, 0, 0]));
}

/** Answers of the system; each is read before the next is asked for. */
const group = new Int32Array(1);
const settings = new Uint32Array(64);
const ready = new Int32Array(1);

export class LinuxPty implements Channel {
  /** Path of the device. */
  readonly terminal: string;
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  readonly process: ProcessView;
  readonly #libc: Libc;
  readonly #pid: number;
  readonly #master: number;
  readonly #held: number;
  readonly #stream: ReadStream;
  readonly #input: InputQueue;
  readonly #settle: (ended: Ended) => void;
  #open = true;
  #disposing: Promise<void> | undefined;

  constructor(libc: Libc, pid: number, terminal: string, master: number, held: number, watched: number) {
    this.terminal = terminal;
    this.#libc = libc;
    this.#pid = pid;
    this.#master = master;
    this.#held = held;
    this.output = new ByteQueue(HIGH_WATER, () => this.#stream.resume(), recycle);
    this.#input = new InputQueue((bytes) => (this.#open ? libc.write(master, bytes, bytes.length) : 0));
    let settle: (ended: Ended) => void = () => {};
    this.ended = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
    this.process = {
      pid,
      foreground: () => this.#foreground(),
      environment: () => (this.#open ? initialEnvironment(pid) : undefined),
      cwd: () => (this.#open ? workingDirectory(this.#foregroundGroup() ?? pid) : undefined),
      echo: () => this.#echo(),
      signal: (signal) => {
        if (this.#open) signalGroup(this.#foregroundGroup() ?? pid, signal);
      },
      reads: () => {
        const group = this.#foregroundGroup();
        return group === undefined ? undefined : groupReads(group, terminal);
      },
    };
    // The stream owns a duplicate, so that whenever Node decides to close it, ours stays good for the final drain.
    this.#stream = new ReadStream(watched, {
      onread: { buffer: firstRead, callback: (length: number) => this.#take(length) },
    } as ConstructorParameters<typeof ReadStream>[1]);
    // The end of a pseudo-terminal reads as EIO. The child's exit is what counts.
    this.#stream.on('error', () => {});
    this.#stream.resume();
    watchChild(libc, pid, (ended) => this.#finish(ended));
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  flush(): void {
    if (this.output.size < HIGH_WATER * 2) this.#drain();
  }

  async resize(size: Size): Promise<void> {
    checkSize(size);
    if (this.#open) setSize(this.#libc, this.#master, size);
  }

  async kill(signal: Signal): Promise<void> {
    if (this.#open) signalTerminal(this.#pid, this.#foregroundGroup(), signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposing ??= this.#dispose();
    return this.#disposing;
  }

  async #dispose(): Promise<void> {
    // A shell that ended by itself leaves its background jobs alive, as in any terminal.
    if (!this.#open) return;
    const groups = groupsOf(this.#pid, this.#foregroundGroup());
    const since = performance.now();
    await this.kill('HUP');
    if (!(await settledWithin(this.ended, KILL_AFTER_MS))) {
      await this.kill('KILL');
      await settledWithin(this.ended, GIVE_UP_MS);
      this.#finish({ by: 'lost', reason: `Process ${this.#pid} does not end, not even when killed.` });
    }
    await endGroups(this.#pid, groups, since);
  }

  readonly #read = (into: Uint8Array): number => (this.#open ? this.#libc.read(this.#master, into, into.length) : 0);

  /**
   * Only what lies there already. To read from a terminal that is empty at the moment makes the kernel finish what it is
   * about to bring, and this process sleeps meanwhile: in a flood, after every few KB that could be parsed instead.
   */
  readonly #readReady = (into: Uint8Array): number => {
    if (!this.#open || this.#libc.ioctl(this.#master, FIONREAD, ready) !== 0 || ready[0] === 0) return 0;
    return this.#libc.read(this.#master, into, into.length);
  };

  /** What lies in `firstRead` and what follows it; false when reading has to stop. */
  #take(first: number): boolean {
    let already = first;
    for (let total = 0; total < TURN; already = 0) {
      // What came was worked on; only now there is nothing better to do than to wait for the kernel.
      const chunk = fill(already, this.#readReady, this.#read);
      total += chunk.length;
      if (!this.output.push(chunk)) return false;
      if (chunk.length <= SHORT) break;
    }
    return true;
  }

  /** Stops reading, and leaves the program and the descriptors to whoever takes over. What was read is still in `output`. */
  letGo(): { readonly master: number; readonly held: number } {
    this.#open = false;
    this.#input.end();
    this.#stream.destroy();
    forgetChild(this.#pid);
    this.output.end();
    return { master: this.#master, held: this.#held };
  }

  /** Whether the queue has room or not: what the kernel holds is little and must not wait. */
  #drain(): void {
    for (let total = 0, length = SLAB; length === SLAB && total < HELD; total += length) {
      const chunk = fill(0, this.#read);
      length = chunk.length;
      this.output.push(chunk);
    }
  }

  #finish(ended: Ended): void {
    if (!this.#open) return;
    this.#drain();
    this.#open = false;
    this.#input.end();
    this.#stream.destroy();
    closeSync(this.#master);
    closeSync(this.#held);
    this.output.end();
    this.#settle(ended);
  }

  #foregroundGroup(): number | undefined {
    const known = this.#open && this.#libc.ioctl(this.#master, TIOCGPGRP, group) === 0;
    return known && group[0] !== undefined && group[0] > 0 ? group[0] : undefined;
  }

  #foreground(): Foreground | undefined {
    const pid = this.#foregroundGroup();
    const name = pid === undefined ? undefined : programName(pid, this.#libc.readShort) || undefined;
    if (pid === undefined || name === undefined) return undefined;
    return {
      pid,
      name,
      isLeader: pid === this.#pid,
      // Read only when asked for: few callers need it, and many ask who is in the foreground.
      get arguments() {
        return programArguments(pid).arguments;
      },
    };
  }

  #echo(): boolean | undefined {
    if (!this.#open || this.#libc.ioctl(this.#master, TCGETS, settings) !== 0) return undefined;
    return echoOf(settings);
  }
}
