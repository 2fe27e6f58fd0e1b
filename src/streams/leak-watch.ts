import type { Clock } from '../lib/clock.ts';
import type { StreamResource } from './resource.ts';
import type { StreamSettings } from './settings.ts';
import { resourceUri } from './uri.ts';

/** A resource that no client ever followed, and that nothing will end. */
export interface LeakWarning {
  readonly code: 'SUB_LEAK_RISK';
  readonly resource: string;
  readonly kind: string;
  readonly age_ms: number;
  readonly severity: 'warn' | 'kill';
  readonly msg: string;
}

type LeakSettings = Pick<StreamSettings, 'leakWarnMs' | 'leakKillMs'>;

/** The warnings about these. */
export function leakWarnings(
  resources: readonly StreamResource[],
  isObserved: (resource: StreamResource) => boolean,
  clock: Clock,
  { leakWarnMs, leakKillMs }: LeakSettings,
): LeakWarning[] {
  return resources.flatMap((resource): LeakWarning[] => {
    const { scheme, id, createdAt } = resource;
    const age = clock.now() - createdAt;
    if (!isLeak(resource, isObserved) || age < leakWarnMs) return [];
    const severity = leakKillMs > 0 && age >= leakKillMs ? 'kill' : 'warn';
    const uri = resourceUri(scheme, id);
    const msg = `No client follows ${uri}, and it is not released by itself.`;
    return [{ code: 'SUB_LEAK_RISK', resource: uri, kind: scheme, age_ms: age, severity, msg }];
  });
}

/** `WARN:` lines. */
export const leakWords = ({ resource, age_ms, severity }: LeakWarning): string =>
  `SUB_LEAK_RISK ${resource} age_ms=${age_ms} severity=${severity}`;

export const isLeak = (resource: StreamResource, isObserved: (resource: StreamResource) => boolean): boolean =>
  resource.leak !== undefined && resource.release === undefined && resource.end === undefined && !isObserved(resource);

/** Ends what leaks for too long, where the operator wants that. One timer for all. */
export class LeakKiller implements Disposable {
  readonly #clock: Clock;
  readonly #killMs: number;
  readonly #leaks: () => readonly StreamResource[];
  readonly #background: (work: Promise<unknown>) => void;
  /** Keys of those that are being ended. */
  readonly #ending = new Set<string>();
  #timer: Disposable | undefined;

  constructor(
    clock: Clock,
    { leakKillMs }: LeakSettings,
    leaks: () => readonly StreamResource[],
    background: (work: Promise<unknown>) => void,
  ) {
    this.#clock = clock;
    this.#killMs = leakKillMs;
    this.#leaks = leaks;
    this.#background = background;
  }

  /** Call it when a resource came. */
  arm(): void {
    if (this.#killMs === 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const oldest = Math.min(...this.#waiting().map(({ createdAt }) => createdAt));
    if (!Number.isFinite(oldest)) return;
    const left = Math.max(1, oldest + this.#killMs - this.#clock.now());
    this.#timer = this.#clock.after(left, () => this.#kill());
  }

  #waiting(): readonly StreamResource[] {
    return this.#leaks().filter(({ key }) => !this.#ending.has(key));
  }

  #kill(): void {
    for (const { key, leak, createdAt } of this.#waiting()) {
      if (!leak || this.#clock.now() - createdAt < this.#killMs) continue;
      this.#ending.add(key);
      this.#background(leak.close().finally(() => this.#ending.delete(key)));
    }
    this.arm();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
