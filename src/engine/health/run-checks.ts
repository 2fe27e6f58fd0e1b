import { FairleadError } from '../../contract/errors.ts';
import { abortable } from '../../system/abortable.ts';
import { onAbort } from '../../system/on-abort.ts';

export const severities = ['ok', 'info', 'warn', 'crit'] as const;
export type Severity = (typeof severities)[number];

export interface CheckResult {
  readonly severity: Severity;
  readonly summary: string;
  /** What it mends, as a command line or a sentence. */
  readonly fix?: string;
}

export interface HealthCheck {
  readonly id: string;
  readonly name: string;
  /** Why it matters. */
  readonly why: string;
  readonly run: (signal: AbortSignal) => Promise<CheckResult> | CheckResult;
}

export interface HealthRow extends CheckResult {
  readonly id: string;
  readonly name: string;
  readonly why: string;
  readonly ms: number;
}

/** A row for each check, in their order. One that fails or hangs is a row, too, and holds up no other. */
export async function runChecks(
  checks: readonly HealthCheck[],
  limitMs: number,
  signal: AbortSignal,
): Promise<HealthRow[]> {
  const rows = await Promise.all(checks.map((check) => rowOf(check, limitMs, signal)));
  signal.throwIfAborted();
  return rows;
}

async function rowOf({ id, name, why, run }: HealthCheck, limitMs: number, signal: AbortSignal): Promise<HealthRow> {
  const began = performance.now();
  // Not a time limit for each: many checks share one signal, and Node warns of many listeners.
  const own = new AbortController();
  const late = new DOMException('The check took too long.', 'TimeoutError');
  const timer = setTimeout(() => own.abort(late), limitMs);
  using _gone = onAbort(signal, () => own.abort(signal.reason));
  const found = await attempt(run, own.signal, limitMs);
  clearTimeout(timer);
  return { id, name, why, ...found, ms: Math.round(performance.now() - began) };
}

async function attempt(run: HealthCheck['run'], signal: AbortSignal, limitMs: number): Promise<CheckResult> {
  try {
    const running = (async () => run(signal))();
    // It may end after the wait for it.
    running.catch(() => {});
    return await abortable(running, signal);
  } catch (thrown) {
    const isLate = (signal.reason as { readonly name?: string } | undefined)?.name === 'TimeoutError';
    if (isLate) return { severity: 'warn', summary: `The check did not end within ${limitMs / 1000} s.` };
    const reason = thrown instanceof FairleadError || thrown instanceof Error ? thrown.message : String(thrown);
    return { severity: 'warn', summary: `The check failed: ${reason}` };
  }
}

/** The worst of them. */
export const worstOf = (rows: readonly Pick<HealthRow, 'severity'>[]): Severity =>
  severities[Math.max(0, ...rows.map(({ severity }) => severities.indexOf(severity)))] ?? 'ok';
