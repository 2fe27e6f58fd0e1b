import { Emitter } from '../../lib/emitter.ts';
import { partKey } from '../part.ts';
import type { Instances } from './instances.ts';
import type { OwnInstance } from './own-instance.ts';

export interface Focus {
  readonly session: number | undefined;
}

/** This process as one of the instances of its state root: what operations about instances work with. */
export class RunningInstance implements AsyncDisposable {
  readonly own: OwnInstance;
  readonly peers: Instances;
  /** Somebody wants this instance, or one of its sessions, to be looked at. Whoever shows it to a person listens. */
  readonly focused = new Emitter<Focus>();

  constructor(own: OwnInstance, peers: Instances) {
    this.own = own;
    this.peers = peers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.own[Symbol.dispose]();
  }
}

export const runningInstance = partKey<RunningInstance>('instance of its own; it is started with `fairlead serve`');
