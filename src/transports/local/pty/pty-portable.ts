import { readSync, writeSync } from 'node:fs';
import type { ReadStream } from 'node:tty';
import type { IPty } from '@lydell/node-pty';
import { FairleadError } from '../../../contract/errors.ts';
import type { Channel, Ended, Foreground, ProcessView, Signal, Size } from '../../../engine/terminal/channel.ts';
import { ByteQueue } from '../../../lib/byte-queue.ts';
import { ProgramEnd, endProgram, GIVE_UP_MS, HURRIED_MS, neverEnds } from './ending.ts';
import { WriteQueue } from './write-queue.ts';
import { foregroundGroup, initialEnvironment, programArguments, programName, workingDirectory } from './proc.ts';
import { settledWithin } from '../../../system/settled-within.ts';
import { signalGroup, signalName, signalTerminal, wake } from './signals.ts';
import {
  checkSize,
  checkTarget,
  launchError,
  isFolder,
  isProgram,
  type LocalTarget,
  resolveProgram,
} from '../target.ts';

const HIGH_WATER = 256 * 1024;
/** More than a pseudo-terminal can hold. */
const HELD = 256 * 1024;

/** What the package keeps to itself on Unix, and without which the last bytes of a program are lost. */
interface UnixPty extends IPty {
  readonly fd: number;
  readonly _socket: ReadStream;
}

/** For macOS and Windows, and for a Linux where our own driver does not load. */
export async function loadPortablePty(): Promise<(target: LocalTarget, size: Size) => Channel> {
  const { default: driver } = await import('@lydell/node-pty');
  const windows = process.platform === 'win32';
  return (target, size) => {
    checkTarget(target, size);
    const program = windows ? target.argv[0] : resolveProgram(target);
    const cwd = target.cwd ?? process.cwd();
    // The driver forks first; what fails after that looks like a program that ended at once.
    if (!isFolder(cwd) || (!windows && !isProgram(program))) throw launchError(target, program, 'ENOENT');
    const options = { ...size, cwd, env: { ...target.env }, encoding: null };
    try {
      const pty = driver.spawn(program, target.argv.slice(1), options);
      return new PortablePty(pty, windows ? undefined : (pty as UnixPty));
    } catch (thrown) {
      throw launchError(target, program, thrown instanceof Error ? thrown.message : String(thrown), thrown);
    }
  };
}

class PortablePty implements Channel {
  readonly output: ByteQueue;
  readonly ended: Promise<Ended>;
  readonly process: ProcessView;
  readonly #pty: IPty;
  /** Absent on Windows, and once its descriptor is closed. */
  #unix: UnixPty | undefined;
  readonly #input: WriteQueue;
  readonly #settle: (ended: Ended) => void;
  #open = true;
  readonly #ending = new ProgramEnd(() => this.#end());

  constructor(pty: IPty, unix: UnixPty | undefined) {
    this.#pty = pty;
    this.#unix = unix;
    this.output = new ByteQueue(HIGH_WATER, () => pty.resume());
    this.#input = new WriteQueue((bytes) => this.#tryWrite(bytes));
    let settle: (ended: Ended) => void = () => {};
    this.ended = new Promise((resolve) => {
      settle = resolve;
    });
    this.#settle = settle;
    this.process = {
      pid: pty.pid,
      foreground: () => this.#foreground(),
      ...(this.#unix !== undefined && {
        signal: (signal: Signal) => {
          if (this.#open) signalGroup(foregroundGroup(pty.pid) ?? pty.pid, signal);
        },
        wake: () => {
          if (this.#open) wake(pty.pid);
        },
      }),
      environment: () => (this.#open ? initialEnvironment(pty.pid) : undefined),
      cwd: () => (this.#open ? workingDirectory(foregroundGroup(pty.pid) ?? pty.pid) : undefined),
      inputMode: () => undefined,
    };
    pty.onData((data: string | Uint8Array) => {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      if (!this.output.push(bytes)) pty.pause();
    });
    pty.onExit(({ exitCode, signal }) => {
      this.#finish(signal ? { by: 'signal', signal: signalName(signal) } : { by: 'exit', code: exitCode });
    });
    if (unix !== undefined) this.#drainBeforeClose(unix._socket);
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  flush(): void {
    if (this.output.size < HIGH_WATER * 2) this.#drain();
  }

  async resize(size: Size): Promise<void> {
    checkSize(size);
    if (this.#open) this.#pty.resize(size.cols, size.rows);
  }

  async kill(signal: Signal): Promise<void> {
    if (!this.#open) return;
    if (this.#unix !== undefined) return signalTerminal(this.#pty.pid, foregroundGroup(this.#pty.pid), signal);
    if (signal !== 'HUP' && signal !== 'TERM' && signal !== 'KILL') {
      throw new FairleadError('unsupported', `Windows has no signal ${signal}.`, {
        hint: 'Send Ctrl-C as a key to interrupt; HUP, TERM and KILL end the terminal.',
      });
    }
    this.#pty.kill();
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
    const { pid } = this.#pty;
    if (this.#unix === undefined) await this.#killOnWindows();
    else await endProgram({ leader: pid, foreground: foregroundGroup(pid), exited: this.ended }, this.#ending);
    this.#finish(neverEnds(pid));
  }

  /** There is nothing to hang up: the driver ends the program at once. */
  async #killOnWindows(): Promise<void> {
    this.#pty.kill();
    await settledWithin(this.ended, GIVE_UP_MS);
  }

  /** However the driver comes to close its socket, read first what the kernel still holds. */
  #drainBeforeClose(socket: ReadStream): void {
    const destroy = socket.destroy.bind(socket);
    socket.on('error', () => {});
    socket.destroy = (error) => {
      this.#drain();
      this.#unix = undefined;
      return destroy(error);
    };
  }

  #drain(): void {
    const unix = this.#unix;
    if (unix === undefined) return;
    // What the paused socket has read already comes first; it arrives through the data listener.
    while (unix._socket.read() !== null);
    const buffer = new Uint8Array(HELD);
    let filled = 0;
    try {
      while (filled < HELD) {
        const length = readSync(unix.fd, buffer, filled, HELD - filled, null);
        if (length === 0) break;
        filled += length;
      }
    } catch {
      // EAGAIN, or EIO at the end: either way everything is read.
    }
    if (!this.output.push(buffer.slice(0, filled))) this.#pty.pause();
  }

  #tryWrite(bytes: Uint8Array): number {
    if (!this.#open) return 0;
    if (this.#unix !== undefined) {
      try {
        return writeSync(this.#unix.fd, bytes);
      } catch {
        return 0;
      }
    }
    this.#pty.write(Buffer.from(bytes));
    return bytes.length;
  }

  #finish(ended: Ended): void {
    if (!this.#open) return;
    this.#open = false;
    this.#input.end();
    this.#unix?._socket.destroy();
    this.output.end();
    this.#settle(ended);
  }

  #foreground(): Foreground | undefined {
    const pid = this.#open ? foregroundGroup(this.#pty.pid) : undefined;
    const name = pid === undefined ? undefined : programName(pid);
    if (pid === undefined || name === undefined) return undefined;
    return { pid, name, isLeader: pid === this.#pty.pid, ...programArguments(pid) };
  }
}
