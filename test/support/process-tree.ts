import { readdirSync, readFileSync, statSync } from 'node:fs';

export interface Running {
  readonly pid: number;
  readonly name: string;
  /** Tells it from a later process with the same pid. */
  readonly started: string;
}

/** Every process below this one, as /proc shows them now. */
export function below(root: number): Running[] {
  const all = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? (look(Number(entry)) ?? []) : []));
  const found: (Running & { parent: number })[] = [];
  const wanted = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const process of all) {
      if (wanted.has(process.pid) || !wanted.has(process.parent)) continue;
      wanted.add(process.pid);
      found.push(process);
      grown = true;
    }
  }
  return found;
}

/** Every process of a user, wherever it hangs: what a command started may have lost its parent. */
export function ofUser(uid: number): Running[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || statSync(`/proc/${entry}`, { throwIfNoEntry: false })?.uid !== uid) return [];
    return look(Number(entry)) ?? [];
  });
}

export const alive = ({ pid, started }: Running): boolean => look(pid)?.started === started;

export function signal({ pid }: Running, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

export const kill = (process: Running): void => signal(process, 'SIGKILL');

/** Stops those below this one that are wanted. Looks again until there is no new one: who is stopped starts no other. */
export function stopBelow(root: number, wanted: (process: Running) => boolean): Running[] {
  const stopped: Running[] = [];
  const isNew = (one: Running): boolean =>
    !stopped.some(({ pid, started }) => pid === one.pid && started === one.started);
  for (;;) {
    const found = below(root).filter((process) => wanted(process) && isNew(process));
    if (found.length === 0) return stopped;
    for (const process of found) signal(process, 'SIGSTOP');
    stopped.push(...found);
  }
}

function look(pid: number): (Running & { parent: number }) | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return { pid, name: stat.slice(stat.indexOf('(') + 1, end), parent: Number(fields[1]), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
