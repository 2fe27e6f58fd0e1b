import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Signal } from '../../engine/channel.ts';
import { sessionGroups } from './proc.ts';

/** Sends to the group in the foreground, and what ends things to every group of the session that `leader` leads. */
export function signalTerminal(leader: number, foreground: number | undefined, signal: Signal): void {
  const ending = signal === 'HUP' || signal === 'TERM' || signal === 'KILL';
  const groups = ending ? groupsOf(leader, foreground) : new Set([foreground ?? leader]);
  for (const group of groups) signalGroup(group, signal);
  // A stopped process hears nothing until it continues.
  if (signal === 'HUP' || signal === 'TERM') for (const group of groups) signalGroup(group, 'CONT');
}

/** Asked to hang up, a group has this long until it is told to terminate, and until it is killed. */
const TERM_AFTER_MS = 250;
export const KILL_AFTER_MS = 500;
const LONGEST_PAUSE_MS = 40;

/**
 * Every group that our closing must end: background jobs too, which may ignore HUP (`nohup`). What `setsid` started is
 * in another session and lives on, by its own wish.
 */
export function groupsOf(leader: number, foreground: number | undefined): Set<number> {
  return new Set([leader, foreground ?? leader, ...sessionGroups(leader)]);
}

/**
 * Ends groups that outlive their terminal, all of which were sent HUP at `since` on the clock of `performance.now`. They
 * are nobody's children by now and no event tells of their end, so they are looked at now and then.
 */
export async function endGroups(leader: number, groups: ReadonlySet<number>, since: number): Promise<void> {
  let told = false;
  for (let left = alive(leader, groups), pause = 5; left.length > 0; left = alive(leader, left), pause *= 2) {
    const passed = performance.now() - since;
    if (passed >= KILL_AFTER_MS) {
      for (const group of left) signalGroup(group, 'KILL');
      return;
    }
    if (!told && passed >= TERM_AFTER_MS) {
      for (const group of left) signalGroup(group, 'TERM');
      told = true;
    }
    const next = told ? KILL_AFTER_MS : TERM_AFTER_MS;
    await setTimeout(Math.max(1, Math.min(pause, LONGEST_PAUSE_MS, next - passed)));
  }
}

function alive(leader: number, groups: Iterable<number>): number[] {
  const there = [...groups].filter(exists);
  if (there.length === 0 || process.platform !== 'linux') return there;
  const living = sessionGroups(leader);
  return there.filter((group) => living.has(group));
}

function exists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** One group, and nothing else. Silent when it is gone. */
export function signalGroup(group: number, signal: Signal): void {
  try {
    process.kill(-group, `SIG${signal}`);
  } catch {
    // Gone already, or another user's: either way there is nothing left for us to do.
  }
}

/** `TERM` for 15; the number itself where it has no name. */
export function signalName(signal: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === signal)?.[0];
  return found === undefined ? String(signal) : found.slice('SIG'.length);
}
