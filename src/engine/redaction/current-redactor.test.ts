import { expect, test } from 'vitest';
import { CurrentRedactor } from './current-redactor.ts';

test('a changed pattern counts at once, known values stay, and the key is asked for once (R-RPC-064)', () => {
  let patterns: readonly string[] = [];
  let asked = 0;
  const key = (): Uint8Array => {
    asked += 1;
    return Buffer.alloc(32);
  };
  const current = new CurrentRedactor({ key, patterns: () => patterns });
  current.get().learn('correct horse');
  expect(current.get()).toBe(current.get());
  expect(current.get().redactText('badge-4711 correct horse').text).toMatch(/^badge-4711 <redacted:[0-9a-f]{8}>$/);
  patterns = ['badge-\\d+'];
  expect(current.get().redactText('badge-4711 correct horse').text).not.toMatch(/badge|horse/);
  patterns = ['('];
  expect(current.get().problems).toHaveLength(1);
  patterns = [];
  expect(current.get().problems).toEqual([]);
  expect(asked).toBe(1);
});
