import { setTimeout } from 'node:timers/promises';
import type { Ended, Signal } from '../../../engine/terminal/channel.ts';
import { HangUp } from './hang-up.ts';
import { sessionGroups } from './proc.ts';
import { settledWithin } from '../../../system/settled-within.ts';
import { groupsOf, signalGroup } from './signals.ts';

/** From the hang-up to the kill, when the server ends: all of it must be over in two seconds. */
export const HURRIED_MS = 900;
/** A killed process that is still there then is stuck in the kernel; a server must be gone in two seconds. */
export const GIVE_UP_MS = 800;
/** Shells wait for their jobs for most of the time, and no longer than this. */
const HOLD_MS = 1200;
const HOLD_PART = 0.7;
/** What still runs near the end of the time is told to terminate, and no later than this. */
const TERM_MS = 1500;
const TERM_PART = 0.9;
/** Longest wait of a later caller with less time. */
const LONGEST_PAUSE_MS = 160;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_LOOK_MS = 80;

/** The end of a terminal's program, begun once. The shortest limit of all callers applies, also of later ones. */
export class ProgramEnd {
  /** On the clock of `performance.now`. */
  killAt = Number.POSITIVE_INFINITY;
  readonly #end: () => Promise<void>;
  #done: Promise<void> | undefined;

  constructor(end: () => Promise<void>) {
    this.#end = end;
  }

  /** With this much time to save its work. */
  within(graceMs: number): Promise<void> {
    this.killAt = Math.min(this.killAt, performance.now() + graceMs);
    this.#done ??= this.#end();
    return this.#done;
  }
}

export interface Program {
  readonly leader: number;
  /** The group in the foreground. */
  readonly foreground: number | undefined;
  /** Settles when the leader is gone. */
  readonly exited: Promise<unknown>;
}

/**
 * Hangs up, tells what still runs to terminate when most of the time is over, and kills what is left at its end: the program
 * and everything in its session. Settles when all of it is gone.
 */
export async function endProgram({ leader, foreground, exited }: Program, ending: ProgramEnd): Promise<void> {
  const began = performance.now();
  const hangUp = await HangUp.begin(leader, foreground);
  let isThere = true;
  let since = Number.POSITIVE_INFINITY;
  const gone = exited.then(() => {
    isThere = false;
    // Terminals that end together look at the processes together, once their leaders are gone.
    since = performance.now();
  });
  const groups = (): number[] => {
    const living = livingGroups(leader, foreground, since);
    since = performance.now();
    return living;
  };
  const tell = (signal: Signal): void => {
    for (const group of groups()) signalGroup(group, signal);
  };
  const isLeft = (): boolean => isThere || groups().length > 0;
  let told = false;
  for (let lookMs = SHORTEST_PAUSE_MS; isLeft(); lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS)) {
    const now = performance.now();
    const allMs = ending.killAt - began;
    if (now >= ending.killAt) return await kill(tell, isLeft);
    if (now >= began + Math.min(HOLD_MS, allMs * HOLD_PART)) hangUp.release();
    else hangUp.look();
    if (!told && now >= began + Math.min(TERM_MS, allMs * TERM_PART)) {
      told = true;
      tell('TERM');
      tell('CONT');
    }
    // No event tells of the end of a job. Each look goes through all processes: the longer they stay, the rarer it is.
    const pauseMs = Math.min(hangUp.isHolding || !isThere ? lookMs : LONGEST_PAUSE_MS, ending.killAt - now);
    await (isThere ? settledWithin(gone, pauseMs) : setTimeout(pauseMs));
  }
}

async function kill(tell: (signal: Signal) => void, isLeft: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  // Again and again: what is killed may have started something just before.
  for (let pauseMs = SHORTEST_PAUSE_MS; isLeft() && performance.now() < giveUpAt; pauseMs *= 2) {
    tell('KILL');
    await setTimeout(pauseMs);
  }
}

/** What is said of a program that was killed and is still there. */
export const neverEnds = (pid: number): Ended => ({
  by: 'lost',
  reason: `Process ${pid} does not end, not even when killed.`,
});

function livingGroups(leader: number, foreground: number | undefined, since: number): number[] {
  if (process.platform === 'linux') return [...sessionGroups(leader, since)];
  return [...groupsOf(leader, foreground)].filter(exists);
}

function exists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
