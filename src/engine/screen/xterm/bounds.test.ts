import { expect, test } from 'vitest';
import { encode, makeScreen } from '../../../../test/support/screen.ts';
import { cpuTimer } from '../../../../test/support/clocks/cpu-timer.ts';

const finals = '@ABCDEFGHIJKLMPSTXZ`abdefghlrs'.split('');

test.each(finals)('CSI 2147483647 %s ends at once', (final) => {
  const { screen } = makeScreen({ cols: 80, rows: 24 });
  const spent = cpuTimer();
  screen.feed(encode(`x\x1b[2147483647${final}\x1b[2;2147483647${final}`));
  expect(spent()).toBeLessThan(500);
});

test('a huge count does what the largest sensible one does', () => {
  const look = (count: number, final: string): string => {
    const { screen } = makeScreen({ cols: 8, rows: 4 });
    screen.feed(encode(`one\r\ntwo\r\nthree\r\nfour\x1b[2;2H\x1b[${count}${final}x`));
    return JSON.stringify(screen.grid());
  };
  for (const final of 'LMST') expect(look(999_999_999, final)).toBe(look(4, final));
  for (const final of 'IZ') expect(look(999_999_999, final)).toBe(look(8, final));
});

test('repeating a character stops after a row of it', () => {
  const { screen } = makeScreen({ cols: 8, rows: 4 });
  screen.feed(encode('=\x1b[7b\r\n-\x1b[999999999b'));
  expect(screen.text({ scope: 'all', wrap: 'join' })).toBe('========\n---------');
});

test('a title longer than any title is not kept', () => {
  const { screen } = makeScreen();
  screen.feed(encode('\x1b]0;first\x07'));
  screen.feed(encode(`\x1b]2;${'x'.repeat(1 << 20)}\x07`));
  expect(screen.title).toBe('first');
});

test.each(['', '?'])(
  'erasing up to the end of a row splits the line there, and none that scrolled out, CSI %s1J',
  (prefix) => {
    const { screen } = makeScreen({ cols: 4, rows: 3 });
    screen.feed(encode(`${'abcd'.repeat(6)}\x1b[2;4H\x1b[${prefix}1J`));
    expect(screen.rowTexts().map(({ text, wrapped }) => [text, wrapped])).toEqual([
      ['abcd', false],
      ['abcd', true],
      ['abcd', true],
      ['', false],
      ['', false],
      ['abcd', false],
    ]);
  },
);

test.each(['', '?'])('erasing everything before the last cell erases everything, CSI %s1J', (prefix) => {
  for (const begin of ['', '\x1b[?1049h']) {
    const { screen } = makeScreen({ cols: 8, rows: 4 });
    screen.feed(encode(`${begin}one\r\ntwo\x1b[4;8H\x1b[${prefix}1Jx`));
    expect(screen.text({ scope: 'viewport', wrap: 'keep' }).trim()).toBe('x');
    expect(screen.cursor).toMatchObject({ y: 3 });
  }
});
