import { expect, test } from 'vitest';
import { callerOf } from '../../../test/support/ssh/remote.ts';
import { followHint, followStep, hintOf, nextOf, toolStep } from './advice.ts';

const callerWith = (...names: string[]) => ({ ...callerOf('me'), offers: (name: string) => names.includes(name) });

const uri = 'command://c1/output';
const steps = [followStep(uri), toolStep('ssh_exec_output', '(command_id=c1)'), toolStep('ssh_exec_cancel')];

test('advice names only what the caller has, in the words of the reference', () => {
  expect(nextOf(callerWith('sub_open', 'command://', 'ssh_exec_output', 'ssh_exec_cancel'), steps)).toEqual({
    next: 'sub_open uri=command://c1/output (PREFERRED — push-first) | ssh_exec_output(command_id=c1) | ssh_exec_cancel',
  });
  expect(nextOf(callerWith('sub_open', 'ssh_exec_output'), steps)).toEqual({ next: 'ssh_exec_output(command_id=c1)' });
  expect(hintOf(callerWith('command://'), followHint(uri))).toEqual({
    hint: 'subscribe to command://c1/output for realtime output (preferred over polling)',
  });
  expect(hintOf(callerWith('shell://'), followHint(uri))).toEqual({});
});

test('without anything to take there is no line, and a door with other names gets none', () => {
  expect(nextOf(callerWith(), steps)).toEqual({});
  expect(nextOf(callerOf('me'), steps)).toEqual({});
  expect(hintOf(callerWith('command://'), undefined)).toEqual({});
});
