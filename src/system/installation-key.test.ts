import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installationKey } from './installation-key.ts';

test('made once, kept for its owner only, the same ever after', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-key-'));
  const path = join(folder, 'below', 'key');
  const key = installationKey(path);
  expect(key).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(installationKey(path).equals(key)).toBe(true);
  expect(readFileSync(path).equals(key)).toBe(true);
  rmSync(folder, { recursive: true });
});

test('where it cannot be kept, there still is one', () => {
  expect(installationKey('/dev/null/key')).toHaveLength(32);
});
