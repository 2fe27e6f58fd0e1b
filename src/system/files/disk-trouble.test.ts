import { closeSync, openSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { diskError, diskTrouble } from './disk-trouble.ts';

test('a full disk is told in words, with what to do; other errors are not about the disk', () => {
  const fd = openSync('/dev/full', 'w');
  let thrown: unknown;
  try {
    writeSync(fd, 'x');
  } catch (error) {
    thrown = error;
  } finally {
    closeSync(fd);
  }
  expect(diskTrouble(thrown)).toBe('the disk is full');
  expect(diskError(thrown)).toMatchObject({ code: 'unavailable', message: 'Cannot write: the disk is full.' });
  const named = Object.assign(new Error('x'), { code: 'EDQUOT', path: '/home/ada/policy.json' });
  expect(diskError(named)?.message).toBe('Cannot write /home/ada/policy.json: the disk quota is used up.');
  expect(diskError(Object.assign(new Error('x'), { code: 'EACCES' }))).toBeUndefined();
  expect(diskError('x')).toBeUndefined();
});
