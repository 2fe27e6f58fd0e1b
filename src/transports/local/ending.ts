import { setTimeout } from 'node:timers/promises';
import type { Ended, Signal } from '../../engine/channel.ts';
import { sessionGroups } from './proc.ts';
import { settledWithin } from './settled-within.ts';
import { signalGroup } from './signals.ts';

/** Asked to hang up, a program has this long until it is told to terminate. */
const TERM_AFTER_MS = 250;
/** And this long from there until it is killed, when its server ends: that must be gone in two seconds (R-TERM-140). */
export const HURRIED_MS = 250;
/** A killed process that is still there then is stuck in the kernel; a server must be gone in two seconds. */
export const GIVE_UP_MS = 800;
/** Whoever comes later and has less time waits this long at most. */
const LONGEST_PAUSE_MS = 160;

/** The end of a terminal's program, begun once. Whoever gives it the least time decides, also when he comes later. */
export class Ending {
  /** On the clock of `performance.now`. */
  killAt = Number.POSITIVE_INFINITY;
  readonly #end: () => Promise<void>;
  #done: Promise<void> | undefined;

  constructor(end: () => Promise<void>) {
    this.#end = end;
  }

  /** With this much time to save its work. */
  within(graceMs: number): Promise<void> {
    this.killAt = Math.min(this.killAt, performance.now() + TERM_AFTER_MS + graceMs);
    this.#done ??= this.#end();
    return this.#done;
  }
}

export interface Program {
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
export async function endProgram({ leader, groups, exited, kill }: Program, ending: Ending): Promise<void> {
  const termAt = performance.now() + TERM_AFTER_MS;
  let told = false;
  /** How long until something is to be done; nothing when it was the last. */
  const go = async (signal: (signal: Signal) => Promise<void> | void): Promise<number | undefined> => {
    const now = performance.now();
    if (now >= ending.killAt) {
      await signal('KILL');
      return undefined;
    }
    if (!told && now >= termAt) {
      told = true;
      await signal('TERM');
    }
    return Math.max(1, Math.min(LONGEST_PAUSE_MS, (told ? ending.killAt : Math.min(termAt, ending.killAt)) - now));
  };
  await kill('HUP');
  for (let isThere = true; isThere; ) {
    const pause = await go(kill);
    isThere = !(await settledWithin(exited, pause ?? GIVE_UP_MS)) && pause !== undefined;
  }
  // They are nobody's children by now and no event tells of their end, so they are looked at now and then. Each look goes
  // through all processes: the longer they stay, the rarer it is.
  for (let left = alive(leader, groups), short = 5; left.length > 0; left = alive(leader, left), short *= 2) {
    const signal = (name: Signal): void => {
      for (const group of left) signalGroup(group, name);
    };
    const pause = await go(signal);
    if (pause === undefined) return;
    await setTimeout(Math.min(pause, short));
  }
}

/** What is said of a program that was killed and is still there. */
export const neverEnds = (pid: number): Ended => ({
  by: 'lost',
  reason: `Process ${pid} does not end, not even when killed.`,
});

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
