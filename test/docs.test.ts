import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { referencePages } from '../src/reference.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'reference');

test('docs/reference is what the catalogue says (npm run docs)', () => {
  const written = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
  expect(written).toEqual(referencePages());
});
