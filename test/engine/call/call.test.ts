import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FairleadError } from '../../../src/contract/errors.ts';
import { type Caller, call } from '../../../src/engine/call/call.ts';
import type { Engine, EngineOptions } from '../../../src/engine/engine.ts';
import { engineWith } from '../../support/engine.ts';
import { openGate, type GateVerdict } from '../../../src/engine/call/gate.ts';
import { defineBook, operation } from '../../../src/engine/call/operation.ts';
import { Redactor } from '../../../src/engine/redaction/redactor.ts';

const bareEngine = (options: Partial<EngineOptions> = {}): Engine => engineWith(join(tmpdir(), 'none'), {}, options);

let runs = 0;
const count = operation({
  title: 'Count',
  summary: 'Counts its runs.',
  access: 'control',
  keyed: true,
  input: z.object({ step: z.number().default(1), fault: z.string().optional() }),
  output: z.object({ runs: z.number() }),
  async run({ input }) {
    if (input.fault !== undefined) throw new TypeError(`no ${input.fault}`);
    return { runs: (runs += input.step) };
  },
  render: () => '',
});
const { keyed: _, ...unkeyed } = count;
const look = operation({ ...unkeyed, access: 'observe' });
defineBook({ name: 'test', summary: '', nouns: { thing: { count, look } }, renderError: () => '' });

const caller = (principal: string): Caller => ({ name: principal, principal, origin: 'mcp', may: () => true });
const context = (engine: Engine, principal = 'ada', value: unknown = 'k') => ({
  engine,
  caller: caller(principal),
  signal: new AbortController().signal,
  key: { value },
});

test('10.30: two principals never share an answer', async () => {
  await using engine = bareEngine();
  const ada = await call(count, {}, context(engine));
  expect(await call(count, {}, context(engine))).toBe(ada);
  const bob = await call(count, {}, context(engine, 'bob'));
  expect(bob.runs).toBe(ada.runs + 1);
  // Not even a mismatch tells one of the other's key.
  await call(count, { step: 2 }, context(engine, 'eve'));
});

test('1.3: what only reads ignores the key, good or bad', async () => {
  await using engine = bareEngine();
  const first = await call(look, {}, context(engine));
  expect((await call(look, {}, context(engine))).runs).toBe(first.runs + 1);
  await call(look, {}, context(engine, 'ada', 7));
});

test('the gate is asked before a replay, and each call is in the audit', async () => {
  let open = true;
  let asked = 0;
  const policy = (): GateVerdict => {
    asked += 1;
    return open ? { allowed: true } : { allowed: false, error: new FairleadError('not_permitted', 'No.') };
  };
  await using engine = bareEngine({ gate: { ...openGate, policy } });
  const first = await call(count, {}, context(engine));
  expect(await call(count, {}, context(engine))).toBe(first);
  open = false;
  await expect(call(count, {}, context(engine))).rejects.toMatchObject({ code: 'not_permitted' });
  expect(asked).toBe(3);
  expect(engine.audit.entries().map(({ operation, allowed }) => [operation, allowed])).toEqual([
    ['thing.count', true],
    ['thing.count', true],
    ['thing.count', false],
  ]);
});

test('INTERNAL_ERROR: a number for the caller, the place for the log, what the call was given for neither', async () => {
  const logged: string[] = [];
  await using engine = bareEngine({ log: (line) => logged.push(line) });
  const failed = await call(count, { fault: 'hunter2' }, context(engine)).then(
    () => expect.unreachable(),
    (error: unknown) => error as { code: string; message: string; hint: string; data: { incident: string } },
  );
  const { incident } = failed.data;
  expect(incident).toMatch(/^[0-9a-f]{8}$/);
  expect(failed).toMatchObject({
    code: 'internal',
    message: 'Something went wrong inside Fairlead; the terminals are unharmed.',
    hint: `Try once more; if it happens again, report it with the line of the server's log about incident ${incident}.`,
  });
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(new RegExp(`^incident ${incident} in thing.count: TypeError at .*call\\.test\\.ts`));
  expect(`${failed.message}${failed.hint}${logged[0]}`).not.toContain('hunter2');
  // A failure is not kept: the key is free for another call.
  await call(count, {}, context(engine));
});

test('an error tells no model a known secret; a person at the command line reads it as it is', async () => {
  const value = ['Zx81', 'kQ0pLmn4T'].join('-');
  const redactor = new Redactor({ key: new Uint8Array(32), known: [value] });
  await using engine = bareEngine({ redactor: () => redactor });
  const fail = operation({
    ...unkeyed,
    async run() {
      throw new FairleadError('conflict', `It asks: ${value}?`, {
        hint: `Not ${value}.`,
        data: { rows: [value, 'x'] },
      });
    },
  });
  defineBook({ name: 'failing', summary: '', nouns: { thing: { fail } }, renderError: () => '' });
  const failure = async (origin: Caller['origin']) =>
    await call(fail, {}, { ...context(engine), caller: { ...caller('ada'), origin } }).catch((error: unknown) => error);
  const tag = redactor.mask(value);
  expect(await failure('mcp')).toMatchObject({
    code: 'conflict',
    message: `It asks: ${tag}?`,
    hint: `Not ${tag}.`,
    data: { rows: [tag, 'x'] },
  });
  expect(await failure('cli')).toMatchObject({ message: `It asks: ${value}?` });
});
