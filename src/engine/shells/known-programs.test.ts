import { expect, test } from 'vitest';
import { dialectOf, isCarrier, isShell } from './known-programs.ts';

test('every shell by its exact name, and nothing that only contains one (R-RPC-027)', () => {
  const names = 'sh dash ash bash zsh fish ksh nu pwsh powershell cmd tcsh elvish xonsh'.split(' ');
  expect(names.filter((name) => !isShell(name))).toEqual([]);
  expect(['gnuplot', 'basher', 'python3', 'ssh', ''].filter(isShell)).toEqual([]);
  expect(isShell('-bash')).toBe(true);
});

test('what brings a shell from elsewhere (R-RPC-045)', () => {
  const names = 'ssh su sudo docker podman kubectl tmux nix-shell'.split(' ');
  expect(names.filter((name) => !isCarrier(name))).toEqual([]);
  expect(['python3', 'vim', 'bash'].filter(isCarrier)).toEqual([]);
});

test('which language a shell is told in (R-RPC-042)', () => {
  const told = ['bash', 'busybox', 'fish', 'tcsh', 'csh', 'pwsh', 'powershell', 'nu', 'cmd', 'python3'].map(dialectOf);
  const known = ['posix', 'posix', 'fish', 'csh', 'csh', 'powershell', 'powershell'];
  expect(told).toEqual([...known, undefined, undefined, undefined]);
});
