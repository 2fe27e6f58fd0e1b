import { feed } from './feed.svelte.ts';
import type { HealthChecked } from './shapes.ts';

interface SelfTest {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly skipped?: true;
    readonly ms: number;
    readonly detail: unknown;
  }[];
}

/** What a server says of itself, and its self-test. */
export class Health {
  found = $state<HealthChecked>();
  fault = $state<unknown>();
  isChecking = $state(false);
  test = $state<SelfTest>();
  testFault = $state<unknown>();
  isTesting = $state(false);

  async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    this.fault = undefined;
    try {
      this.found = await feed.live?.call<HealthChecked>('health.check', {});
    } catch (error) {
      this.fault = error;
    } finally {
      this.isChecking = false;
    }
  }

  async selfTest(): Promise<void> {
    this.isTesting = true;
    this.testFault = undefined;
    try {
      this.test = await feed.live?.call<SelfTest>('selftest.run', {});
    } catch (error) {
      this.testFault = error;
    } finally {
      this.isTesting = false;
    }
  }
}
