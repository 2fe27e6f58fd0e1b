import { expect, test } from 'vitest';
import { isCarrier } from './carriers.ts';

test('what brings a shell from elsewhere (R-RPC-045)', () => {
  const names = 'ssh su sudo docker podman kubectl tmux nix-shell'.split(' ');
  expect(names.filter((name) => !isCarrier(name))).toEqual([]);
  expect(['python3', 'vim', 'bash'].filter(isCarrier)).toEqual([]);
});
