import fc from 'fast-check';
import { expect, test } from 'vitest';
import { penChange, toAnsi } from './ansi.ts';
import { type Cell, defaultColor, type Grid, type Line, style, trueColor, underlineShift } from './grid.ts';
import { encode, makeScreen } from '../../../test/support/screen.ts';

const cols = 12;
const color = fc.oneof(
  fc.constant(defaultColor),
  fc.nat(255),
  fc.nat(0xffffff).map((rgb) => trueColor + rgb),
);
const cell = fc.record({
  text: fc.constantFrom('', ' ', 'a', 'é', '漢', '🙂', 'e\u0301'),
  fg: color,
  bg: color,
  style: fc.oneof(fc.constant(0), fc.nat(511)),
  kind: fc.constantFrom(0, 2, 3, 4, 5),
  // All white is how the emulator says that there is none.
  underlineColor: color.filter((one) => one !== trueColor + 0xffffff),
});

/** Only what is underlined has a kind and a colour of it. */
const underlined = (bits: number, kind: number, underlineColor: number): Pick<Cell, 'style' | 'underlineColor'> => {
  if ((bits & style.underline) === 0) return { style: bits };
  const kept = underlineColor === defaultColor ? {} : { underlineColor };
  return { style: bits | (kind << underlineShift), ...kept };
};

/** Cells side by side, wide ones with their second half, cut or filled up to the width. */
const line: fc.Arbitrary<Line> = fc.array(cell, { maxLength: cols }).map((given) => {
  const cells: Cell[] = [];
  for (const { text, fg, bg, style: bits, kind, underlineColor } of given) {
    const look = { fg, bg, ...underlined(bits, kind, underlineColor) };
    const wide = text === '漢' || text === '🙂';
    if (cells.length + (wide ? 2 : 1) > cols) break;
    cells.push({ text, width: wide ? 2 : 1, ...look });
    if (wide) cells.push({ text: '', width: 0, ...look });
  }
  while (cells.length < cols) cells.push({ text: '', width: 1, fg: defaultColor, bg: defaultColor, style: 0 });
  return { cells, wrapped: false };
});

const seen = (grid: Grid) => grid.lines.map(({ cells }) => cells.map((c) => (c.text === ' ' ? { ...c, text: '' } : c)));

test('R-TERM-061: fed to an emulator of the same size it reproduces the cells', () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 4, maxLength: 4 }), (lines) => {
      const grid: Grid = { cols, rows: 4, lines, cursor: { x: 0, y: 0, visible: true, shape: 'block' } };
      const { screen } = makeScreen({ cols, rows: 4 });
      screen.feed(encode(toAnsi(grid)));
      expect(seen(screen.grid())).toEqual(seen(grid));
    }),
    { numRuns: 200 },
  );
});

test('R-TERM-061: minimal changes, reset at line end, nothing extra after a wide character, trailing blanks dropped', () => {
  const { screen } = makeScreen();
  screen.feed(encode('\x1b[1;31mab\x1b[22mc\x1b[0m d\x1b[38;5;99m漢x\x1b[48;2;1;2;3m \x1b[0m   \r\nplain  \r\n'));
  expect(toAnsi(screen.grid())).toBe('\x1b[1;31mab\x1b[22mc\x1b[0m d\x1b[38;5;99m漢x\x1b[48;2;1;2;3m \x1b[0m\r\nplain');
});

test('clearing bold keeps dim', () => {
  expect(penChange({ fg: -1, bg: -1, style: 3 }, { fg: -1, bg: -1, style: 2 })).toBe('\x1b[22;2m');
});

test('R-TERM-061: kinds and colours of underlines', () => {
  const { screen } = makeScreen();
  screen.feed(encode('\x1b[4:3;58;5;196ma\x1b[4mb\x1b[21;59mc\x1b[4:5;58:2::1:2:3md\x1b[24me\x1b[0mf'));
  expect(toAnsi(screen.grid())).toBe('\x1b[4:3;58:5:196ma\x1b[4mb\x1b[4:2;59mc\x1b[4:5;58:2::1:2:3md\x1b[0mef');
});
