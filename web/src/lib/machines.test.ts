import { expect, test } from 'vitest';
import { machinesOf, worstWords } from './machines.ts';
import type { TargetList, TerminalShown } from './shapes.ts';

const list: TargetList = {
  targets: [
    { target: 'local', summary: 'a shell', kind: 'local', terminals: 2 },
    { target: 'ssh:user@host[:port]', summary: 'a shell', kind: 'ssh', isPattern: true, terminals: 0 },
    { target: 'ssh:db-1', summary: 'x', kind: 'ssh', address: '10.0.7.3:22', user: 'deploy', terminals: 0 },
    { target: 'serial:/dev/ttyUSB0', summary: 'a serial port', kind: 'serial', inUseBy: 'minicom', terminals: 0 },
  ],
  shells: ['bash'],
};
const terminal = (target: string, shown: TerminalShown['shown'], session = 1): TerminalShown =>
  ({ target, shown, session, since: 0, terminal: `${session}` }) as TerminalShown;

test('this machine, hosts and lines, and what has terminals although nothing lists it', () => {
  const terminals = [terminal('local', 'idle'), terminal('local', 'failed', 2), terminal('ssh:root@web', 'working', 3)];
  const machines = machinesOf(list, terminals, 'atlas');
  expect(machines.map(({ name, address }) => [name, address])).toEqual([
    ['atlas', ''],
    ['db-1', 'deploy@10.0.7.3:22'],
    ['/dev/ttyUSB0', 'a serial port'],
    ['root@web', ''],
  ]);
  expect(machines[0]).toMatchObject({ isHere: true, opens: ['bash'] });
  expect(machines[0]?.terminals.map(({ shown }) => shown)).toEqual(['failed', 'idle']);
  expect(machines[2]).toMatchObject({ kind: 'serial', inUseBy: 'minicom' });
  expect(machines.map(worstWords)).toEqual(['1 failed', '', '', 'working']);
});

test('a state is counted, except the one that needs a person', () => {
  const words = (...states: TerminalShown['shown'][]): string =>
    worstWords(
      machinesOf(
        list,
        states.map((shown, at) => terminal('local', shown, at)),
        'atlas',
      )[0] ?? expect.fail(),
    );
  expect(words('working', 'working', 'idle')).toBe('2 working');
  expect(words('needs_you', 'needs_you')).toBe('needs you');
  expect(words('lost')).toBe('lost');
});
