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

export function kill({ pid }: Running): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
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
