import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FairleadError } from '../../../src/contract/errors.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { openGate } from '../../../src/engine/call/gate.ts';
import { defineBook, stream } from '../../../src/engine/call/operation.ts';
import type { Engine, EngineOptions } from '../../../src/engine/engine.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import { engineWith as engineAt } from '../../support/engine.ts';

/** Counts up; how it was left is told by `ended`. */
function counter(options: { readonly failAt?: number; readonly stuckAt?: number } = {}) {
  const ended = deferred<string>();
  const count = stream({
    title: 'Count',
    summary: 'Counts up.',
    access: 'observe',
    input: z.strictObject({ terminal: z.string(), from: z.number().int().default(0) }),
    item: z.object({ at: z.number() }),
    about: ({ from }) => ({ detail: `from ${from}` }),
    async *run({ input, signal }) {
      try {
        for (let at = input.from; ; at++) {
          if (at === options.failAt) throw new TypeError('broken');
          if (at === options.stuckAt) await new Promise((resolve) => signal.addEventListener('abort', resolve));
          yield { at };
        }
      } finally {
        ended.resolve(signal.aborted ? 'aborted' : 'left');
      }
    },
    render: ({ at }) => String(at),
  });
  defineBook({ name: 'test', summary: '', nouns: {}, streams: { thing: { count } }, renderError: () => '' });
  return { count, ended: ended.promise };
}

const context = (engine: Engine, signal = new AbortController().signal) => ({
  engine,
  signal,
  caller: { name: 'ada', principal: 'ada', origin: 'http', may: () => true } as const,
});

const audited = (engine: Engine) =>
  engine.audit.entries().map(({ operation, terminal, detail, error }) => [operation, terminal, detail, error]);

const engineWith = (options: Partial<EngineOptions> = {}): Engine => engineAt(join(tmpdir(), 'none'), {}, options);

test('a stream is audited when it begins and when it ends, and ends when its reader returns', async () => {
  await using engine = engineWith();
  const { count, ended } = counter();
  const seen: number[] = [];
  for await (const { at } of callStream(count, { terminal: 't1', from: 3 }, context(engine))) {
    seen.push(at);
    if (at === 3) expect(audited(engine)).toEqual([['thing.count', 't1', 'from 3 (began)', undefined]]);
    if (seen.length === 3) break;
  }
  expect(seen).toEqual([3, 4, 5]);
  expect(await ended).toBe('aborted');
  expect(audited(engine)[1]).toEqual(['thing.count', 't1', 'from 3 (ended)', undefined]);
});

test('a caller that leaves ends the stream without an error, also while the stream waits', async () => {
  await using engine = engineWith();
  const { count, ended } = counter({ stuckAt: 1 });
  const leaving = new AbortController();
  const items = callStream(count, { terminal: 't1' }, context(engine, leaving.signal));
  expect(await items.next()).toEqual({ value: { at: 0 }, done: false });
  const next = items.next();
  leaving.abort();
  expect(await next).toEqual({ value: undefined, done: true });
  expect(await ended).toBe('aborted');
  expect(audited(engine).map(([, , , error]) => error)).toEqual([undefined, undefined]);
});

test('the end of the engine ends its streams', async () => {
  const engine = engineWith();
  const { count } = counter({ stuckAt: 0 });
  const next = callStream(count, { terminal: 't1' }, context(engine)).next();
  await engine[Symbol.asyncDispose]();
  expect(await next).toMatchObject({ done: true });
});

test('what the gate refuses never begins: one entry, no item', async () => {
  const error = new FairleadError('not_permitted', 'No.');
  const gate = { ...openGate, policy: () => ({ allowed: false, error }) as const };
  await using engine = engineWith({ gate });
  const { count } = counter();
  await expect(callStream(count, { terminal: 't1' }, context(engine)).next()).rejects.toBe(error);
  await expect(callStream(count, {}, context(engine)).next()).rejects.toMatchObject({ code: 'invalid_input' });
  expect(audited(engine).map(([, terminal, detail, code]) => [terminal, detail, code])).toEqual([
    ['t1', 'from 0', 'not_permitted'],
    [undefined, undefined, 'invalid_input'],
  ]);
});

test('a stream that breaks fails as a call does, and its end says so', async () => {
  await using engine = engineWith();
  const { count } = counter({ failAt: 1 });
  const items = callStream(count, { terminal: 't1' }, context(engine));
  await items.next();
  await expect(items.next()).rejects.toMatchObject({ code: 'internal' });
  expect(audited(engine).map(([, , detail, code]) => [detail, code])).toEqual([
    ['from 0 (began)', undefined],
    ['from 0 (ended)', 'internal'],
  ]);
});
