import { feed } from './feed.svelte.ts';
import { type Machine, machinesOf } from './machines.ts';
import type { ServerHealth, SystemInfo, TargetList } from './shapes.ts';

/** Something that is wrong with this machine, and what to do about it where that is known. */
export interface Finding {
  readonly what: string;
  readonly isCritical: boolean;
}

/** What can be opened, and how this machine is. Terminals come by the feed. */
export class MachineList {
  list = $state.raw<TargetList>();
  system = $state.raw<SystemInfo>();
  health = $state.raw<ServerHealth>();
  checkedAt = $state<number>();
  fault = $state.raw<unknown>();
  isLoading = $state(false);

  get machines(): Machine[] {
    return this.list ? machinesOf(this.list, feed.terminals.values(), feed.me?.name ?? 'This machine') : [];
  }

  /** Of this machine; undefined while nothing is known. */
  get findings(): Finding[] | undefined {
    if (!this.health) return undefined;
    const { reasons = [], settings_problems = [], mux } = this.health;
    return [
      ...reasons.map((what) => ({ what, isCritical: !mux.available })),
      ...settings_problems.map((what) => ({ what, isCritical: false })),
    ];
  }

  /** What was loaded before stays when it fails. */
  async load(): Promise<void> {
    const { live } = feed;
    if (!live || this.isLoading) return;
    this.isLoading = true;
    this.fault = undefined;
    try {
      this.list = await live.call<TargetList>('targets.list', {});
      if (feed.can('health.read')) {
        this.health = await live.call<ServerHealth>('server.health', {});
        this.system = await live.call<SystemInfo>('system.info', {});
        this.checkedAt = Date.now();
      }
    } catch (error) {
      this.fault = error;
    }
    this.isLoading = false;
  }
}
