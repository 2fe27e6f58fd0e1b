import { describe, expect, test } from 'vitest';
import { type Flag, parseArgs, UsageError } from './args.ts';

const known: Flag[] = [
  { name: 'cols', flag: '--cols', form: 'value' },
  { name: 'readOnly', flag: '--read-only', form: 'switch' },
  { name: 'env', flag: '--env', form: 'list' },
  { name: 'record', flag: '--record', form: 'optional', bare: 'always' },
];
const parse = (...argv: string[]) => {
  const { flags, words } = parseArgs(argv, known);
  return { flags: Object.fromEntries(flags), words };
};

describe('R-TERM-012: options', () => {
  test('--x v and --x=v mean the same', () => {
    expect(parse('--cols', '80')).toEqual(parse('--cols=80'));
    expect(parse('--record=on-failure').flags).toEqual({ record: 'on-failure' });
    expect(parse('--record', 'on-failure').flags).toEqual({ record: 'on-failure' });
    expect(parse('--record', '--read-only').flags).toEqual({ record: 'always', readOnly: 'true' });
  });

  test('values may hold an equals sign, lists add up, words stay in order', () => {
    expect(parse('a', '--env', 'A=1=2', '--env=B=', 'b', '--', '--cols')).toEqual({
      flags: { env: ['A=1=2', 'B='] },
      words: ['a', 'b', '--cols'],
    });
  });

  test.each([
    [['--col', '80'], 'Unknown option --col. Did you mean --cols?'],
    [['--nonsense'], 'Unknown option --nonsense.'],
    [['--cell'], 'Unknown option --cell.'],
    [['-x'], 'Unknown option -x.'],
    [['--cols'], '--cols needs a value.'],
    [['--cols', '--read-only'], '--cols needs a value.'],
    [['--cols=1', '--cols=2'], '--cols is given twice.'],
  ])('%j is refused by name', (argv, message) => {
    expect(() => parse(...argv)).toThrow(new UsageError(message));
  });
});
