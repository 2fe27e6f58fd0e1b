import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Signal } from '../../engine/channel.ts';
import { sessionGroups } from './proc.ts';
import { settledWithin } from './settled-within.ts';

/** Sends to the group in the foreground, and what ends things to every group of the session that `leader` leads. */
export function signalTerminal(leader: number, foreground: number | undefined, signal: Signal): void {
  const ending = signal === 'HUP' || signal === 'TERM' || signal === 'KILL';
  const groups = ending ? groupsOf(leader, foreground) : new Set([foreground ?? leader]);
  for (const group of groups) signalGroup(group, signal);
  // A stopped process hears nothing until it continues.
  if (signal === 'HUP' || signal === 'TERM') for (const group of groups) signalGroup(group, 'CONT');
}

/** One process alone. Nobody ends of it, for unlike all others this signal is ignored by those who do not ask for it. */
export function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGWINCH');
  } catch {
    // It has just ended.
  }
}

/** Asked to hang up, a program has this long until it is told to terminate. */
const TERM_AFTER_MS = 250;
/** And this long from there until it is killed, when its server ends: that must be gone in two seconds (R-TERM-140). */
export const HURRIED_MS = 250;
/** A killed process that is still there then is stuck in the kernel; a server must be gone in two seconds. */
export const GIVE_UP_MS = 800;
const LONGEST_PAUSE_MS = 40;

/**
 * Every group that our closing must end: background jobs too, which may ignore HUP (`nohup`). What `setsid` started is
 * in another session and lives on, by its own wish.
 */
export function groupsOf(leader: number, foreground: number | undefined): Set<number> {
  return new Set([leader, foreground ?? leader, ...sessionGroups(leader)]);
}

/** The time a program has to save its work. Whoever has less of it decides, also when he comes later. */
export class Grace {
  /** On the clock of `performance.now`. */
  killAt = Number.POSITIVE_INFINITY;

  atMost(ms: number): void {
    this.killAt = Math.min(this.killAt, performance.now() + TERM_AFTER_MS + ms);
  }
}

export interface Ending {
  readonly leader: number;
  readonly groups: ReadonlySet<number>;
  /** Settles when the leader is gone. */
  readonly exited: Promise<unknown>;
  readonly kill: (signal: Signal) => Promise<void>;
}

/**
 * HUP at once, TERM a moment later, KILL when the grace is over: to the program, and to the groups that outlive it. Settles when
 * all of them are gone.
 */
export async function endProgram({ leader, groups, exited, kill }: Ending, grace: Grace): Promise<void> {
  const termAt = performance.now() + TERM_AFTER_MS;
  let told = false;
  /** How long until something is to be done; nothing when it was the last. */
  const go = async (signal: (signal: Signal) => Promise<void> | void): Promise<number | undefined> => {
    const now = performance.now();
    if (now >= grace.killAt) {
      await signal('KILL');
      return undefined;
    }
    if (!told && now >= termAt) {
      told = true;
      await signal('TERM');
    }
    return Math.max(1, Math.min(LONGEST_PAUSE_MS, (told ? grace.killAt : Math.min(termAt, grace.killAt)) - now));
  };
  await kill('HUP');
  for (let isThere = true; isThere; ) {
    const pause = await go(kill);
    isThere = !(await settledWithin(exited, pause ?? GIVE_UP_MS)) && pause !== undefined;
  }
  // They are nobody's children by now and no event tells of their end, so they are looked at now and then.
  for (let left = alive(leader, groups), short = 5; left.length > 0; left = alive(leader, left), short *= 2) {
    const signal = (name: Signal): void => {
      for (const group of left) signalGroup(group, name);
    };
    const pause = await go(signal);
    if (pause === undefined) return;
    await setTimeout(Math.min(pause, short));
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
