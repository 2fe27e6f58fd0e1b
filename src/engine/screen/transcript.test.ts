import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyPiece, encode, plainPiece } from '../../../test/support/screen.ts';
import { renderText } from './render-text.ts';
import { transcribe } from './transcript.ts';

const size = { cols: 20, rows: 5 };
const read = async (output: string | Uint8Array, maxChars?: number) =>
  transcribe(typeof output === 'string' ? encode(output) : output, {
    size,
    pause: async () => {},
    ...(maxChars === undefined ? {} : { maxChars }),
  });
const textOf = async (output: string): Promise<string> => (await read(output)).text;
const filler = (count: number): string => Array.from({ length: count }, (_, i) => `row ${i}\r\n`).join('');

describe('R-HUB-100: all the text of an output', () => {
  test('wraps joined, overwrites resolved, colours gone, blank end left out', async () => {
    expect(await textOf(`${'a'.repeat(50)}\r\n10%\r\x1b[K100%\r\n\x1b[31mred\x1b[0m\r\n\r\n  \r\n`)).toBe(
      `${'a'.repeat(50)}\n100%\nred`,
    );
    expect(await textOf('')).toBe('');
    expect(await textOf('\r\n\r\n')).toBe('');
    expect(await textOf('$ ')).toBe('$ ');
  });

  test('more lines than any scrollback', async () => {
    const lines = (await textOf(`${filler(60_000)}end`)).split('\n');
    expect(lines.length).toBe(60_001);
    expect(lines[0]).toBe('row 0');
    expect(lines[59_999]).toBe('row 59999');
  });

  test('a progress region is resolved also after many lines that scrolled by', async () => {
    const text = await textOf(`${filler(3000)}a: 1\r\nb: 1\r\n\x1b[2Aa: 2\r\n\x1b[Kb: 2\r\n${filler(3000)}`);
    expect(text.split('\n').slice(2999, 3003)).toEqual(['row 2999', 'a: 2', 'b: 2', 'row 0']);
  });

  test('what scrolled out stays when the scrollback is erased or the terminal reset', async () => {
    const text = await textOf(`${filler(8)}\x1b[H\x1b[2J\x1b[3Jmiddle\r\n${filler(6)}\x1bcafter`);
    expect(text.split('\n')).toEqual(['row 0', 'row 1', 'row 2', 'row 3', 'middle', 'row 0', 'row 1', 'after']);
  });

  test('a first line that is blank, and nothing simple after it', async () => {
    const odd = 'a\x1b[?1006h\r\n'.repeat(1000);
    expect(await textOf(`\n${odd}`)).toBe(`\n${'a\n'.repeat(1000).slice(0, -1)}`);
  });

  test('hidden text is marked and counted, also among lines that scroll by', async () => {
    const sly = '\x1b[8msudo rm\x1b[0m and \x1b[31;41mred on red\x1b[0m and \x1b[30mblack\x1b[0m';
    const { text, hidden } = await read(`${filler(3000)}${sly}\r\n${filler(3000)}`);
    expect(text.split('\n')[3000]).toBe('⟦sudo rm⟧ and ⟦red on r⟧⟦ed⟧ and ⟦black⟧');
    expect(hidden).toBe('sudo rmred on redblack'.length);
  });

  test('blanks that were written stay where text is or may be hidden, as everywhere else', async () => {
    expect(await textOf(`\x1b[8mpw\x1b[0m${' '.repeat(18)}and on\r\n`)).toBe(`⟦pw⟧${' '.repeat(18)}and on`);
    expect(await textOf('\x1b[38:2::9:8:7m \x1b[0m\r\na\r\n')).toBe(' \na');
  });

  test('a cursor that was saved before many lines scrolled by is restored as in an emulator that keeps them all', async () => {
    for (const lines of [filler(1000), 'a\x1b[?1006h\r\n'.repeat(4000)]) {
      const bytes = encode(`${lines}saved\x1b7\r\n${lines}\x1b8restored`);
      expect((await read(bytes)).text).toBe(renderText(bytes, size));
    }
  });

  test('far more text than bytes: the oldest lines go, and are counted', async () => {
    const { text, droppedLines, droppedBytes } = await read('x\x1b[18C!\r\n'.repeat(5000), 20_000);
    const kept = text.split('\n');
    expect(kept.length + droppedLines).toBe(5000);
    expect(Buffer.byteLength(text) + droppedBytes).toBe(5000 * 21 - 1);
    expect(text.length).toBeLessThanOrEqual(25_000);
  });

  const output = (piece: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc
      .array(
        fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 8 },
      )
      .chain((parts) => fc.nat(150).map((times) => parts.map((part, i) => part.repeat(i % 2 ? 1 : times)).join('')));
  // Marks for hidden text and rows the scrollback lost are what the two may differ in.
  const same = (piece: fc.Arbitrary<string>) =>
    fc.asyncProperty(output(piece), async (text) => {
      const bytes = encode(text.replace(/\x1b\[3[;\d]*J|\x1bc/g, ''));
      const { text: mine, hidden } = await read(bytes);
      if (hidden === 0) expect(mine).toBe(renderText(bytes, size));
    });

  test.each([
    ['what only prints', plainPiece],
    ['whatever is printed', anyPiece.filter((piece) => !/\[\?(47|1049)/.test(piece))],
  ])('the same as an emulator with endless scrollback: %s', async (_, piece) => {
    await fc.assert(same(piece), { numRuns: 150 });
  });
});
