import { expect, test } from 'vitest';
import { hideKnown } from './hide-known.ts';
import { Redactor } from './redactor.ts';
import { secretValues } from './secret-values.ts';

const value = 'Zx81-kQ0pLmn4T';
const redactor = new Redactor({ key: new Uint8Array(32), known: [value] });
const tag = redactor.mask(value);
const hide = <T>(answer: T): T => hideKnown(answer, (text) => redactor.withoutKnown(text));

test('every text of an answer is read, and what only looks like a secret stays', () => {
  const looks = `password: hunter2 ${'3b18e512dba79e4c8300'.repeat(2)}`;
  const bytes = new Uint8Array([1, 2]);
  const answer = { text: `a ${value} b`, count: 3, none: null, list: [{ looks, deep: [value, 7] }], bytes };
  expect(hide(answer)).toEqual({ text: `a ${tag} b`, count: 3, none: null, list: [{ looks, deep: [tag, 7] }], bytes });
  expect(hide(answer).bytes).toBe(bytes);
});

test('a value that is cut by the rows of a screen is masked, and the rows stay as many', () => {
  expect(hide({ rows: [`$ echo ${value.slice(0, 5)}`, `${value.slice(5)} x`, ''] })).toEqual({
    rows: [`$ echo ${tag}`, ' x', ''],
  });
  expect(hide(`$ echo ${value.slice(0, 5)}\n${value.slice(5)} x\n`)).toBe(`$ echo ${tag}\n x\n`);
});

test('rows that come with facts about them are read together, too', () => {
  const cells = [
    { row: 7, text: `$ echo ${value.slice(0, 5)}` },
    { row: 8, text: `${value.slice(5)} x`, note: value },
    { row: 9, text: '' },
  ];
  expect(hide({ cells })).toEqual({
    cells: [
      { row: 7, text: `$ echo ${tag}` },
      { row: 8, text: ' x', note: tag },
      { row: 9, text: '' },
    ],
  });
  const plain = [{ text: 'a' }, { text: 'b\nc' }, 'd', { other: value }];
  expect(hide(plain)).toEqual([{ text: 'a' }, { text: 'b\nc' }, 'd', { other: tag }]);
});

test('a value that a caller gave is masked where it is written down, not in answers', () => {
  const told = new Redactor({ key: new Uint8Array(32) });
  told.learn(value, { byCaller: true });
  expect(told.hidesKnown).toBe(false);
  expect(told.withoutKnown(value)).toBe(value);
  expect(told.redactText(`x ${value}\n`).text).toBe(`x ${told.mask(value)}\n`);
  told.learn(value);
  told.learn(value, { byCaller: true });
  expect(told.withoutKnown(value)).toBe(told.mask(value));
});

test('values of variables with the name of a secret are known, unless they are ordinary words', () => {
  const secret = ['Zx81', 'kQ0pLmn4T'].join('');
  expect(secretValues({ GITHUB_TOKEN: secret, DB_PASSWORD: 'correct Horse 7' })).toEqual([secret, 'correct Horse 7']);
  const none = {
    PATH: '/usr/bin:/bin',
    PWD: '/home/me/project-1',
    DB_PASSWORD: 'postgres',
    API_KEY: 'short1',
    SSH_KEY: '/home/me/.ssh/id_ed25519',
    A_TOKEN: 'https://example.org/token',
    B_SECRET: 'not-a-secret',
    PIN_TOKEN: '1234567890',
    LANG: 'C.UTF-8',
    EMPTY_TOKEN: undefined,
  };
  expect(secretValues(none)).toEqual([]);
});
