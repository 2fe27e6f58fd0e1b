import { describe, expect, test } from 'vitest';
import { type Cell, type Grid, style, trueColor, underlineShift } from '../screen/grid.ts';
import type { PictureOptions } from './geometry.ts';
import { drawPng } from './png.ts';
import { cell, type Decoded, decodePng, gridOf, text, wide } from '../../../test/support/pictures.ts';
import { themes } from './themes.ts';

const { signal } = new AbortController();
const blank = '#1e1e2e';
const foreground = '#cdd6f4';

async function draw(grid: Grid, options: PictureOptions = {}): Promise<Decoded> {
  const { bytes, width, height } = await drawPng(grid, options, signal);
  const picture = decodePng(bytes);
  expect([picture.width, picture.height]).toEqual([width, height]);
  return picture;
}

/** The pixels of a cell, counted by colour. */
function colorsIn(picture: Decoded, col: number, row: number, cols = 1, scale = 2): Map<string, number> {
  const counts = new Map<string, number>();
  const x1 = 16 * scale + Math.round((col + cols) * 8.4 * scale);
  for (let y = (16 + row * 17) * scale; y < (16 + (row + 1) * 17) * scale; y++) {
    for (let x = 16 * scale + Math.round(col * 8.4 * scale); x < x1; x++) {
      const color = picture.at(x, y);
      counts.set(color, (counts.get(color) ?? 0) + 1);
    }
  }
  return counts;
}

const isInked = (picture: Decoded, col: number, row: number, cols = 1): boolean =>
  [...colorsIn(picture, col, row, cols).keys()].some((color) => color !== blank);

describe('R-TERM-062 what a picture shows', () => {
  test('a background under blanks fills its cells to the pixel and no further', async () => {
    const picture = await draw(gridOf([[], [cell(''), cell('', { bg: 1 }), cell('', { bg: 1 })]], 5));
    expect([...colorsIn(picture, 1, 1, 2).keys()]).toEqual(['#f38ba8']);
    expect([...colorsIn(picture, 0, 1).keys()]).toEqual([blank]);
    expect([...colorsIn(picture, 3, 1).keys()]).toEqual([blank]);
    expect([...colorsIn(picture, 1, 0).keys()]).toEqual([blank]);
  });

  test('inverse swaps the colours, of blanks too', async () => {
    const picture = await draw(
      gridOf([[cell('', { style: style.inverse }), ...text('x', { style: style.inverse })]], 4),
    );
    expect([...colorsIn(picture, 0, 0).keys()]).toEqual([foreground]);
    expect(picture.at(32 + 18, 33)).toBe(foreground);
    expect(colorsIn(picture, 1, 0).has(blank)).toBe(true);
  });

  test('dim lies between the text and its ground', async () => {
    const picture = await draw(gridOf([[cell('█', { style: style.dim })]], 2));
    expect([...colorsIn(picture, 0, 0).keys()]).toEqual(['#7e839b']);
  });

  test('bold and italic are faces of their own', async () => {
    const faces = [0, style.bold, style.italic, style.bold | style.italic];
    const picture = await draw(gridOf([faces.map((face) => cell('R', { style: face }))], 4));
    const shapes = faces.map((_, col) => JSON.stringify([...colorsIn(picture, col, 0)]));
    expect(new Set(shapes).size).toBe(4);
    const weight = (col: number): number => colorsIn(picture, col, 0).get(foreground) ?? 0;
    expect(weight(1)).toBeGreaterThan(weight(0) * 1.5);
  });

  test.each([
    ['underline', style.underline, 15],
    ['strike', style.strike, 9],
    ['overline', style.overline, 0],
  ])('%s is one unbroken line, under blanks too', async (_name, bit, points) => {
    const picture = await draw(gridOf([Array.from({ length: 9 }, () => cell('', { style: bit }))], 9));
    for (let x = 32; x < 32 + 151; x++) expect(picture.at(x, 32 + points * 2)).toBe(foreground);
    expect(picture.at(40, 32 + points * 2 + 2)).toBe(blank);
  });

  test.each(['z\u0335', 'a\u0336', 'a\u0301\u0323'])('marks stand on their letter: %s', async (sign) => {
    const letter = sign[0] as string;
    const picture = await draw(gridOf([[cell(letter), cell(''), cell(sign), cell('')]], 12));
    const plain = await draw(gridOf([[cell(''), cell(''), cell(letter), cell('')]], 12));
    let more = 0;
    for (let y = 32; y < 32 + 34; y++) {
      for (let x = 32 + 34; x < 32 + 50; x++) {
        // Every pixel of the letter alone is there, and the mark adds some.
        if (plain.at(x, y) === foreground) expect(picture.at(x, y)).toBe(foreground);
        if (plain.at(x, y) !== picture.at(x, y)) more++;
      }
    }
    expect(more).toBeGreaterThan(4);
    for (let x = 32 + 53; x < 32 + 68; x++) for (let y = 32; y < 66; y++) expect(picture.at(x, y)).toBe(blank);
  });

  test('an emoji of nothing but black has the colour of the text, unless it means black', async () => {
    const picture = await draw(gridOf([[cell('✔\ufe0f', { fg: 2 }), cell(''), ...wide('⚫')]], 6));
    expect(colorsIn(picture, 0, 0).has('#a6e3a1')).toBe(true);
    expect(colorsIn(picture, 2, 0, 2).has(foreground)).toBe(false);
    expect(isInked(picture, 2, 0, 2)).toBe(true);
  });

  test('kinds of underlines are told apart, and go on from cell to cell', async () => {
    const drawn = async (kind: number): Promise<string[]> => {
      const bits = style.underline | (kind << underlineShift);
      const picture = await draw(gridOf([Array.from({ length: 20 }, () => cell('', { style: bits }))], 20), {
        scale: 1,
      });
      const row = (y: number): string =>
        Array.from({ length: 168 }, (_, x) => (picture.at(16 + x, y) === blank ? ' ' : '#')).join('');
      return Array.from({ length: 17 }, (_, y) => row(16 + y)).filter((line) => line.trim() !== '');
    };
    expect(await drawn(0)).toEqual(['#'.repeat(168)]);
    expect(await drawn(2)).toEqual(['#'.repeat(168), '#'.repeat(168)]);
    expect(await drawn(4)).toEqual(['# '.repeat(84)]);
    expect(await drawn(5)).toEqual(['####  '.repeat(28)]);
    const wave = await drawn(3);
    expect(wave).toHaveLength(3);
    for (const line of wave) expect(line.slice(0, 162)).toBe(line.slice(0, 6).repeat(27));
    // Every column has one pixel of the wave.
    for (let x = 0; x < 168; x++) expect(wave.filter((line) => line[x] === '#')).toHaveLength(1);
  });

  test('an underline has its own colour, on any ground', async () => {
    const under = { ...cell('', { bg: 4, style: style.underline }), underlineColor: trueColor + 0xff0000 };
    const picture = await draw(gridOf([[under, cell('', { style: style.underline })]], 4));
    expect([...colorsIn(picture, 0, 0).keys()].toSorted()).toEqual(['#89b4fa', '#ff0000']);
    expect([...colorsIn(picture, 1, 0).keys()].toSorted()).toEqual([blank, foreground]);
  });

  test('invisible text leaves only its ground', async () => {
    const picture = await draw(gridOf([text('secret', { style: style.invisible })], 6));
    expect([...colorsIn(picture, 0, 0, 6).keys()]).toEqual([blank]);
  });

  test('a wide character covers its two cells and nothing after them', async () => {
    const picture = await draw(
      gridOf(
        [
          [...wide('😀'), cell('')],
          [...wide('漢'), cell('')],
        ],
        4,
      ),
    );
    for (const row of [0, 1]) {
      expect(isInked(picture, 0, row)).toBe(true);
      expect(isInked(picture, 1, row)).toBe(true);
      expect(isInked(picture, 2, row)).toBe(false);
    }
  });

  test('an emoji has colours of its own', async () => {
    const picture = await draw(gridOf([wide('✅')], 2));
    const green = [...colorsIn(picture, 0, 0, 2).keys()].some((color) => /^#(7[0-9a-f])(b[0-9a-f])/.test(color));
    expect(green).toBe(true);
  });

  test('true colours and the 256 of the palette are exact', async () => {
    const bgs = [trueColor + 0x123456, 16 + 36 * 5 + 6 * 2 + 1, 232, 255];
    const picture = await draw(gridOf([bgs.map((bg) => cell('', { bg }))], 4));
    const found = bgs.map((_, col) => [...colorsIn(picture, col, 0).keys()]);
    expect(found).toEqual([['#123456'], ['#ff875f'], ['#080808'], ['#eeeeee']]);
  });

  test('a screen of more than 256 colours keeps every one', async () => {
    const rows = [0, 1, 2, 3].map((row) =>
      Array.from({ length: 100 }, (_, col) =>
        cell('x', { bg: trueColor + row * 4096 + col * 16, fg: trueColor + col }),
      ),
    );
    const picture = await draw(gridOf(rows, 100), { scale: 1 });
    for (const col of [0, 50, 99]) {
      const expected = `#${(3 * 4096 + col * 16).toString(16).padStart(6, '0')}`;
      expect(picture.at(16 + Math.round(col * 8.4), 16 + 3 * 17)).toBe(expected);
    }
  });
});

describe('R-TERM-062 the cursor', () => {
  const grid = (cursor: Partial<Grid['cursor']>): Grid =>
    gridOf([[], text('abc')], 6, { x: 4, y: 1, visible: true, ...cursor });
  const cursorColor = '#f5e0dc';

  test('a block fills its cell', async () => {
    const picture = await draw(grid({}));
    expect([...colorsIn(picture, 4, 1).keys()]).toEqual([cursorColor]);
    expect([...colorsIn(picture, 5, 1).keys()]).toEqual([blank]);
  });

  test('a block shows the character under it in the ground colour, two cells for a wide one', async () => {
    const letter = colorsIn(await draw(grid({ x: 1 })), 1, 1);
    expect(letter.has(cursorColor) && letter.has(blank)).toBe(true);
    const two = gridOf([wide('漢')], 4, { x: 1, visible: true });
    const picture = await draw(two);
    expect([picture.at(33, 33), picture.at(32 + 32, 33), picture.at(32 + 36, 33)]).toEqual([
      cursorColor,
      cursorColor,
      blank,
    ]);
  });

  test('a bar stands left, an underline lies below', async () => {
    const x = 32 + 67;
    const y = 32 + 34;
    const bar = await draw(grid({ shape: 'bar' }));
    expect([bar.at(x, y), bar.at(x + 3, y + 33), bar.at(x + 4, y)]).toEqual([cursorColor, cursorColor, blank]);
    const line = await draw(grid({ shape: 'underline' }));
    expect([line.at(x, y + 33), line.at(x + 16, y + 30), line.at(x, y + 29)]).toEqual([
      cursorColor,
      cursorColor,
      blank,
    ]);
  });

  test('it is drawn only when visible, and on the last column when it waits behind it', async () => {
    expect([...colorsIn(await draw(grid({ visible: false })), 4, 1).keys()]).toEqual([blank]);
    expect([...colorsIn(await draw(grid({ x: 6 })), 5, 1).keys()]).toEqual([cursorColor]);
  });
});

describe('R-RPC-120 box drawing joins', () => {
  test.each([1, 2, 3, 4])('lines are unbroken across cells and rows at scale %i', async (scale) => {
    const rows = [text('┌────┬────┐'), text('│    │    │'), text('├────┼────┤'), text('╰────┴────╯')];
    const picture = await draw(gridOf(rows, 11), { scale });
    const middle = (extent: number): number => (extent - scale) >> 1;
    const x = (col: number): number => 16 * scale + Math.round(col * 8.4 * scale);
    const y = (row: number): number => 16 * scale + row * 17 * scale + middle(17 * scale);
    const columnAt = (col: number): number => x(col) + middle(x(col + 1) - x(col));
    for (let at = columnAt(0); at < columnAt(10); at++) {
      expect(picture.at(at, y(0))).toBe(foreground);
      expect(picture.at(at, y(2))).toBe(foreground);
    }
    for (const col of [0, 5, 10]) {
      for (let at = y(0); at <= y(2); at++) expect(picture.at(columnAt(col), at)).toBe(foreground);
    }
    expect(picture.at(columnAt(0), y(3))).not.toBe(foreground);
    expect(picture.at(columnAt(5), y(0) - 1)).toBe(blank);
  });

  test.each([1, 2, 3, 4])('full blocks leave no gap at scale %i', async (scale) => {
    const picture = await draw(gridOf([text('█████████'), text('▀▄▌▐▛▜▙▟█')], 9), { scale });
    const right = 16 * scale + Math.round(9 * 8.4 * scale);
    for (let x = 16 * scale; x < right; x++) expect(picture.at(x, 16 * scale + 16 * scale)).toBe(foreground);
    expect(picture.at(right, 20 * scale)).toBe(blank);
    expect(picture.at(16 * scale, (16 + 17) * scale)).toBe(foreground);
    expect(picture.at(16 * scale, (16 + 33) * scale)).toBe(blank);
  });

  test('every box, block, braille and powerline character draws something in its cell only', async () => {
    const codes = [
      ...Array.from({ length: 0xa0 }, (_, at) => 0x2500 + at),
      ...Array.from({ length: 0xff }, (_, at) => 0x2801 + at),
      ...Array.from({ length: 0x3c }, (_, at) => 0x1fb00 + at),
      0xe0b0,
      0xe0b1,
      0xe0b2,
      0xe0b3,
    ];
    const row = codes.flatMap((code) => [cell(String.fromCodePoint(code)), cell('')]);
    for (let from = 0; from < row.length; from += 100) {
      const picture = await draw(gridOf([[], row.slice(from, from + 100), []], 100), { scale: 1 });
      for (let col = 0; col < Math.min(100, row.length - from); col++) {
        const inked = [...colorsIn(picture, col, 1, 1, 1).keys()].some((color) => color !== blank);
        expect([(codes[(from + col) >> 1] ?? 0).toString(16), inked]).toEqual([
          (codes[(from + col) >> 1] ?? 0).toString(16),
          col % 2 === 0,
        ]);
      }
    }
  });
});

describe('R-TERM-063 size and options', () => {
  test('cells are 8.4 × 17 points with 16 around, and column 119 is exactly where it belongs', async () => {
    const row: Cell[] = [...text('m'.repeat(119)), cell('│')];
    for (const scale of [1, 2, 3]) {
      const picture = await draw(gridOf([row], 120), { scale });
      expect([picture.width, picture.height]).toEqual([1008 * scale + 32 * scale, (17 + 32) * scale]);
      const from = 16 * scale + Math.round(119 * 8.4 * scale);
      const line = from + ((16 * scale + 1008 * scale - from - scale) >> 1);
      expect(picture.at(line, 20 * scale)).toBe(foreground);
      expect(picture.at(line - 1, 20 * scale)).toBe(blank);
      expect(picture.at(line + scale, 20 * scale)).toBe(blank);
    }
  });

  test('letters do not drift: the same letter in columns 0 and 115 has the same pixels', async () => {
    const picture = await draw(gridOf([text('g'.repeat(120))], 120));
    const pixels = (col: number): string[] => {
      const x0 = 32 + Math.round(col * 16.8);
      return Array.from({ length: 17 * 34 }, (_, at) => picture.at(x0 + (at % 17), 32 + Math.floor(at / 17)));
    };
    expect(pixels(115)).toEqual(pixels(0));
  });

  test('chrome adds a bar of 44 with three buttons and round, clear corners', async () => {
    const picture = await draw(gridOf([text('x')], 20), { chrome: true });
    expect(picture.height).toBe((44 + 17 + 16) * 2);
    expect(picture.at(0, 0)).toMatch(/00$/);
    expect(picture.at(picture.width - 1, picture.height - 1)).toMatch(/^#.{6}00$/);
    expect(picture.at(20, 0)).toBe(blank);
    expect([44, 84, 124].map((x) => picture.at(x, 44))).toEqual(['#ff5f57', '#febc2e', '#28c840']);
  });

  test('a title stands in the middle of the bar, and never on the buttons', async () => {
    const options = { chrome: true, scale: 1, title: 'x'.repeat(300) };
    const [titled, bare] = await Promise.all(
      [options, { ...options, title: '' }].map((each) => draw(gridOf([[]], 60), each)),
    );
    const inked = (x: number): boolean => {
      for (let y = 8; y < 36; y++) if (titled?.at(x, y) !== bare?.at(x, y)) return true;
      return false;
    };
    const columns = Array.from({ length: titled?.width ?? 0 }, (_, x) => x).filter(inked);
    expect(columns[0]).toBeGreaterThanOrEqual(76);
    expect(Math.abs((columns[0] ?? 0) + (columns.at(-1) ?? 0) + 1 - (titled?.width ?? 0))).toBeLessThanOrEqual(4);
  });

  test.each(themes.map((theme) => [theme.name, theme.background]))(
    'theme %s stands on %s',
    async (theme, background) => {
      const picture = await draw(gridOf([text('x')], 3), { theme });
      expect(picture.at(1, 1)).toBe(background);
    },
  );

  test('a font that is not there leaves the one that ships with the product', async () => {
    const grid = gridOf([text('plain text é')], 14);
    const [shipped, asked] = await Promise.all(
      [{}, { fontFamily: 'No Such Font, Nor This' }].map((options) => drawPng(grid, options, signal)),
    );
    expect(Buffer.compare(shipped?.bytes ?? Buffer.of(1), asked?.bytes ?? Buffer.of(2))).toBe(0);
  });

  test('rows and columns can be cut out', async () => {
    const grid = gridOf([text('a'), [], [cell(''), cell('', { bg: 2 })]], 4);
    const picture = await draw(grid, { fromRow: 2, rowCount: 9, fromCol: 1, colCount: 1 });
    expect([picture.width, picture.height]).toEqual([17 + 64, 34 + 64]);
    expect(picture.at(32, 32)).toBe('#a6e3a1');
  });

  test('too many pixels is too_large and says what to reduce', async () => {
    await expect(drawPng(gridOf([[]], 300), { scale: 2 }, signal)).rejects.toMatchObject({
      code: 'too_large',
      hint: 'Use scale 1.',
    });
    await expect(drawPng(gridOf([[]], 473), { scale: 4 }, signal)).rejects.toMatchObject({
      hint: 'Make the terminal at most 472 columns wide; then use scale 1 and ask for at most 586 rows (fromRow, rowCount).',
    });
    await drawPng(gridOf([[]], 472), { scale: 1 }, signal);
    const tall = gridOf(
      Array.from({ length: 600 }, () => []),
      10,
    );
    await expect(drawPng(tall, { scale: 1 }, signal)).rejects.toMatchObject({
      code: 'too_large',
      hint: 'Use scale 1 and ask for at most 586 rows (fromRow, rowCount), or make the terminal smaller.',
    });
    await drawPng(tall, { scale: 1, rowCount: 586 }, signal);
  });

  test.each([{ scale: 0 }, { scale: 1.5 }, { scale: 5 }, { fontFamily: 'x"; y' }, { fromRow: 7 }, { rowCount: 0 }])(
    '%j is refused',
    async (options) => {
      await expect(drawPng(gridOf([[]], 3), options, signal)).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );
});

describe('R-TERM-064, R-TERM-065 whatever the cells hold', () => {
  test('markup, control characters, broken and unknown characters are drawn as text or boxes', async () => {
    const odd = [
      '\u0000',
      '\u001b',
      '\u0007',
      '\u009b',
      '\ud800',
      '\udfff',
      '\u{10fffe}',
      '\ue123',
      '\u202e',
      '\ufeff',
    ];
    const grid = gridOf([text('<script>alert("x")</script> &amp;'), odd.map((each) => cell(each))], 40);
    const picture = await draw(grid);
    for (let col = 0; col < 7; col++) expect(isInked(picture, col, 0)).toBe(true);
    for (const [col, each] of odd.entries()) {
      if (each !== '\u202e' && each !== '\ufeff') expect([col, isInked(picture, col, 1)]).toEqual([col, true]);
    }
  });

  test('a grapheme of a thousand marks stays in its row', async () => {
    const picture = await draw(gridOf([[], [cell(`a${'\u0301'.repeat(1000)}`)], []], 3));
    expect(isInked(picture, 0, 1)).toBe(true);
    expect(isInked(picture, 0, 0, 3)).toBe(false);
    expect(isInked(picture, 0, 2, 3)).toBe(false);
  });

  test('an aborted call draws nothing', async () => {
    await expect(drawPng(gridOf([[]], 3), {}, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('R-RPC-120 the same grid gives the same bytes, whatever was drawn before', async () => {
    const grid = gridOf([text('stable 123 ', { fg: 3 }), [...wide('🚀'), ...text('é')]], 12);
    const first = await drawPng(grid, { chrome: true }, signal);
    await drawPng(gridOf([text('something else', { fg: 5, bg: 2 })], 20), { chrome: true }, signal);
    const second = await drawPng(grid, { chrome: true }, signal);
    expect(Buffer.compare(first.bytes, second.bytes)).toBe(0);
  });
});
