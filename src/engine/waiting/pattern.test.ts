import { expect, test } from 'vitest';
import { FairleadError } from '../../contract/errors.ts';
import { compilePattern } from './pattern.ts';
import { cpuTimer } from '../../../test/support/clocks/cpu-timer.ts';

test('finds the first match, its place and its groups, and goes on from there', () => {
  const pattern = compilePattern('(\\w+)=(\\d+)?');
  const text = 'a=1 bb= c=3';
  expect(pattern.exec(text)).toEqual({ index: 0, text: 'a=1', groups: ['a', '1'] });
  expect(pattern.exec(text, 3)).toEqual({ index: 4, text: 'bb=', groups: ['bb', undefined] });
  expect(pattern.exec(text, 11)).toBeUndefined();
  expect(pattern.exec(text, 99)).toBeUndefined();
});

test('case, lines and newlines are matters of flags', () => {
  expect(compilePattern('^done$').exec('x\ndone\n')).toBeUndefined();
  expect(compilePattern('^DONE$', 'im').exec('x\ndone\n')?.index).toBe(2);
  expect(compilePattern('a.b', 's').exec('a\nb')?.text).toBe('a\nb');
  expect(() => compilePattern('a', 'g')).toThrow('there are i, m and s');
});

test('what JavaScript spells in its own way is understood', () => {
  expect(compilePattern('(?<n>\\d)\\/').exec('é7/')).toEqual({ index: 1, text: '7/', groups: ['7'] });
  expect(compilePattern('[$#%>] ?$').exec('root@host:~# ')?.text).toBe('# ');
});

test('a pattern that cannot be used says why and what to do', () => {
  for (const source of ['(', 'a(?=b)', '(a)\\1', 'x'.repeat(1001), '((a{100}){100}){10}']) {
    let thrown: unknown;
    try {
      compilePattern(source);
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBeInstanceOf(FairleadError);
    expect(thrown).toMatchObject({ code: 'invalid_input', hint: expect.stringContaining('RE2') });
  }
});

test('patterns that ruin a backtracking engine take linear time', () => {
  const spent = cpuTimer();
  expect(compilePattern('^(a+)+$').exec(`${'a'.repeat(20_000)}b`)).toBeUndefined();
  expect(compilePattern('(x*)*y').exec('x'.repeat(20_000))).toBeUndefined();
  expect(spent()).toBeLessThan(2000);
});
