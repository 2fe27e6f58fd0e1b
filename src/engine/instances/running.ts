import { monitorEventLoopDelay } from 'node:perf_hooks';
import { accessSync, constants, statfsSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import { serviceKey } from '../call/service.ts';
import { systemClock } from '../../system/clock.ts';
import type { Instances } from './instances.ts';
import type { OwnInstance } from './own-instance.ts';

/** What a server needs of its machine to be well. */
export interface Vitals {
  readonly isWritable: (folder: string) => boolean;
  /** Of the disk a folder is on. */
  readonly freeBytes: (folder: string) => number;
  /** Why no terminal of this machine can be opened; undefined when one can. */
  readonly noTerminals: () => Promise<string | undefined>;
  /** Runs `true` on a terminal of this machine: why that failed, or undefined. */
  readonly runsTrue: (signal: AbortSignal) => Promise<string | undefined>;
  /** How late timers were at worst lately. */
  readonly lateMs: () => number;
}

const systemVitals: Omit<Vitals, 'lateMs'> = {
  isWritable: (folder) => {
    try {
      accessSync(folder, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  freeBytes: (folder) => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  },
  noTerminals: async () => undefined,
  runsTrue: async () => undefined,
};

/** How often the loop is sampled: a delay of this length may go unseen. */
const lookMs = 100;
/** Reported delays are at most one to two of these old. */
const rememberedMs = 60_000;

type LoopDelay = Pick<ReturnType<typeof monitorEventLoopDelay>, 'max' | 'enable' | 'disable' | 'reset'>;

/** How late the loop of this process was at worst lately. */
export class Lateness implements Disposable {
  readonly #clock: Clock;
  readonly #delay: LoopDelay;
  /** In the minute before this one. */
  #before = 0;
  #turn: Disposable;

  constructor(clock: Clock = systemClock, delay: LoopDelay = monitorEventLoopDelay({ resolution: lookMs })) {
    this.#clock = clock;
    this.#delay = delay;
    this.#delay.enable();
    this.#turn = this.#nextTurn();
  }

  get worstMs(): number {
    return Math.max(this.#before, this.#now);
  }

  get #now(): number {
    return Math.max(0, this.#delay.max / 1e6 - lookMs);
  }

  /** By a timer rather than on request: otherwise an old delay would count as new. */
  #nextTurn(): Disposable {
    return this.#clock.after(rememberedMs, () => {
      this.#before = this.#now;
      this.#delay.reset();
      this.#turn = this.#nextTurn();
    });
  }

  [Symbol.dispose](): void {
    this.#turn[Symbol.dispose]();
    this.#delay.disable();
  }
}

/** This process as one of the instances of its state root: what operations about instances work with. */
export class RunningInstance implements AsyncDisposable {
  readonly own: OwnInstance;
  readonly peers: Instances;
  readonly vitals: Vitals;
  readonly #lateness = new Lateness();

  constructor(own: OwnInstance, peers: Instances, vitals: Partial<Vitals> = {}) {
    this.own = own;
    this.peers = peers;
    this.vitals = { ...systemVitals, lateMs: () => this.#lateness.worstMs, ...vitals };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lateness[Symbol.dispose]();
    this.own[Symbol.dispose]();
  }
}

export const runningInstance = serviceKey<RunningInstance>('instance of its own; it is started with `fairlead serve`');
