import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { harmless, leaks } from '../../../test/support/redaction/corpus.ts';
import { leastCpu } from '../../../test/support/clocks/cpu-timer.ts';
import { Redactor } from './redactor.ts';
import { findTrigger } from './trigger.ts';
import { triggerTables } from './trigger-tables.ts';
import { visibleText } from './visible-text.ts';

const tables = triggerTables();
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const triggers = (text: string, cols = 0): boolean => {
  const bytes = bytesOf(text);
  return findTrigger(bytes, 0, bytes.length, cols, tables) >= 0;
};

describe('what the rules find nothing in is not read', () => {
  test.each([
    'cc src/alpha/beta.c:120: warning: unused parser\r\n',
    '\x1b[2m12:00:01\x1b[0m \x1b[32mINFO\x1b[0m \x1b[38;5;33mserver\x1b[39m listening on 8080\r\n',
    '\x1b[3;1H│ 1234 root \x1b[33m1.5\x1b[39m │ node --index\x1b[K\x1b[3;120H│',
    '12 tests passed, 3 keyboards, 4 tokens, disk-full, authors\r\n',
    'Übergrößen 終端機 👩‍💻 naïveté\r\n',
    '\x1b(B\x1b[m\x1b[0m\x1b[1mdone\x1b[0m\r\n',
  ])('%j', (text) => expect(triggers(text, 120)).toBe(false));
});

test('the words are found at every place and in either case', () => {
  for (const word of ['password', 'TOKEN', 'Key', 'ghp_', 'AKIA', 'sk-', '://', 'curl']) {
    for (let before = 0; before < 12; before++) {
      expect([word, before, triggers(`${' '.repeat(before)}${word}=1\n`)]).toEqual([word, before, true]);
    }
  }
});

test('known values are words too, also beyond ASCII', () => {
  const own = triggerTables(['correct horse', 'größe!']);
  for (const value of ['correct horse', 'größe!', 'correct \x1b[1mhorse', 'grö\x1b[0mße!']) {
    const bytes = bytesOf(`echo ${value}\r\n`);
    expect(findTrigger(bytes, 0, bytes.length, 0, own)).toBeGreaterThan(0);
  }
});

/** A pattern that matches nothing: with it all output is read. */
const reader = new Redactor({ key: new Uint8Array(32), custom: ['\\u{10ffff}never'] });
const redactor = new Redactor({ key: new Uint8Array(32) });
const show = (one: Redactor, chunks: readonly string[], cols: number): string => {
  const stream = one.stream({ cols });
  return [...chunks.flatMap((chunk) => stream.push(chunk, undefined)), ...stream.end()]
    .map(({ text }) => text)
    .join('');
};

test('property: reading only lines with a trigger masks what reading all of them does', () => {
  const lines = [
    ...Object.values(leaks).flatMap((list) => list.map(({ line }) => line)),
    ...Object.values(harmless).flat(),
  ];
  const fragment = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...lines) },
    fc.tuple(fc.constantFrom(...lines), fc.nat(60)).map(([line, at]) => line.slice(at)),
    fc.tuple(fc.constantFrom(...lines), fc.nat(60)).map(([line, at]) => line.slice(0, at)),
    fc.constantFrom(
      '\r\n',
      '\n',
      '\r',
      ' \r',
      '\b',
      '\t',
      '\x00',
      ' ',
      '日本',
      'é',
      '\x1b',
      '\x1b]',
      '\x07',
      '\x1b[2J',
    ),
    fc.constantFrom(
      '\x1b[31m',
      '\x1b[0m',
      '\x1b[4;1H',
      '\x1b[7;9H',
      '\x1b[K',
      '\x1b]0;t\x07',
      '\x1b(B',
      '\x1b[1A',
      '\x1b[5G',
    ),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 25 }), fc.constantFrom(0, 7, 20, 40), (parts, cols) => {
      expect(show(redactor, parts, cols)).toBe(show(reader, parts, cols));
    }),
    { numRuns: 1000 },
  );
});

test('property: what is a secret in the whole output is one when it comes in pieces', () => {
  const lines = [...(leaks['R-RPC-080'] ?? []), ...(leaks['R-RPC-081'] ?? [])].map(({ line }) => line);
  const fragment = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...lines) },
    fc.tuple(fc.constantFrom(...lines), fc.nat(60)).map(([line, at]) => line.slice(at)),
    fc.tuple(fc.constantFrom(...lines), fc.nat(60)).map(([line, at]) => line.slice(0, at)),
    fc.constantFrom('\r\n', '\n', '\r', ' \r', '\t', ' ', '日本', 'é', '\x1b[31m', '\x1b[4;1H', '\x1b[7;9H', '\x1b[K'),
    fc.constantFrom('\x1b[1A', '\x1b[5G', '\x1b[2J', '\x1b[?1049h', '\x1b[u', '\x1b7', '\x1b8', '\x1bM'),
    fc.stringMatching(/^[a-z]{0,30}$/),
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 25 }), fc.constantFrom(0, 7, 20, 40), (parts, cols) => {
      const visible = visibleText(parts.join(''), cols, true).text;
      const tags = redactor.spans(visible).map(({ start, end }) => redactor.mask(visible.slice(start, end)));
      expect(show(redactor, parts, cols).match(/<redacted:[0-9a-f]{8}>/g) ?? []).toEqual(tags);
    }),
    { numRuns: 1000 },
  );
});

describe('hostile output takes linear time', () => {
  const size = 300_000;
  test.each([
    ['words', 'key '],
    ['runs that are too short', `${'a'.repeat(37)} `],
    ['full lines', `${'a'.repeat(79)}\n`],
    ['full lines of several rows', `${'a b '.repeat(20)}\n`],
    ['colours', '\x1b[31ma'],
    ['moves', '\x1b[1;1H'],
    ['blanks and returns', 'a \r'],
    ['lines with a word', 'token\n'],
    ['titles', '\x1b]0;a\x07\n'],
    ['keys that begin', '-----BEGIN PRIVATE KEY-----\n'],
  ])('%s', (_name, unit) => {
    const bytes = bytesOf(unit.repeat(Math.ceil(size / unit.length)));
    const run = (): void => {
      const stream = redactor.stream({ cols: 80 });
      for (let at = 0; at < bytes.length; at += 4096) stream.push(bytes.subarray(at, at + 4096), undefined);
      stream.end();
    };
    expect(leastCpu(run, 1_500)).toBeLessThan(1_500);
  });
});
