import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What Linux tells about running processes. Everything here may have ended since: undefined, never an error. */

/** Fields of `/proc/<pid>/stat` after the name, which may itself hold spaces and parentheses. */
export function stat(pid: number | string): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The group in the foreground of the terminal this process is attached to. */
export function foregroundGroup(pid: number): number | undefined {
  const group = Number(stat(pid)?.[5] ?? 0);
  return group > 0 ? group : undefined;
}

/** When the process was started, in ticks since the machine was: with its number it names one process for ever. */
export function startTime(pid: number): number | undefined {
  const ticks = stat(pid)?.[19];
  return ticks === undefined ? undefined : Number(ticks);
}

/** It runs, and is the one that was started then: not one that waits to be buried, or another with its number. */
export function isAlive(pid: number, started: number | undefined): boolean {
  const fields = stat(pid);
  return fields !== undefined && Number(fields[19]) === started && fields[0] !== 'Z' && fields[0] !== 'X';
}

/** A process of a session that has not ended. */
export interface Member {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly isStopped: boolean;
}

interface Process extends Member {
  readonly session: number;
}

/** The newest look at all processes, and when it began. */
let newest: { readonly all: readonly Process[]; readonly at: number } = { all: [], at: Number.NEGATIVE_INFINITY };

/**
 * Every process of the session that has not ended. Empty where there is no `/proc`. A look at all processes takes some
 * milliseconds: one that began at `since` or later, on the clock of `performance.now`, will do.
 */
export function sessionMembers(session: number, since = Number.POSITIVE_INFINITY): readonly Member[] {
  if (newest.at < since) {
    const at = performance.now();
    newest = { all: processes().flatMap((pid) => living(Number(pid)) ?? []), at };
  }
  return newest.all.filter((process) => process.session === session);
}

function living(pid: number): Process | undefined {
  const fields = stat(pid);
  // Zombies stay listed until their parent, or init, reaps them.
  if (fields === undefined || fields[0] === 'Z') return undefined;
  const [state, parent, group, session] = fields;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    isStopped: state === 'T',
  };
}

/** The process has not ended. */
export const isRunning = (pid: number): boolean => living(pid) !== undefined;

/** Every process group of the session that has a living member. Empty where there is no `/proc`. */
export function sessionGroups(session: number, since?: number): Set<number> {
  return new Set(sessionMembers(session, since).map(({ group }) => group));
}

/** The process ignores this signal, so that sending it would change nothing. */
export function ignoresSignal(pid: number, signal: number): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** Those of the group that have not ended. */
export function groupMembers(group: number): string[] {
  return processes().filter((pid) => {
    const fields = stat(pid);
    return fields !== undefined && Number(fields[2]) === group && fields[0] !== 'Z';
  });
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
}

/** The name the program was started by, as `ps` says it: `vim`, not the `vim.basic` it links to. */
export function programName(
  pid: number,
  read: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): string | undefined {
  try {
    const comm = read(`/proc/${pid}/comm`).trimEnd();
    // The kernel cuts at 15 bytes; only then is the link worth a second look.
    if (Buffer.byteLength(comm) < 15) return comm;
    const executable = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
    const name = executable.slice(executable.lastIndexOf('/') + 1);
    return name.startsWith(comm) ? name : comm;
  } catch {
    return undefined;
  }
}

/** Its command line; empty where a process cannot be looked at. */
export function programArguments(pid: number): { readonly arguments?: readonly string[] } {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return text === '' ? {} : { arguments: text.replace(/\0$/, '').split('\0') };
  } catch {
    return {};
  }
}

export function workingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** The environment a process began with. */
export function initialEnvironment(pid: number): ReadonlyMap<string, string> | undefined {
  try {
    const records = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const pairs = records.filter((record) => record.indexOf('=') > 0);
    return new Map(
      pairs.map((record) => [record.slice(0, record.indexOf('=')), record.slice(record.indexOf('=') + 1)]),
    );
  } catch {
    return undefined;
  }
}
