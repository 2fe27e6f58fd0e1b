import { expect, test } from 'vitest';
import { codeIn, loginPath, safePath } from './safe-path.ts';

test.each(['/', '/t/a1b2c', '/machines?host=db-1', '/asks/q_1#x', '/a//b'])('%s is a path of this app', (path) =>
  expect(safePath(path)).toBe(path),
);

test.each([
  null,
  '',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  'evil',
  ' /x',
  '/a\\b',
  '/login',
  '/login?to=/login',
])('%j leads to Now', (path) => expect(safePath(path)).toBe('/'));

test('the login page knows the way back', () => {
  expect(loginPath('/')).toBe('/login');
  expect(loginPath('/t/a1b2c?at=4')).toBe('/login?to=%2Ft%2Fa1b2c%3Fat%3D4');
  expect(loginPath('//evil.example')).toBe('/login');
});

test('a code is found in a link and by itself', () => {
  const code = 'AbC-_123456789012345678901234567';
  expect(codeIn(` http://127.0.0.1:7420/#code=${code}\n`)).toBe(code);
  expect(codeIn(code)).toBe(code);
  expect(codeIn('http://127.0.0.1:7420/')).toBeUndefined();
  expect(codeIn('')).toBeUndefined();
});
