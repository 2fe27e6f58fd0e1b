import { expect, test } from 'vitest';
import { EchoedInput } from './echoed-input.ts';

/** `>` types, `<` prints. */
function run(...steps: string[]): string[] {
  const written: string[] = [];
  const input = new EchoedInput((text, atMs) => written.push(`${atMs} ${text}`));
  for (const [index, step] of steps.entries()) {
    if (step.startsWith('>')) input.input(step.slice(1), index);
    else input.output(step.slice(1));
  }
  input.end();
  return written;
}

test('what comes out again is written, with the time it was typed', () => {
  expect(run('>echo hi', '<\x1b[32mecho\x1b[0m hi', '>\r', '<\r\nhi\r\n')).toEqual(['0 echo hi', '2 \r']);
  expect(run('>echo hi\r', '<echo hi\r\nhi\r\n')).toEqual(['0 echo hi', '0 \r']);
  expect(run('>l', '<l', '>s', '<s', '>\r', '<\r\n')).toEqual(['0 l', '2 s', '4 \r']);
});

test('what does not is a secret: only its keys are written', () => {
  expect(run('>hunter2', '>\r', '<\r\nWelcome to the machine\r\n$ ', '>ls -l', '<ls -l', '>\r')).toEqual([
    '1 \r',
    '3 ls -l',
    '5 \r',
  ]);
  expect(run(...[...'hunter2'].map((char) => `>${char}`), '>\r', '<\r\nhunt the erased 2\r\n')).toEqual(['7 \r']);
  expect(run('>to', '>\r', '<\r\nwelcome to')).toEqual(['1 \r']);
});

test('a secret does not hold up what is typed after it', () => {
  const written: string[] = [];
  const input = new EchoedInput((text) => written.push(text));
  input.input('hunter2\r', 0);
  input.output('\r\n$ ');
  input.input('ls -l\r', 1);
  expect(written).toEqual([]);
  input.output('ls -l\r\n');
  expect(written).toEqual(['\r', 'ls -l', '\r']);
});

test('corrected typing, and keys on their own', () => {
  expect(run('>make tets', '<make tets', '>\x7f\x7f', '<\b \b\b \b', '>st', '<st', '>\r')).toEqual([
    '0 make tets',
    '2 \x7f',
    '2 \x7f',
    '4 st',
    '6 \r',
  ]);
  expect(run('>\x1b[A', '<ls', '>\x03')).toEqual(['0 \x1b[A', '2 \x03']);
});

test('a program that prints for ever without an echo does not keep it waiting', () => {
  expect(run('>secret\r', `<${'x '.repeat(5000)}`, '>\x03')).toEqual(['0 \r', '2 \x03']);
});
