import { expect, test } from 'vitest';
import { closedIdle, PastSessions } from './past-sessions.ts';
import type { Terminal } from '../terminal/terminal.ts';

const session = (number: number, more: Partial<Terminal['identity']> = {}): Terminal =>
  ({ id: `id${number}`, identity: { number, ...more } }) as Terminal;

test('only whose it was hears of its end (R-TERM-033)', () => {
  const past = new PastSessions();
  past.remember(session(7, { owner: 'ada', name: 'Build' }), closedIdle(600));
  for (const called of ['id7', '7', 'Build']) {
    expect(past.endOf(called, 'ada')?.message).toBe(`Session '${called}' was closed after 600 s idle`);
    expect(past.endOf(called, 'bob')).toBeUndefined();
  }
});

test('a name tells of the newest that had it, and the oldest are forgotten under every name', () => {
  const past = new PastSessions();
  for (let number = 0; number < 1500; number++) {
    past.remember(session(number, { name: number % 2 === 0 ? 'even' : `n${number}` }), closedIdle(number));
  }
  expect(past.endOf('even', 'me')?.message).toBe("Session 'even' was closed after 1498 s idle");
  for (const called of ['id499', '499', 'n499']) expect(past.endOf(called, 'me')).toBeUndefined();
  for (const called of ['id501', '501', 'n501']) expect(past.endOf(called, 'me')).toBeDefined();
});
