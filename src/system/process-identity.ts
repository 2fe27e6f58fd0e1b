import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identifies the writer of a part file, also after its pid was reused. */
export interface WriterIdentity {
  readonly pid: number;
  readonly host: string;
  /** When the process started, as the machine counts. Absent where that cannot be read. */
  readonly started?: string;
  /** The run of the machine, and the process numbering, that `pid` belongs to. */
  readonly boot?: string;
  readonly namespace?: string;
}

export function ownIdentity(): WriterIdentity {
  const started = startOf(process.pid);
  return { pid: process.pid, host: hostname(), ...(started === undefined ? {} : { started }), ...machine() };
}

/** 'unknown' when the writer is out of sight: another machine or container. */
export function writerState(writer: WriterIdentity): 'alive' | 'dead' | 'unknown' {
  const here = machine();
  if (writer.host !== hostname()) return 'unknown';
  if (writer.boot !== here.boot) return 'dead';
  if (writer.namespace !== here.namespace) return 'unknown';
  if (!exists(writer.pid)) return 'dead';
  const started = startOf(writer.pid);
  return started === undefined || writer.started === undefined || started === writer.started ? 'alive' : 'dead';
}

export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The process's start in clock ticks since boot; a zombie has ended. Linux only. */
export function startOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name may hold anything, also spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields?.[0] === 'Z' || fields?.[0] === 'X') return 'ended';
  return fields?.[19];
}

function machine(): { boot?: string; namespace?: string } {
  const boot = read('/proc/sys/kernel/random/boot_id')?.trim();
  const namespace = link('/proc/self/ns/pid');
  return { ...(boot === undefined ? {} : { boot }), ...(namespace === undefined ? {} : { namespace }) };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
