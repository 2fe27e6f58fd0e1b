import { monitorEventLoopDelay } from 'node:perf_hooks';
import { accessSync, constants, statfsSync } from 'node:fs';
import { Emitter } from '../../lib/emitter.ts';
import { partKey } from '../part.ts';
import type { Instances } from './instances.ts';
import type { OwnInstance } from './own-instance.ts';

/** What a server needs of its machine to be well (R-RPC-132). */
export interface Vitals {
  readonly isWritable: (folder: string) => boolean;
  /** Of the disk a folder is on. */
  readonly freeBytes: (folder: string) => number;
  /** Why no terminal of this machine can be opened; undefined when one can. */
  readonly noTerminals: () => Promise<string | undefined>;
  /** How late timers were at worst since the last question. */
  readonly lateMs: () => number;
}

const systemVitals: Vitals = {
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
  lateMs,
};

let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;

/** Costs a timer every 20 ms, so it begins with the first question. */
function lateMs(): number {
  const worst = delay === undefined ? 0 : delay.max / 1e6;
  if (delay === undefined) {
    delay = monitorEventLoopDelay({ resolution: 20 });
    delay.enable();
  } else delay.reset();
  return worst;
}

export interface Focus {
  readonly session: number | undefined;
}

/** This process as one of the instances of its state root: what operations about instances work with. */
export class RunningInstance implements AsyncDisposable {
  readonly own: OwnInstance;
  readonly peers: Instances;
  /** Somebody wants this instance, or one of its sessions, to be looked at. Whoever shows it to a person listens. */
  readonly focused = new Emitter<Focus>();
  readonly vitals: Vitals;

  constructor(own: OwnInstance, peers: Instances, vitals: Partial<Vitals> = {}) {
    this.own = own;
    this.peers = peers;
    this.vitals = { ...systemVitals, ...vitals };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.own[Symbol.dispose]();
  }
}

export const runningInstance = partKey<RunningInstance>('instance of its own; it is started with `fairlead serve`');
