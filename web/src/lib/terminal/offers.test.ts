import { expect, test } from 'vitest';
import { clipboardText, linkOf } from './offers.ts';
import { isReport } from './quiet.ts';

test('links are http and https, whole and not endless', () => {
  expect(linkOf('https://example.test/a?b#c')?.host).toBe('example.test');
  expect(linkOf('http://127.0.0.1:7420/')).toBeDefined();
  for (const bad of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'ssh://h',
    '/x',
    '',
    `https://e.test/${'x'.repeat(3000)}`,
  ]) {
    expect(linkOf(bad), bad.slice(0, 40)).toBeUndefined();
  }
});

test('a program may offer text for the clipboard, and never read it', () => {
  const write = (text: string): string => `c;${Buffer.from(text).toString('base64')}`;
  expect(clipboardText(write('hello ☃'))).toBe('hello ☃');
  expect(clipboardText('c;?')).toBeUndefined();
  expect(clipboardText('c;***')).toBeUndefined();
  expect(clipboardText('nothing')).toBeUndefined();
  expect(clipboardText(`c;${Buffer.from([0xff, 0xfe]).toString('base64')}`)).toBeUndefined();
  expect(clipboardText(write('x'.repeat(400_000)))).toBeUndefined();
});

test('reports of mouse and focus are no keys', () => {
  expect(['\x1b[I', '\x1b[O', '\x1b[<0;1;1M', '\x1b[M !!'].every(isReport)).toBe(true);
  expect(['a', '\x1b[A', '\x1bOP', '\x1b', '\x1b[Ox'].some(isReport)).toBe(false);
});
