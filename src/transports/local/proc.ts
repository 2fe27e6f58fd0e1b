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

/** Every process group of the session that has a living member. Empty where there is no `/proc`. */
export function sessionGroups(session: number): Set<number> {
  const groups = new Set<number>();
  for (const pid of processes()) {
    const fields = stat(pid);
    // The dead stay listed until their parent, or whoever adopts orphans, asks for them.
    if (fields !== undefined && Number(fields[3]) === session && fields[0] !== 'Z') groups.add(Number(fields[2]));
  }
  return groups;
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
