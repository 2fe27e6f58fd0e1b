import { readFileSync } from 'node:fs';
import { runProgram } from './run-program.ts';

const toolMs = 2000;
/** Far more than any process has. */
const mostAncestors = 1000;

/** A process, those that started it, and the leader of its session; empty when there is no such process. */
export async function ancestorsOf(pid: number, signal: AbortSignal): Promise<ReadonlySet<number>> {
  const parents = process.platform === 'linux' ? undefined : await listed(signal);
  const found = new Set<number>();
  for (let at = pid; at > 0 && !found.has(at) && found.size < mostAncestors; ) {
    const about = parents ? parents.get(at) : fromProc(at);
    if (about === undefined) break;
    found.add(at);
    // A process whose parent has ended belongs to process 1, and still to its session.
    if (about.session > 0) found.add(about.session);
    at = about.parent;
  }
  return found;
}

interface Origins {
  readonly parent: number;
  readonly session: number;
}

function fromProc(pid: number): Origins | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [, parent, , session] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(parent), session: Number(session) };
  } catch {
    return undefined;
  }
}

/** Every process of a machine without `/proc`; empty where there is no `ps` either. */
async function listed(signal: AbortSignal): Promise<ReadonlyMap<number, Origins>> {
  try {
    const limits = { limitMs: toolMs, mostBytes: 8 << 20, signal };
    const { ok, stdout } = await runProgram('ps', ['-A', '-o', 'pid=,ppid='], limits);
    const rows = ok ? stdout.toString().trim().split('\n') : [];
    return new Map(
      rows.map((row) => {
        const [pid = 0, parent = 0] = row.trim().split(/\s+/).map(Number);
        return [pid, { parent, session: 0 }] as const;
      }),
    );
  } catch {
    return new Map();
  }
}
