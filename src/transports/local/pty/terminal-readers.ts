import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { groupMembers, stat } from './proc.ts';

/** Numbers of the system calls in which a program waits for a file: they differ from machine to machine. */
const waitingCalls: Readonly<Record<string, Readonly<Record<number, 'read' | 'poll' | 'select' | 'epoll'>>>> = {
  x64: { 0: 'read', 7: 'poll', 271: 'poll', 23: 'select', 270: 'select', 232: 'epoll', 281: 'epoll', 441: 'epoll' },
  arm64: { 63: 'read', 73: 'poll', 72: 'select', 22: 'epoll', 441: 'epoll' },
};

/**
 * Whether a process of the group, or one that it started, waits for input of the terminal right now: `su -c` gives its command
 * a session of its own. Undefined when one cannot be looked at, for it belongs to another user, unless another one does wait.
 * `leader`: the terminal's first process.
 */
export function groupReads(group: number, terminal: string, leader: number): boolean | undefined {
  const look = (pid: string): (boolean | undefined)[] =>
    threads(pid).map((thread) => threadReads(pid, thread, terminal));
  // Nearly always it is the leader of the group.
  if (look(String(group)).includes(true)) return true;
  const found = members(group, leader).flatMap(look);
  if (found.includes(true)) return true;
  return found.length === 0 || found.includes(undefined) ? undefined : false;
}

/** Looks through all processes of the machine only where those of the terminal do not lead to the group. */
function members(group: number, leader: number): readonly string[] {
  const found = descendants(String(leader), group, false);
  return found.length > 0 ? found : groupMembers(group);
}

/** The process and all that it started, as far as they are in the group or were started by one that is. */
function descendants(pid: string, group: number, within: boolean): string[] {
  const [state, , own] = stat(pid) ?? ['Z'];
  const isIn = within || Number(own) === group;
  const below = threads(pid).flatMap((thread) => children(pid, thread));
  const found = below.flatMap((child) => descendants(child, group, isIn));
  return isIn && state !== 'Z' ? [pid, ...found] : found;
}

function children(pid: string, thread: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      .split(' ')
      .filter((word) => word !== '');
  } catch {
    return [];
  }
}

function threads(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function threadReads(pid: string, thread: string, terminal: string): boolean | undefined {
  const calls = waitingCalls[process.arch];
  try {
    const words = readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1').trim().split(' ');
    if (!calls) return undefined;
    const number = Number(words[0]);
    // "running", or -1: it waits for no call now.
    if (!(number >= 0)) return false;
    const [first = 0, second = 0] = words.slice(1).map(Number);
    const isTerminal = (fd: number): boolean => [terminal, '/dev/tty'].includes(readlinkSync(`/proc/${pid}/fd/${fd}`));
    switch (calls[number]) {
      case 'read':
        return isTerminal(first);
      case 'poll':
        return polled(memory(pid, first, second * 8)).some(isTerminal);
      case 'select':
        return second === 0 ? false : selected(memory(pid, second, Math.ceil(first / 8)), first).some(isTerminal);
      case 'epoll':
        return epolled(pid, first).some(isTerminal);
      default:
        return false;
    }
  } catch {
    return undefined;
  }
}

const POLLIN = 1;
const EPOLLIN = 1;

function polled(list: Buffer): number[] {
  const fds: number[] = [];
  for (let at = 0; at < list.length; at += 8) {
    if (list.readInt32LE(at) >= 0 && (list.readInt16LE(at + 4) & POLLIN) !== 0) fds.push(list.readInt32LE(at));
  }
  return fds;
}

function selected(bits: Buffer, count: number): number[] {
  return Array.from({ length: count }, (_, fd) => fd).filter((fd) => ((bits[fd >> 3] ?? 0) & (1 << (fd & 7))) !== 0);
}

function epolled(pid: string, fd: number): number[] {
  const text = readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1');
  return [...text.matchAll(/^tfd:\s+(\d+) events:\s+([0-9a-f]+)/gm)]
    .filter(([, , events = '0']) => (Number.parseInt(events, 16) & EPOLLIN) !== 0)
    .map(([, target]) => Number(target));
}

/** No program waits for more descriptors with one of the calls that list them. */
const mostListed = 8192;

/** The list of descriptors a call was given: it stands only in the caller's memory. */
function memory(pid: string, address: number, length: number): Buffer {
  if (length > mostListed) throw new RangeError('too long');
  const bytes = Buffer.alloc(length);
  const fd = openSync(`/proc/${pid}/mem`, 'r');
  try {
    if (readSync(fd, bytes, 0, length, address) !== length) throw new RangeError('short');
  } finally {
    closeSync(fd);
  }
  return bytes;
}
