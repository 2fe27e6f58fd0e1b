import { expect, test } from 'vitest';
import { choicesOf, matching, whereOf } from './open-choices.ts';
import type { TargetList } from './shapes.ts';

const list: TargetList = {
  targets: [
    { target: 'local', summary: 'a shell or program on this machine', kind: 'local', terminals: 1 },
    { target: 'ssh:user@host[:port]', summary: 'a shell', kind: 'ssh', isPattern: true, terminals: 0 },
    { target: 'ssh:db-1', summary: 'deploy@10.0.7.3:22', kind: 'ssh', terminals: 0 },
    { target: 'serial:/dev/ttyUSB0', summary: 'a serial port', kind: 'serial', inUseBy: 'minicom', terminals: 0 },
  ],
  shells: ['bash', 'zsh'],
};
const texts = (recent: string[] = []): string[] => choicesOf(list, recent).map(({ text }) => text);

test('the own shell, what else can be opened, other shells; forms are not among them', () => {
  expect(texts()).toEqual(['local', 'ssh:db-1', 'serial:/dev/ttyUSB0', 'bash', 'zsh']);
  expect(choicesOf(list, [])[2]).toMatchObject({ label: '/dev/ttyUSB0', inUseBy: 'minicom' });
});

test('what was used last comes first, also what is not listed', () => {
  expect(texts(['ssh:root@web', 'ssh:db-1', 'zsh'])).toEqual([
    'ssh:root@web',
    'ssh:db-1',
    'zsh',
    'local',
    'serial:/dev/ttyUSB0',
    'bash',
  ]);
});

test('a few letters find a place by any of its names', () => {
  const found = (typed: string): string[] => matching(choicesOf(list, []), typed).map(({ text }) => text);
  expect(found('db')).toEqual(['ssh:db-1']);
  expect(found('10.0.7')).toEqual(['ssh:db-1']);
  expect(found(' ')).toHaveLength(5);
  expect(found('nowhere')).toEqual([]);
});

test.each([
  ['local', { target: 'local' }],
  ['bash', { target: 'local', shell: 'bash' }],
  ['db-1', { target: 'ssh:db-1' }],
  ['ssh:deploy@10.0.7.9:2222', { target: 'ssh:deploy@10.0.7.9:2222' }],
  ['mars:base', { target: 'mars:base' }],
  ['htop', { target: 'local', argv: ['htop'] }],
  [`python3 -c 'print(1 + 1)' "two words"`, { target: 'local', argv: ['python3', '-c', 'print(1 + 1)', 'two words'] }],
  ['  ', undefined],
])('%s means %j', (typed, wanted) => expect(whereOf(typed, choicesOf(list, []))).toEqual(wanted));
