import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const words = (file: string): string => readFileSync(join(root, file), 'utf8').replaceAll(/\s+/g, ' ');
const pages = ['SECURITY.md', 'docs/guide/safety.md'];

/** `test/file.test.ts`: “name of a test in it”. */
const proofs = (text: string): [string, string][] =>
  [...text.matchAll(/`((?:src|test)\/[^`]+\.test\.ts)`: “([^”]+)”/g)].map(([, file = '', name = '']) => [file, name]);

test.each(pages)('%s: every test that is named exists, with that name', (page) => {
  for (const [file, name] of proofs(words(page))) {
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(words(file), `${page} names a test that ${file} does not have`).toContain(name);
  }
  const named = [...words(page).matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, file = '']) => file);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('SECURITY.md: every promise about programs, secrets, neighbours, hosts and strangers has its proof', () => {
  const sections = readFileSync(join(root, 'SECURITY.md'), 'utf8').split(/^## /m);
  const promised = sections.flatMap((section) => /^Promised:\n\n([\s\S]*?)\n\n/m.exec(section)?.[1] ?? []);
  expect(promised).toHaveLength(6);
  const promises = promised.flatMap((list) => list.split(/^- /m).slice(1));
  expect(promises.length).toBeGreaterThan(30);
  // The operating system gives this one: a pipe has two ends.
  const unproved = promises.filter((promise) => proofs(promise.replaceAll(/\s+/g, ' ')).length === 0);
  expect(unproved.map((promise) => promise.slice(0, 10))).toEqual(['**stdio** ']);
});
