import { expect, test } from 'vitest';
import { hostAndPort, parseAddress, plainUser } from './address.ts';

test('address forms (spec 9.2)', () => {
  expect(parseAddress('example.com')).toEqual({ host: 'example.com' });
  expect(parseAddress(' example.com:2222 ')).toEqual({ host: 'example.com', port: 2222 });
  expect(parseAddress('192.168.1.1:22')).toEqual({ host: '192.168.1.1', port: 22 });
  expect(parseAddress('[2001:db8::1]')).toEqual({ host: '2001:db8::1' });
  expect(parseAddress('[2001:db8::1]:65535')).toEqual({ host: '2001:db8::1', port: 65535 });
  expect(parseAddress('::1')).toEqual({ host: '::1' });
  expect(parseAddress('fe80::1%eth0')).toEqual({ host: 'fe80::1%eth0' });
  expect(parseAddress('my_box-1')).toEqual({ host: 'my_box-1' });
  expect(parseAddress('bücher.example')).toEqual({ host: 'bücher.example' });
});

test.each([
  '',
  ' ',
  ':22',
  'host:',
  'host:0',
  'host:65536',
  'host:22x',
  'host:1:2',
  '[::1',
  '[]:22',
  '[host]:22',
  '[::1]:0',
  '[::1]x',
  '-oProxyCommand=x',
  '-p',
  'a b',
  'a;b',
  'a$(b)',
  'a`b`',
  'user@host',
  'a\nb',
  '../x',
  `${'a'.repeat(300)}`,
])('not an address: %j', (text) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
});

test('usernames that OpenSSH would not take', () => {
  for (const name of ['alice', 'DOMAIN\\alice', 'a.b-c_d', 'host$']) expect(plainUser(name)).toBe(name);
  for (const name of ['', '-x', 'a b', 'a;b', 'a`b`', '$(x)', 'a\\', 'a\nb', 'a"b']) {
    expect(() => plainUser(name)).toThrow(expect.objectContaining({ code: 'invalid_input' }) as Error);
  }
});

test('a v6 host and its port are told apart again', () => {
  expect(hostAndPort('::1', 22)).toBe('[::1]:22');
  expect(hostAndPort('a', 22)).toBe('a:22');
});
