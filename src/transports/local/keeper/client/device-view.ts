import { closeSync, constants, openSync } from 'node:fs';
import type { ProcessView } from '../../../../engine/terminal/channel.ts';
import { type Libc, TCGETS } from '../../pty/libc.ts';
import { describe } from '../../pty/master-view.ts';
import { foregroundGroup, initialEnvironment, startTime, workingDirectory } from '../../pty/proc.ts';
import { signalGroup, wake } from '../../pty/signals.ts';
import { inputModeOf, longestLineOf } from '../../pty/termios.ts';
import { groupReads } from '../../pty/terminal-readers.ts';
import type { Spawned } from '../messages.ts';

/**
 * What can be seen of a program whose terminal another process holds. Each question opens the device and closes it again: a
 * descriptor that stays open would keep the terminal from hanging up.
 */
export function deviceView(
  libc: Libc,
  { pid, startTime: started, terminal }: Spawned,
  isOpen: () => boolean,
): ProcessView {
  const isThere = (): boolean => isOpen() && startTime(pid) === started;
  const group = (): number | undefined => (isThere() ? foregroundGroup(pid) : undefined);
  return {
    pid,
    foreground: () => describe(libc, group(), pid),
    cwd: () => (isThere() ? workingDirectory(foregroundGroup(pid) ?? pid) : undefined),
    environment: () => (isThere() ? initialEnvironment(pid) : undefined),
    signal: (signal) => {
      if (isThere()) signalGroup(foregroundGroup(pid) ?? pid, signal);
    },
    wake: () => {
      if (isThere()) wake(pid);
    },
    inputMode: () => (isThere() ? settingsNow(libc, terminal, inputModeOf) : undefined),
    longestLine: () => (isThere() ? settingsNow(libc, terminal, longestLineOf) : undefined),
    reads: () => {
      const waiting = group();
      return waiting === undefined ? undefined : groupReads(waiting, terminal, pid);
    },
  };
}

function settingsNow<T>(libc: Libc, terminal: string, read: (settings: Uint32Array) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(terminal, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const settings = new Uint32Array(64);
    return libc.ioctl(fd, TCGETS, settings) === 0 ? read(settings) : undefined;
  } finally {
    closeSync(fd);
  }
}
