import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir, type } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { osName } from './os-name.ts';

test('the name that the system gives itself; without one, of its kernel', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fl-os-'));
  const file = join(folder, 'os-release');
  const named = (text: string): string => {
    writeFileSync(file, text);
    return osName(file);
  };
  expect(named('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')).toBe('Debian GNU/Linux 12 (bookworm)');
  expect(named("PRETTY_NAME='Alpine Linux v3.22'\n")).toBe('Alpine Linux v3.22');
  expect(named('PRETTY_NAME=Plain\n')).toBe('Plain');
  const kernel = `${type()} ${release()}`;
  expect(named('ID=strange\n')).toBe(kernel);
  expect(osName(join(folder, 'none'))).toBe(kernel);
  rmSync(folder, { recursive: true });
});
