import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const dist = join(import.meta.dirname, '..', '..', 'dist', 'web');
const page = readFileSync(join(dist, 'index.html'), 'utf8');
const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file = '']) => file);
const kilobytes = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0) / 1000;

test('the first page is one script and one stylesheet, at most 45 kB compressed', () => {
  expect(first.map((file) => file.split('.').at(-1))).toEqual(['js', 'css']);
  expect(kilobytes(first)).toBeLessThanOrEqual(45);
});

test('the two fonts that every page needs are at most 53 kB', () => {
  const fonts = readdirSync(join(dist, 'assets')).filter((file) => /-latin-wght-normal-.*\.woff2$/.test(file));
  expect(fonts).toHaveLength(2);
  const size = fonts.reduce((sum, file) => sum + readFileSync(join(dist, 'assets', file)).length, 0);
  expect(size / 1000).toBeLessThanOrEqual(53);
});

test('opening a terminal directly stays below 250 kB', () => {
  const terminal = readdirSync(join(dist, 'assets')).filter((file) => /^Terminal-.*\.(?:js|css)$/.test(file));
  expect(terminal.length).toBeGreaterThan(0);
  expect(kilobytes([...first, ...terminal.map((file) => `assets/${file}`)]) + 53).toBeLessThanOrEqual(250);
});
