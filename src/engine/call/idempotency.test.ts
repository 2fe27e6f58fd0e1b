import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { deferred } from '../../lib/deferred.ts';
import { canonicalJson, Idempotency, type KeyedCall } from './idempotency.ts';

const never = new AbortController().signal;
const keyed = (value: unknown, input: unknown = {}, more: Partial<KeyedCall> = {}): KeyedCall => ({
  principal: 'ada',
  operation: 'ssh.exec',
  key: { value },
  input,
  ...more,
});

/** Calls with an answer of their own each, counted. */
function counter(cache = new Idempotency(new ManualClock())) {
  const answers: { n: number }[] = [];
  const run = async (): Promise<{ n: number }> => {
    answers.push({ n: answers.length + 1 });
    return answers.at(-1) as { n: number };
  };
  return { answers, run, call: (call: KeyedCall) => cache.once(call, run, never) };
}

test('1.3: the same key gives the same answer, the very same object', async () => {
  const { call, answers } = counter();
  const first = await call(keyed('k', { command: 'ls' }));
  expect(await call(keyed('k', { command: 'ls' }))).toBe(first);
  expect(answers).toHaveLength(1);
});

test('1.3: principal, tool and key tell calls apart', async () => {
  const { call, answers } = counter();
  await call(keyed('k'));
  await call(keyed('k', {}, { principal: 'bob' }));
  await call(keyed('k', {}, { operation: 'ssh.run' }));
  await call(keyed('l'));
  expect(answers).toHaveLength(4);
});

test('1.3: the same key with other arguments runs nothing', async () => {
  const { call, answers } = counter();
  await call(keyed('k', { command: 'ls' }));
  await expect(call(keyed('k', { command: 'rm' }))).rejects.toMatchObject({
    code: 'conflict',
    message: 'This idempotency key was used for a call with other arguments',
    data: { wire: 'IDEMPOTENCY_KEY_MISMATCH' },
  });
  expect(answers).toHaveLength(1);
});

test('a call under way refuses other arguments at once', async () => {
  const cache = new Idempotency(new ManualClock());
  const gate = deferred<object>();
  const first = cache.once(keyed('k', 1), () => gate.promise, never);
  await expect(cache.once(keyed('k', 2), () => Promise.resolve({}), never)).rejects.toMatchObject({ code: 'conflict' });
  gate.resolve({});
  await first;
});

test('an implied key with other arguments is another call', async () => {
  const { call, answers } = counter();
  const implied = (input: unknown): KeyedCall => keyed('toolu_1', input, { key: { value: 'toolu_1', implied: true } });
  const first = await call(implied(1));
  await call(implied(2));
  expect(await call(implied(1))).toBe(first);
  await call(keyed('toolu_1', 1));
  expect(answers).toHaveLength(3);
});

test.each([
  ['k'.repeat(257), 'IDEMPOTENCY_KEY_TOO_LONG', 'The idempotency key has 257 bytes'],
  ['é'.repeat(129), 'IDEMPOTENCY_KEY_TOO_LONG', 'The idempotency key has 258 bytes'],
  [7, 'INVALID_ARGUMENT', '_meta.idempotency_key: must be a string'],
  [null, 'INVALID_ARGUMENT', '_meta.idempotency_key: must be a string'],
  [{}, 'INVALID_ARGUMENT', '_meta.idempotency_key: must be a string'],
])('1.3: the key %j is refused and nothing runs', async (value, wire, message) => {
  const { call, answers } = counter();
  await expect(call(keyed(value))).rejects.toMatchObject({ message, data: { wire } });
  expect(answers).toHaveLength(0);
});

test('1.3: 256 bytes are a key; an empty one is none', async () => {
  const { call, answers } = counter();
  await call(keyed('é'.repeat(128)));
  await call(keyed('é'.repeat(128)));
  expect(answers).toHaveLength(1);
  await call(keyed(''));
  await call(keyed(''));
  expect(answers).toHaveLength(3);
});

test('1.3: only successes are kept', async () => {
  const cache = new Idempotency(new ManualClock());
  await expect(cache.once(keyed('k'), () => Promise.reject(new Error('no')), never)).rejects.toThrow('no');
  // Not even a failure that comes before the first await.
  const throws = (): never => {
    throw new Error('at once');
  };
  await expect(cache.once(keyed('k'), throws, never)).rejects.toThrow('at once');
  expect(await cache.once(keyed('k', { other: true }), () => Promise.resolve('yes'), never)).toBe('yes');
});

test('1.3: an answer is kept for its time, and then let go without anybody asking', async () => {
  const clock = new ManualClock();
  const cache = new Idempotency(clock, { ttlMs: 1000, maxEntries: 10 });
  const { call, answers } = counter(cache);
  await call(keyed('a'));
  clock.advance(600);
  await call(keyed('b'));
  clock.advance(399);
  await call(keyed('a'));
  expect([answers.length, cache.size]).toEqual([2, 2]);
  clock.advance(1);
  expect(cache.size).toBe(1);
  await call(keyed('a'));
  expect(answers).toHaveLength(3);
  clock.advance(1000);
  expect([cache.size, clock.timers]).toEqual([0, 0]);
});

test('1.3: beyond its size the oldest answers go first', async () => {
  const cache = new Idempotency(new ManualClock(), { ttlMs: 1000, maxEntries: 2 });
  const { call, answers } = counter(cache);
  for (const key of ['a', 'b', 'c']) await call(keyed(key));
  expect(cache.size).toBe(2);
  for (const key of ['b', 'c']) await call(keyed(key));
  expect(answers).toHaveLength(3);
  await call(keyed('a'));
  expect(answers).toHaveLength(4);
});

test('large answers are kept within 64 Mi characters together, and one beyond that not at all', async () => {
  const cache = new Idempotency(new ManualClock());
  const large = (key: string, mebis: number) =>
    cache.once(keyed(key), () => Promise.resolve({ text: 'x'.repeat(mebis << 20) }), never);
  for (const key of ['a', 'b', 'c', 'd']) await large(key, 20);
  expect(cache.size).toBe(3);
  await large('e', 65);
  expect(cache.size).toBe(3);
});

test('1.3: of two calls at one time the second waits and gets the answer of the first', async () => {
  const cache = new Idempotency(new ManualClock());
  const gate = deferred<object>();
  let runs = 0;
  const run = (): Promise<object> => {
    runs += 1;
    return gate.promise;
  };
  const both = [cache.once(keyed('k'), run, never), cache.once(keyed('k'), run, never)];
  const answer = {};
  gate.resolve(answer);
  expect(await Promise.all(both)).toEqual([answer, answer]);
  expect(runs).toBe(1);
});

test('a waiting caller that hangs up ends only its own waiting', async () => {
  const cache = new Idempotency(new ManualClock());
  const gate = deferred<object>();
  let told: AbortSignal | undefined;
  const run = (signal: AbortSignal): Promise<object> => {
    told = signal;
    return gate.promise;
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const one = cache.once(keyed('k'), run, first.signal);
  const two = cache.once(keyed('k'), run, second.signal);
  second.abort(new Error('two left'));
  await expect(two).rejects.toThrow('two left');
  expect(told?.aborted).toBe(false);
  gate.resolve({ done: true });
  expect(await one).toEqual({ done: true });
});

test('who started a call may leave it to those who wait; the last one to go stops it', async () => {
  const cache = new Idempotency(new ManualClock());
  const callers = [new AbortController(), new AbortController()] as const;
  const run = (signal: AbortSignal): Promise<object> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`stopped: ${signal.reason}`)));
    });
  const [one, two] = callers.map(({ signal }) => cache.once(keyed('k'), run, signal));
  callers[0].abort('first');
  await expect(one).rejects.toBe('first');
  callers[1].abort('second');
  await expect(two).rejects.toThrow('stopped: second');
});

test('1.3: however calls fail, one runs at a time, and after the first success nobody runs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 8 }),
      async (outcomes, callers) => {
        const cache = new Idempotency(new ManualClock());
        let [running, runs] = [0, 0];
        const run = async (): Promise<{ run: number }> => {
          const succeeds = outcomes[runs++] ?? true;
          expect(++running).toBe(1);
          await Promise.resolve();
          running -= 1;
          if (!succeeds) throw new Error('failed');
          return { run: runs };
        };
        const ends = await Promise.allSettled(
          Array.from({ length: callers }, () => cache.once(keyed('k'), run, never)),
        );
        const good = outcomes.includes(true) ? outcomes.indexOf(true) : outcomes.length;
        const failures = Math.min(good, callers);
        // Every failure is told to exactly one caller; all others share one answer.
        expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(failures);
        const answers = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
        expect(answers).toHaveLength(callers - failures);
        expect(new Set(answers).size).toBe(callers > failures ? 1 : 0);
      },
    ),
  );
});

test('1.3: arguments are the same in whatever order their names come', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, one]) => [name, shuffled(one)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: undefined })).toBe('{"b":[{"c":null,"d":1}]}');
});

test('1.3: what was asked is not kept', async () => {
  const cache = new Idempotency(new ManualClock());
  const ask = async (): Promise<WeakRef<object>> => {
    const input = { password: 'unlikely' };
    await cache.once(keyed('k', input), () => Promise.resolve({ ok: true }), never);
    return new WeakRef(input);
  };
  const asked = await ask();
  // A reference is strong until the turn of the event loop in which it was made is over.
  await setImmediate();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  expect([asked.deref(), cache.size]).toEqual([undefined, 1]);
});
