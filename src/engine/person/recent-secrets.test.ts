import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Clock } from '../../lib/clock.ts';
import { RecentSecrets } from './recent-secrets.ts';

function workbench() {
  const timers = new Set<() => void>();
  const clock = {
    ms: 0,
    now: () => 0,
    monotonic: (): number => clock.ms,
    after(_: number, run: () => void) {
      timers.add(run);
      return { [Symbol.dispose]: () => void timers.delete(run) };
    },
  } satisfies Clock & { ms: number };
  let released = '';
  const secrets = new RecentSecrets({
    clock,
    release: (bytes) => (released += Buffer.from(bytes).toString('latin1')),
  });
  return {
    clock,
    secrets,
    timers,
    take: (bytes: Buffer) => Buffer.from(secrets.mask(bytes)),
    released: () => released,
  };
}

test('however output is cut, a secret comes out as a mask and everything else as it was', () => {
  const text = fc.stringMatching(/^[a-dö]{0,40}$/);
  fc.assert(
    fc.property(text, text, fc.stringMatching(/^[a-dö]{4,8}$/), fc.array(fc.nat(90)), (before, after, secret, cuts) => {
      const { secrets, take } = workbench();
      secrets.add(secret);
      const whole = Buffer.from(`${before}${secret}${after}`);
      const ends = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
      const pieces = [...ends, whole.length].map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
      const shown = Buffer.concat([...pieces.map(take), Buffer.from(secrets.rest())]).toString();
      expect(shown).not.toContain(secret);
      expect(shown.split('•••').length).toBeGreaterThan(1);
      expect(`${before}${secret}${after}`.replaceAll(secret, '')).toBe(shown.replaceAll('•••', ''));
    }),
    { numRuns: 300 },
  );
});

test('what looks like the beginning of a secret is let go after a moment', async () => {
  const { secrets, take, timers, released } = workbench();
  secrets.add('hunter2');
  expect(take(Buffer.from('to hunt')).toString()).toBe('to ');
  const settled = secrets.released;
  for (const run of timers) run();
  await settled;
  expect(released()).toBe('hunt');
  expect(take(Buffer.from('er2 is not seen whole')).toString()).toBe('er2 is not seen whole');
});

test('short ones are not masked, lines one by one, all for some minutes only', () => {
  const { secrets, take, clock } = workbench();
  secrets.add('abc\r');
  expect(secrets.active).toBe(false);
  secrets.add('first line\rsecond line\r');
  expect(take(Buffer.from('first line, second line.')).toString()).toBe('•••, •••.');
  clock.ms = 5 * 60_000;
  expect(take(Buffer.from('first line.')).toString()).toBe('first line.');
  expect(secrets.active).toBe(false);
});

test('a secret is overwritten when its time is over, without any output, and when the terminal ends', () => {
  for (const end of ['time', 'terminal']) {
    const { clock, secrets, timers } = workbench();
    secrets.add(Buffer.from('first line\rsecond line\r'));
    const values = secrets.values;
    expect(values.map(String)).toEqual(['second line', 'first line']);
    clock.ms = 5 * 60_000;
    if (end === 'time') for (const run of timers) run();
    else secrets[Symbol.dispose]();
    for (const value of values) expect(value.every((byte) => byte === 0)).toBe(true);
    expect(secrets.active).toBe(false);
  }
});
