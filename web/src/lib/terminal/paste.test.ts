import { expect, test } from 'vitest';
import { mostPasted, planPaste } from './paste.ts';

test('one line goes as it is, several are asked about unless the program can tell a paste', () => {
  expect(planPaste('ls -l', false)).toEqual({ kind: 'send', keys: 'ls -l' });
  expect(planPaste('ls -l\n', false)).toEqual({ kind: 'send', keys: 'ls -l\r' });
  expect(planPaste('a\r\nb\nc', false)).toEqual({ kind: 'ask', keys: 'a\rb\rc', lines: 3 });
  expect(planPaste('a\nb', false, false)).toEqual({ kind: 'send', keys: 'a\rb' });
  expect(planPaste('a\nb', true)).toEqual({ kind: 'send', keys: '\x1b[200~a\rb\x1b[201~' });
});

test('a paste end inside a bracketed paste is taken out', () => {
  expect(planPaste('a\x1b[201~rm -rf /\n', true)).toEqual({ kind: 'send', keys: '\x1b[200~arm -rf /\r\x1b[201~' });
});

test('256 KiB are the most, counted in bytes', () => {
  expect(planPaste('x'.repeat(mostPasted), true).kind).toBe('send');
  expect(planPaste('x'.repeat(mostPasted + 1), true)).toEqual({ kind: 'refuse', bytes: mostPasted + 1 });
  expect(planPaste('é'.repeat(mostPasted / 2 + 1), false).kind).toBe('refuse');
});
