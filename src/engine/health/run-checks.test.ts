import { expect, test } from 'vitest';
import { type HealthCheck, runChecks, worstOf } from './run-checks.ts';

const { signal } = new AbortController();
const check = (id: string, run: HealthCheck['run']): HealthCheck => ({ id, name: id, why: 'because', run });

test('R-HUB-132: a check that fails or hangs is one row with severity warn; the others still run', async () => {
  const seen: AbortSignal[] = [];
  const rows = await runChecks(
    [
      check('fine', () => ({ severity: 'ok', summary: 'Fine.' })),
      check('throws', () => {
        throw new Error('no such thing');
      }),
      check('rejects', () => Promise.reject(new Error('later'))),
      check('hangs', (stop) => {
        seen.push(stop);
        return new Promise(() => {});
      }),
      check('last', async () => ({ severity: 'info', summary: 'Last.', fix: 'nothing' })),
    ],
    50,
    signal,
  );
  expect(rows.map(({ id, severity, summary }) => [id, severity, summary])).toEqual([
    ['fine', 'ok', 'Fine.'],
    ['throws', 'warn', 'The check failed: no such thing'],
    ['rejects', 'warn', 'The check failed: later'],
    ['hangs', 'warn', 'The check did not end within 0.05 s.'],
    ['last', 'info', 'Last.'],
  ]);
  expect(rows[4]).toMatchObject({ fix: 'nothing', why: 'because' });
  // What hangs is told to stop.
  expect(seen[0]?.aborted).toBe(true);
  expect(worstOf(rows)).toBe('warn');
  expect(worstOf([])).toBe('ok');
});

test('a caller that leaves ends the wait', async () => {
  const stop = new AbortController();
  const running = runChecks([check('hangs', () => new Promise(() => {}))], 60_000, stop.signal);
  stop.abort();
  await expect(running).rejects.toThrow(/abort/i);
});
