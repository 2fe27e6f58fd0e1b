import { expect, test } from 'vitest';
import { cleanAnswer, toJson } from './clean.ts';

test('nothing in an answer works on the terminal it is shown on', () => {
  const hostile = {
    'na\x1bme': ['a\x1b[31mRED\x1b]0;evil\x07', { deep: 'x\x9b2Jy\u202ez' }],
    lines: 'one\r\n\ttwo\n',
    n: 1,
    no: null,
  };
  expect(cleanAnswer(hostile)).toEqual({
    'na\ufffdme': ['a\ufffd[31mRED\ufffd]0;evil\ufffd', { deep: 'x\ufffd2Jyz' }],
    lines: 'one\n\ttwo\n',
    n: 1,
    no: null,
  });
});

test('JSON says the same, with nothing a terminal acts on', () => {
  const hostile = ['\x1b[31m', '\x9b31m', '\x7f', '\u202e', 'é 💥'];
  const text = toJson(hostile);
  expect(JSON.parse(text)).toEqual(hostile);
  expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  expect(text).toContain('é 💥');
});
