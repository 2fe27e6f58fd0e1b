import { constants } from 'node:os';
import type { Signal } from '../../../engine/terminal/channel.ts';
import { type Member, sessionMembers } from './proc.ts';

/** Sends to the group in the foreground, and what ends things to every group of the session that `leader` leads. */
export function signalTerminal(leader: number, foreground: number | undefined, signal: Signal): void {
  const ending = signal === 'HUP' || signal === 'TERM' || signal === 'KILL';
  const groups = ending ? groupsOf(leader, foreground) : new Set([foreground ?? leader]);
  for (const group of groups) signalGroup(group, signal);
  // A stopped process hears nothing until it continues.
  if (signal === 'HUP' || signal === 'TERM') for (const group of groups) signalGroup(group, 'CONT');
}

/** One process alone. Unlike other signals, this one is ignored by default and ends no process. */
export function wake(pid: number): void {
  send(pid, 'SIGWINCH');
}

/** One process, and nothing else. Silent when it is gone. */
export function signalProcess(pid: number, signal: Signal): void {
  send(pid, `SIG${signal}`);
}

/**
 * Every group that our closing must end: background jobs too, which may ignore HUP (`nohup`). What `setsid` started is
 * in another session and lives on, by its own wish.
 */
export function groupsOf(
  leader: number,
  foreground: number | undefined,
  members: readonly Member[] = sessionMembers(leader),
): Set<number> {
  return new Set([leader, foreground ?? leader, ...members.map(({ group }) => group)]);
}

/** One group, and nothing else. Silent when it is gone. */
export function signalGroup(group: number, signal: Signal): void {
  send(-group, `SIG${signal}`);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or another user's: either way there is nothing left for us to do.
  }
}

/** `TERM` for 15; the number itself where it has no name. */
export function signalName(signal: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === signal)?.[0];
  return found === undefined ? String(signal) : found.slice('SIG'.length);
}
