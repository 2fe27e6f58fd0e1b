import { expect, test } from 'vitest';
import { bits, cellSize, createCore, parseBytes, widthOf } from './core.ts';
import { encode } from '../../../../test/support/screen.ts';

test('the emulator package still has the inside this folder relies on', () => {
  const core = createCore({ cols: 10, rows: 3 }, 5);
  let trimmed = 0;
  core.buffers.normal.lines.onTrim((count) => (trimmed += count));
  parseBytes(core, encode('\x1b[1;38;2;1;2;3;48;5;7ma漢\x1b[m\x1b]2;t\x07'));
  const { normal, alt, active } = core.buffers;
  expect(active).toBe(normal);
  expect(alt.lines.length).toBe(0);
  expect([normal.x, normal.y, normal.ybase, normal.scrollTop, normal.scrollBottom]).toEqual([3, 0, 0, 0, 2]);
  const line = normal.lines.get(0);
  expect(line?.length).toBe(10);
  expect(line?._data.length).toBe(10 * cellSize);
  expect([...(line?._data.slice(0, 3) ?? [])]).toEqual([
    0x61 | (1 << bits.widthShift),
    bits.rgbMode | 0x010203 | bits.fg.bold,
    0x2000007,
  ]);
  expect((line?._data[3] ?? 0) >>> bits.widthShift).toBe(2);
  expect(core._inputHandler._windowTitle).toBe('t');
  expect(core._inputHandler._curAttrData).toMatchObject({ fg: 0, bg: 0, extended: { _ext: 0, _urlId: 0 } });
  expect(core._inputHandler._parser).toMatchObject({ currentState: 0 });
  expect(core._charsetService).toMatchObject({ glevel: 0, _charsets: [] });
  expect(core.coreMouseService).toMatchObject({ activeProtocol: 'NONE', activeEncoding: 'DEFAULT' });
  expect(core.coreService.decPrivateModes.wraparound).toBe(true);
  parseBytes(core, encode('\n'.repeat(20)));
  expect(trimmed).toBe(13);
  expect(normal.lines.length).toBe(8);
  parseBytes(core, encode('\x1b['));
  expect(core._inputHandler._parser.currentState).not.toBe(0);
});

test('widths are those of Unicode 11', () => {
  const core = createCore({ cols: 10, rows: 3 }, 0);
  expect(['a', 'é', '漢', '\u0301', '🙂'].map((c) => widthOf(core, c.codePointAt(0) ?? 0))).toEqual([1, 1, 2, 0, 2]);
});
