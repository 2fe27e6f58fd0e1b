import { expect, test } from 'vitest';
import { aged, afterFailure, type Card, type CardFacts, nextCards } from './ask-cards.ts';
import { receiptOf } from './ask-receipts.ts';
import type { TerminalShown, WaitingItem } from './shapes.ts';

const ask = (key: string, more: Partial<WaitingItem> = {}): WaitingItem => ({
  ...(key.startsWith('q_') ? { question: key, subject: 'anna@db-1:22' } : { terminal: key, program: '/usr/bin/sudo' }),
  kind: 'password',
  prompt: 'Password:',
  secret: true,
  ...more,
});
const terminal = (more: Partial<TerminalShown> = {}): TerminalShown =>
  ({ terminal: 't_1', state: 'running', shown: 'working', since: 0, ...more }) as TerminalShown;
const facts = (now: number, more: Partial<CardFacts> = {}): CardFacts => ({
  now,
  askedAt: now,
  terminals: new Map([['t_1', terminal()]]),
  settled: new Map(),
  ...more,
});
const keys = (cards: readonly Card[]): string[] => cards.map(({ key }) => key);
const words = (card: Card | undefined, now = 0): string => (card ? receiptOf(card, now).join(' · ') : '');

test('sorted by expiry on load only; later ones come last', () => {
  const first = nextCards([], [ask('t_1'), ask('q_2', { expiresAt: '2026-01-01T00:00:02Z' })], facts(0));
  expect(keys(first)).toEqual(['q_2', 't_1']);
  const soon = ask('q_3', { expiresAt: '2026-01-01T00:00:01Z' });
  expect(keys(nextCards(first, [soon, ask('t_1'), ask('q_2')], facts(1)))).toEqual(['q_2', 't_1', 'q_3']);
});

test('a prompt that changed waits again, from the start, and says so', () => {
  const cards = nextCards([], [ask('t_1')], facts(1000));
  const [card] = nextCards(cards, [ask('t_1', { prompt: 'Verification code:', kind: 'one_time_code' })], facts(5000));
  expect(card).toMatchObject({ state: { is: 'waiting' }, bornAt: 5000, note: 'The request changed. Look again.' });
});

test('gone, answered elsewhere and expired each have their words', () => {
  const one = nextCards([], [ask('t_1')], facts(1000));
  expect(words(nextCards(one, [], facts(2000))[0])).toBe('sudo no longer asks.');
  const noTerminal = facts(2000, { terminals: new Map() });
  expect(words(nextCards(one, [], noTerminal)[0])).toBe('The terminal has ended; nothing was typed.');
  const keyboard = { by: 'Claude Code', kind: 'agent' as const, isTaken: false, since: 1500 };
  const typed = facts(2000, { terminals: new Map([['t_1', terminal({ keyboard })]]) });
  expect(words(nextCards(one, [], typed)[0], 5000)).toBe('Claude Code answered this in the terminal 3 s ago.');
  const expiresAt = new Date(300_000).toISOString();
  const [question] = nextCards([], [ask('q_1', { since: new Date(0).toISOString(), expiresAt })], facts(0));
  const settled = (how: 'answered' | 'declined' | 'expired') => facts(1000, { settled: new Map([['q_1', how]]) });
  const end = (how: 'answered' | 'declined' | 'expired'): string =>
    words(nextCards(question ? [question] : [], [], settled(how))[0], 1000);
  expect(end('expired')).toBe('Nobody answered in 5 minutes; nothing was sent.');
  expect(end('answered')).toBe('You answered this elsewhere 0 s ago.');
  expect(end('declined')).toBe('You declined this elsewhere 0 s ago.');
});

test('a receipt says sent, delivered, and that the program goes on; then it folds away', () => {
  const [waiting] = nextCards([], [ask('t_1')], facts(0));
  const sent: Card = { ...(waiting as Card), state: { is: 'sent', act: { kind: 'answer' }, at: 10_000 } };
  expect(words(sent)).toMatch(/^Sent \d\d:\d\d:\d\d · delivered$/);
  // A list that was asked for before the answer still has it: that is no new question.
  expect(nextCards([sent], [ask('t_1')], facts(10_100, { askedAt: 9990 }))).toEqual([sent]);
  const [on] = nextCards([sent], [], facts(10_200));
  expect(words(on)).toMatch(/^Sent .* · delivered · sudo goes on$/);
  expect(aged(on as Card, 14_100)).toBe(on);
  expect(aged(on as Card, 14_200)).toBeUndefined();
  // A wrong password: the program asks the same again.
  const [again] = nextCards([sent], [ask('t_1')], facts(12_000));
  expect(again).toMatchObject({ state: { is: 'waiting' }, bornAt: 12_000 });
});

test('an expired card stays until it was seen', () => {
  const [card] = nextCards([], [ask('q_1', { expiresAt: new Date(1000).toISOString() })], facts(0));
  const [over] = nextCards(card ? [card] : [], [], facts(2000));
  expect(over?.state).toMatchObject({ is: 'over', how: 'expired' });
  expect(aged(over as Card, 1e9)).toBe(over);
  const seen: Card = { ...(over as Card), state: { ...(over as Card).state, seenAt: 5000 } as Card['state'] };
  expect(aged(seen, 9000)).toBeUndefined();
});

test('a failure never counts as sent, and nothing is sent again by itself', () => {
  const [card] = nextCards([], [ask('t_1')], facts(0));
  const after = (code: string): Card => afterFailure(card as Card, { code, message: 'Refused: too long.' }, 500);
  expect(after('offline')).toMatchObject({ state: { is: 'waiting' }, note: 'You are offline. Nothing was sent.' });
  expect(after('conflict').note).toBe('sudo no longer asks for this. Nothing was typed.');
  expect(after('too_large').note).toBe('Refused: too long.');
  expect(words(after('unknown'))).toBe(
    'We do not know whether it arrived. Look at the terminal before you type it again.',
  );
  expect(words(after('terminal_not_found'))).toBe('The terminal has ended; nothing was typed.');
});

test('sending that takes more than 5 s says so', () => {
  const [card] = nextCards([], [ask('t_1')], facts(0));
  const sending: Card = { ...(card as Card), state: { is: 'sending', act: { kind: 'answer' }, at: 0 } };
  expect(words(sending, 4000)).toBe('Sending');
  expect(words(sending, 6000)).toContain('Decided, not delivered yet:');
});
