import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputLog } from '../../terminal/output-log.ts';
import { plainText } from '../../../lib/plain-text.ts';
import { transcribe } from '../../screen/transcript.ts';
import { countLines } from '../clip.ts';
import { Overflow } from './overflow.ts';

const size = { cols: 20, rows: 4 };
const pause = (): Promise<void> => Promise.resolve();

async function totalsOf(bytes: Uint8Array): Promise<{ lines: number; bytes: number }> {
  const { text } = plainText((await transcribe(bytes, { size, pause })).text, { separator: ' ' });
  return { lines: countLines(text), bytes: Buffer.byteLength(text) };
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }).map((count) => `line ${count}\r\n`.repeat(count)) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 900 }).map((length) => 'long'.repeat(length)) },
  fc.constantFrom(
    '\r\n',
    '\r\n\r\n\r\n',
    '   \r\n',
    '\x1b[31mred\x1b[0m\r\n',
    '\tx\r\n',
    'é…漢\r\n',
    '\rover',
    '\x1b[2Aup',
  ),
  fc.constantFrom('\x1b[2J', '\u200bzero\r\n', '\x1b[8mhidden\x1b[0m\r\n', '\x1b[?1049hfull\x1b[?1049l'),
);

describe('output that the log has no room for', () => {
  test('is counted as a reader would count all of it, wherever it is cut', async () => {
    await counts(fc.array(piece, { minLength: 1, maxLength: 30 }), 2048, 80);
  });

  test('is counted the same where whole pieces of it are plain lines', async () => {
    const line = fc.constantFrom(
      'word\r\n',
      '\r\n',
      '  \r\n',
      'a\tb\t\r\n',
      `\t${'x'.repeat(12)}\x1b[K\r\n`,
      `${'é…漢'.repeat(9)}\r\n`,
      '\x1b[1mbold\x1b[0m \r\n',
      'soft\u00adhyphen\r\n',
      'न\u093e\u093e\u093e\u093e\u093e\u093e\u093e\u093e\u093e\u093e\r\n',
    );
    const many = fc
      .tuple(fc.array(line, { minLength: 1, maxLength: 4 }), fc.integer({ min: 100, max: 1000 }))
      .map(([lines, count]) => lines.join('').repeat(count));
    await counts(fc.array(many, { minLength: 3, maxLength: 6 }), 1 << 16, 30);
  });

  async function counts(texts: fc.Arbitrary<string[]>, capacity: number, numRuns: number): Promise<void> {
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(500), async (pieces, step) => {
        const bytes = Buffer.from(pieces.join(''));
        const log = new OutputLog({ capacity, start: 7 });
        using overflow = new Overflow({ log, screen: { size } }, () => 7);
        for (let at = 0; at < bytes.length; at += step + 1) log.append(bytes.subarray(at, at + step + 1));
        if (overflow.from === undefined) {
          expect(log.start).toBe(7);
          return;
        }
        overflow.endsAt(log.end);
        const { lines, bytes: counted, head } = await overflow.count(log.end, pause);
        expect({ lines, bytes: counted }).toEqual(await totalsOf(bytes));
        expect(bytes.subarray(0, head.length)).toEqual(Buffer.from(head));
        // The same again, and the same when something else pushes the last of it out.
        log.append(Buffer.from('other output\r\n'.repeat(capacity >> 2)));
        expect(await overflow.count(7 + bytes.length, pause)).toMatchObject({ lines, bytes: counted });
      }),
      { numRuns },
    );
  }

  test('its beginning is put aside in whole lines, and only when it goes', () => {
    const log = new OutputLog({ capacity: 1 << 20 });
    using overflow = new Overflow({ log, screen: { size } }, () => 0);
    const line = Buffer.from(`${'x'.repeat(97)}\r\n`);
    for (let count = 0; count < 10_000; count++) log.append(line);
    expect(overflow.headFrom(0)).toBeUndefined();
    for (let count = 0; count < 1000; count++) log.append(line);
    const head = overflow.headFrom(0);
    expect(head?.length).toBe(Math.floor((256 << 10) / 99) * 99);
  });
});
