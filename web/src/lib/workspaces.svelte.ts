import { feed } from './feed.svelte.ts';
import type { Restored, WorkspaceListed } from './shapes.ts';

/** Saved workspaces, the plan of the one that is looked at, and what became of a restore. */
export class WorkspaceList {
  all = $state<readonly WorkspaceListed[]>();
  fault = $state<unknown>();
  /** What a restore of the chosen one would do. */
  plan = $state<Restored>();
  planFault = $state<unknown>();
  /** Off until a person says otherwise. */
  runsCommands = $state(false);
  done = $state<Restored>();
  isBusy = $state(false);
  /** One line about the last act. */
  said = $state('');
  actFault = $state<unknown>();

  async load(): Promise<void> {
    this.fault = undefined;
    try {
      const answer = await feed.live?.call<{ workspaces: WorkspaceListed[] }>('workspace.list', {});
      if (answer) this.all = answer.workspaces;
    } catch (error) {
      this.fault = error;
    }
  }

  async save(name: string): Promise<boolean> {
    return await this.#act(async () => {
      const answer = await feed.live?.call<{ sessions: number }>('workspace.save', { name });
      this.said = `${name} is saved with ${counted(answer?.sessions ?? 0)}.`;
    });
  }

  async remove(name: string): Promise<void> {
    await this.#act(async () => {
      await feed.live?.call('workspace.delete', { name });
      if (this.plan?.name === name) this.plan = undefined;
      this.said = `${name} is removed.`;
    });
  }

  /** What would open where. Does nothing. */
  async look(name: string): Promise<void> {
    this.done = undefined;
    this.planFault = undefined;
    try {
      const input = { name, dry_run: true, run_commands: this.runsCommands };
      this.plan = await feed.live?.call<Restored>('workspace.restore', input);
    } catch (error) {
      this.plan = undefined;
      this.planFault = error;
    }
  }

  close(): void {
    this.plan = undefined;
    this.done = undefined;
    this.planFault = undefined;
    this.runsCommands = false;
  }

  async restore(): Promise<void> {
    const { plan } = this;
    if (!plan) return;
    await this.#act(async () => {
      const input = { name: plan.name, run_commands: this.runsCommands };
      this.done = await feed.live?.call<Restored>('workspace.restore', input);
    });
  }

  async #act(act: () => Promise<void>): Promise<boolean> {
    this.isBusy = true;
    this.said = '';
    this.actFault = undefined;
    try {
      await act();
      await this.load();
      return true;
    } catch (error) {
      this.actFault = error;
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}

export const counted = (terminals: number): string => `${terminals} ${terminals === 1 ? 'terminal' : 'terminals'}`;
