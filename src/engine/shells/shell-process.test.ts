import { expect, test } from 'vitest';
import { isInteractive, takesCommands } from './shell-process.ts';

test.each(['-bash', 'bash --rcfile x -i', 'sh', 'dash -s x', 'busybox sh', 'zsh -o vi', 'sh -', 'bash --norc'])(
  '%s reads commands from its terminal',
  (line) => expect(isInteractive(line.split(' '))).toBe(true),
);

test.each(['bash -c x', 'sh -ec x', 'bash script', 'busybox sh script', 'zsh -o vi script', 'fish --command=x'])(
  '%s does not',
  (line) => expect(isInteractive(line.split(' '))).toBe(false),
);

test('a shell with a line editor shows by its terminal that it reads; others by their arguments, if known', () => {
  const shell = { pid: 1, isLeader: false };
  expect(takesCommands({ ...shell, name: 'bash', arguments: ['bash'] }, false)).toBe(false);
  expect(takesCommands({ ...shell, name: 'bash', arguments: ['bash'] }, true)).toBe(true);
  expect(takesCommands({ ...shell, name: 'dash', arguments: ['dash'] }, false)).toBe(true);
  expect(takesCommands({ ...shell, name: 'dash', arguments: ['dash', '-c', 'x'] }, false)).toBe(false);
  expect(takesCommands({ ...shell, name: 'bash' }, false)).toBe(true);
});
