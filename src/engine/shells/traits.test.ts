import { expect, test } from 'vitest';
import { isShell, traitsOf } from './traits.ts';

test('every shell by its exact name, and nothing that only contains one (R-RPC-027)', () => {
  const names = 'sh dash ash bash zsh fish ksh nu pwsh powershell cmd tcsh elvish xonsh'.split(' ');
  expect(names.filter((name) => !isShell(name))).toEqual([]);
  expect(['gnuplot', 'basher', 'python3', 'ssh', '', 'constructor', '__proto__'].filter(isShell)).toEqual([]);
  expect(isShell('-bash')).toBe(true);
});

test('which language a shell is told in (R-RPC-042); others are typed into as programs', () => {
  const told = ['bash', 'busybox', 'fish', 'tcsh', 'csh'].map((name) => traitsOf(name)?.dialect);
  expect(told).toEqual(['posix', 'posix', 'fish', 'csh', 'csh']);
  for (const name of ['pwsh', 'powershell', 'nu', 'cmd', 'python3']) expect(traitsOf(name)?.dialect).toBeUndefined();
});
