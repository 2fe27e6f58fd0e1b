import { expect, test } from 'vitest';
import { clock, endWords, keyboardWords, linkWords, span, unsent } from './words.ts';

const base = { isMine: false, holder: undefined, onTheWay: 0, isPaused: false, mayType: true, isLinked: true };
const agent = { by: 'Claude Code', kind: 'agent', isTaken: false } as const;
const ada = { by: 'ada', kind: 'person', isTaken: true } as const;

test('the status line, by the table of the design', () => {
  expect(keyboardWords(base)).toBe('Type to use it');
  expect(keyboardWords({ ...base, holder: agent })).toBe('Watching, your keys are not sent');
  expect(keyboardWords({ ...base, holder: ada })).toBe('ada has the keyboard');
  expect(keyboardWords({ ...base, holder: { ...ada, isTaken: false } })).toBe('Type to use it');
  expect(keyboardWords({ ...base, holder: ada, isMine: true })).toBe('You have the keyboard');
  expect(keyboardWords({ ...base, holder: ada, isMine: true, onTheWay: 14 })).toBe('Slow link: 14 keys on the way');
  expect(keyboardWords({ ...base, onTheWay: 1 })).toBe('Slow link: 1 key on the way');
  expect(keyboardWords({ ...base, isPaused: true })).toBe('Paused. People can still type');
  expect(keyboardWords({ ...base, mayType: false, holder: agent })).toBe('Watching only');
  expect(keyboardWords({ ...base, isLinked: false, isMine: true })).toBe('Keys are not sent now');
});

test('the link', () => {
  expect(linkWords({ state: 'live', lagMs: 38.4 })).toEqual(['Live', '38 ms']);
  expect(linkWords({ state: 'live', lagMs: 2100 })).toEqual(['Late', '2.1 s']);
  expect(linkWords({ state: 'live', lagMs: undefined })).toEqual(['Live', '']);
  expect(linkWords({ state: 'offline', lagMs: 20 })).toEqual(['Offline', '']);
});

test('the end, spans, and what was not sent', () => {
  const at = new Date(2026, 10, 18, 14, 32, 5).getTime();
  expect(clock(at)).toBe('14:32');
  expect(endWords({ exitCode: 0, endedAt: at, keptUntil: at + 600_000 })).toBe(
    'Ended with exit 0 at 14:32. Kept until 14:42.',
  );
  expect(endWords({ exitCode: null })).toBe('Ended.');
  expect(span(41_900)).toBe('41 s');
  expect(span(125_000)).toBe('2 min 5 s');
  expect(unsent('systemctl st')).toBe('“systemctl st” was not sent.');
});
