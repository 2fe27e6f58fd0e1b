import type { Foreground, ProcessView, Size } from '../../../engine/terminal/channel.ts';
import { type Libc, TCGETS, TIOCGPGRP, TIOCSWINSZ } from './libc.ts';
import { initialEnvironment, programArguments, programName, workingDirectory } from './proc.ts';
import { signalGroup, wake } from './signals.ts';
import { groupReads } from './terminal-readers.ts';
import { inputModeOf, longestLineOf } from './termios.ts';

/** Answers of the system; each is read before the next is asked for. */
const group = new Int32Array(1);
const settings = new Uint32Array(64);

/** The process group in the foreground, as the master of its terminal knows it. */
export function foregroundOf(libc: Libc, master: number): number | undefined {
  const known = libc.ioctl(master, TIOCGPGRP, group) === 0;
  return known && group[0] !== undefined && group[0] > 0 ? group[0] : undefined;
}

export function setSize(libc: Libc, master: number, { cols, rows }: Size): void {
  libc.ioctl(master, TIOCSWINSZ, new Uint16Array([rows, cols, 0, 0]));
}

/** What the holder of a PTY master sees of its program; nothing once the master is closed. */
export function masterView(libc: Libc, pid: number, terminal: string, master: () => number | undefined): ProcessView {
  const foregroundGroup = (): number | undefined => {
    const fd = master();
    return fd === undefined ? undefined : foregroundOf(libc, fd);
  };
  const settingsNow = <T>(read: (settings: Uint32Array) => T): T | undefined => {
    const fd = master();
    return fd === undefined || libc.ioctl(fd, TCGETS, settings) !== 0 ? undefined : read(settings);
  };
  const isOpen = (): boolean => master() !== undefined;
  return {
    pid,
    foreground: () => describe(libc, foregroundGroup(), pid),
    environment: () => (isOpen() ? initialEnvironment(pid) : undefined),
    cwd: () => (isOpen() ? workingDirectory(foregroundGroup() ?? pid) : undefined),
    inputMode: () => settingsNow(inputModeOf),
    longestLine: () => settingsNow(longestLineOf),
    signal: (signal) => {
      if (isOpen()) signalGroup(foregroundGroup() ?? pid, signal);
    },
    wake: () => {
      if (isOpen()) wake(pid);
    },
    reads: () => {
      const waiting = foregroundGroup();
      return waiting === undefined ? undefined : groupReads(waiting, terminal, pid);
    },
  };
}

/** The program that leads a group; undefined when there is none or it cannot be looked at. */
export function describe(libc: Libc, found: number | undefined, leader: number): Foreground | undefined {
  const name = found === undefined ? undefined : programName(found, libc.readShort) || undefined;
  return found === undefined || name === undefined ? undefined : new Program(found, name, found === leader);
}

class Program implements Foreground {
  readonly pid: number;
  readonly name: string;
  readonly isLeader: boolean;

  constructor(pid: number, name: string, isLeader: boolean) {
    this.pid = pid;
    this.name = name;
    this.isLeader = isLeader;
  }

  /** Read only when asked for: few callers need it, and many ask who is in the foreground. */
  get arguments(): readonly string[] | undefined {
    return programArguments(this.pid).arguments;
  }
}
