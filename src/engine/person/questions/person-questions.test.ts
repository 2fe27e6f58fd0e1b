import { expect, test } from 'vitest';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import { PersonQuestions } from './person-questions.ts';
import type { OpenQuestion, OwnedQuestion, PersonReach } from './question.ts';

const never = new AbortController().signal;
const minute = 60_000;

const password: OwnedQuestion = {
  kind: 'password',
  subject: 'alice@db.example:22',
  prompt: 'Password for alice@db.example',
  secret: true,
  principal: 'one',
  asker: 'test',
};

/** Time that passes when told to. */
function handClock() {
  const timers = new Map<() => void, number>();
  const clock = {
    ms: 0,
    now: (): number => clock.ms,
    monotonic: (): number => clock.ms,
    after(ms: number, run: () => void) {
      timers.set(run, clock.ms + ms);
      return { [Symbol.dispose]: () => void timers.delete(run) };
    },
    pass(ms: number): void {
      clock.ms += ms;
      for (const [run, at] of timers) {
        if (at > clock.ms || !timers.delete(run)) continue;
        run();
      }
    },
    timers,
  };
  return clock satisfies Clock;
}

/** A client whose person looks at what is shown, and has not yet made up their mind. */
function reach() {
  const decision = deferred<boolean>();
  const seen: OpenQuestion[] = [];
  const answered: string[] = [];
  let closed = false;
  const person: PersonReach = {
    show(question, signal) {
      seen.push(question);
      signal.addEventListener('abort', () => (closed = true));
      return decision.promise;
    },
    answered: async ({ id }) => void answered.push(id),
  };
  return { person, decision, seen, answered, isClosed: () => closed };
}

test('who can be asked is waited for; the answer goes to the call and is kept nowhere', async () => {
  const asking = new PersonQuestions(handClock());
  const { person, decision, seen, answered, isClosed } = reach();
  const asked = asking.ask(password, person, never);
  expect(seen).toMatchObject([{ kind: 'password', subject: 'alice@db.example:22', principal: 'one', asker: 'test' }]);
  expect(asking.list()).toEqual(seen);
  decision.resolve(true);
  asking.answer(seen[0]?.id ?? '', 'hunter2');
  expect(await asked).toBe('hunter2');
  expect(answered).toEqual([seen[0]?.id]);
  expect(isClosed()).toBe(true);
  expect(asking.list()).toEqual([]);
  expect(() => asking.answer(seen[0]?.id ?? '', 'again')).toThrow('no longer open');
  await expect(asking.ask(password, undefined, never)).rejects.toMatchObject({ code: 'needs_person' });
});

test('who cannot be asked is told at once what to do, and an answer is there for the next call, once', async () => {
  const asking = new PersonQuestions(handClock(), 'node /opt/fairlead.js answer');
  const refused = {
    code: 'needs_person',
    hint: expect.stringMatching(/^Ask the person to run `node \/opt\/fairlead\.js answer q_\w{8}`, then call again\./),
    data: { question: { kind: 'password', subject: 'alice@db.example:22' } },
  };
  await expect(asking.ask(password, undefined, never)).rejects.toMatchObject(refused);
  await expect(asking.ask(password, undefined, never)).rejects.toMatchObject(refused);
  const [question, ...more] = asking.list();
  expect(more).toEqual([]);
  asking.answer(question?.id ?? '', 'hunter2');
  expect(await asking.ask(password, undefined, never)).toBe('hunter2');
  await expect(asking.ask(password, undefined, never)).rejects.toMatchObject(refused);
});

test.each<[what: string, other: Partial<OwnedQuestion>]>([
  ['another principal', { principal: 'two' }],
  ['another subject', { subject: 'bob@db.example:22' }],
  ['another kind of question', { kind: 'one_time_code' }],
  ['another prompt', { prompt: 'Response to challenge 4711' }],
])('an answer is nothing to %s', async (_, other) => {
  const asking = new PersonQuestions(handClock());
  await expect(asking.ask(password, undefined, never)).rejects.toThrow('Only the person can answer');
  asking.answer(asking.list()[0]?.id ?? '', 'hunter2');
  await expect(asking.ask({ ...password, ...other }, undefined, never)).rejects.toMatchObject({ code: 'needs_person' });
  expect(await asking.ask(password, undefined, never)).toBe('hunter2');
});

test('after five minutes a question is gone, and so is an answer nobody came for', async () => {
  const clock = handClock();
  const asking = new PersonQuestions(clock);
  const { person, isClosed } = reach();
  const waiting = asking.ask(password, person, never);
  clock.pass(5 * minute - 1);
  expect(asking.list()).toHaveLength(1);
  clock.pass(1);
  expect(await waiting).toBeUndefined();
  expect(isClosed()).toBe(true);
  expect(asking.list()).toEqual([]);
  await expect(asking.ask(password, undefined, never)).rejects.toThrow('Only the person can answer');
  asking.answer(asking.list()[0]?.id ?? '', 'hunter2');
  clock.pass(5 * minute);
  await expect(asking.ask(password, undefined, never)).rejects.toMatchObject({ code: 'needs_person' });
  const short = asking.ask({ ...password, subject: 'other', limitMs: 1000 }, person, never);
  clock.pass(1000);
  expect(await short).toBeUndefined();
});

test('a client that declines, perhaps unasked, leaves the question open for the person', async () => {
  const asking = new PersonQuestions(handClock());
  const [first, second] = [reach(), reach()];
  const calls = [asking.ask(password, first.person, never), asking.ask(password, second.person, never)];
  first.decision.resolve(false);
  await expect(calls[0]).rejects.toMatchObject({
    code: 'needs_person',
    hint: expect.stringContaining('If the person declined it, do not ask again.'),
    data: { question: { id: asking.list()[0]?.id, declined: true } },
  });
  expect(first.isClosed()).toBe(true);
  second.decision.resolve(false);
  await expect(calls[1]).rejects.toMatchObject({ code: 'needs_person' });
  expect(asking.list()).toHaveLength(1);
  asking.answer(asking.list()[0]?.id ?? '', 'hunter2');
  expect(await asking.ask(password, reach().person, never)).toBe('hunter2');
});

test('the person declines: the call goes on without an answer and the question is gone', async () => {
  const asking = new PersonQuestions(handClock());
  const asked = asking.ask(password, reach().person, never);
  asking.decline(asking.list()[0]?.id ?? '');
  expect(await asked).toBeUndefined();
  expect(asking.list()).toEqual([]);
});

test('a client that fails to show it is a client that cannot', async () => {
  const asking = new PersonQuestions(handClock());
  const { person, decision } = reach();
  const asked = asking.ask(password, person, never);
  decision.reject(new Error('Method not found'));
  await expect(asked).rejects.toMatchObject({ code: 'needs_person', cause: { message: 'Method not found' } });
  asking.answer(asking.list()[0]?.id ?? '', 'hunter2');
  expect(await asking.ask(password, person, never)).toBe('hunter2');
});

test('a call that is cancelled takes what it showed with it; the person may still answer for the next', async () => {
  const asking = new PersonQuestions(handClock());
  const { person, answered, isClosed } = reach();
  const stop = new AbortController();
  const asked = asking.ask(password, person, stop.signal);
  stop.abort();
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  expect(isClosed()).toBe(true);
  asking.answer(asking.list()[0]?.id ?? '', 'hunter2');
  expect(answered).toEqual([]);
  expect(await asking.ask(password, person, never)).toBe('hunter2');
});

test('bounded: 16 questions of one principal, 64 in all; 4,096 characters; nothing left after the end', async () => {
  const clock = handClock();
  const asking = new PersonQuestions(clock);
  const open = (principal: string, n: number) =>
    asking.ask({ ...password, principal, subject: `host ${n}` }, undefined, never).catch((error: unknown) => error);
  for (let n = 0; n < 16; n++) expect(await open('one', n)).toMatchObject({ code: 'needs_person' });
  expect(await open('one', 16)).toMatchObject({ code: 'limit_reached' });
  for (let n = 0; n < 48; n++) expect(await open(`p${n % 3}`, n)).toMatchObject({ code: 'needs_person' });
  expect(await open('two', 0)).toMatchObject({ code: 'limit_reached' });
  const ids = asking.list().map(({ id }) => id);
  expect(new Set(ids).size).toBe(64);
  expect(() => asking.answer(ids[0] ?? '', 'x'.repeat(4097))).toThrow('at most 4096');
  asking.answer(ids[0] ?? '', 'x'.repeat(4096));
  const waiting = asking.ask({ ...password, principal: 'p0', subject: 'host 0' }, reach().person, never);
  asking[Symbol.dispose]();
  expect(await waiting).toBeUndefined();
  expect(asking.list()).toEqual([]);
  expect(clock.timers.size).toBe(0);
  expect(await open('one', 0)).toMatchObject({ code: 'unavailable' });
});

test('what a far side wrote is shown as one line of plain text', async () => {
  const asking = new PersonQuestions(handClock());
  const prompt = `Pass\u202eword\x1b]0;x\x07\n\n  for ${'a'.repeat(2000)}`;
  await expect(asking.ask({ ...password, prompt }, undefined, never)).rejects.toThrow('Only the person can answer');
  const shown = asking.list()[0]?.prompt ?? '';
  expect(shown).toMatch(/^Password\ufffd\]0;x\ufffd for a+$/);
  expect(shown).toHaveLength(1000);
});

test('those who watch learn how a question ended, and since when it was open', async () => {
  const clock = handClock();
  const asking = new PersonQuestions(clock);
  const ends: unknown[] = [];
  asking.changed.on(({ isOpen, settled, question }) => {
    if (!isOpen) ends.push([question.subject, settled]);
  });
  const open = async (subject: string): Promise<string> => {
    await asking.ask({ ...password, subject, limitMs: 1000 }, undefined, never).catch(() => {});
    return asking.list().at(-1)?.id ?? '';
  };
  asking.answer(await open('answered'), 'hunter2');
  asking.decline(await open('declined'));
  await open('expired');
  const [left] = asking.list();
  expect(Date.parse(left?.expiresAt ?? '') - Date.parse(left?.since ?? '')).toBe(1000);
  clock.pass(1000);
  expect(ends).toEqual([
    ['answered', 'answered'],
    ['declined', 'declined'],
    ['expired', 'expired'],
  ]);
});
