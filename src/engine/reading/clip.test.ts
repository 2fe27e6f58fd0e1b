import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clip, countLines, headEnd, lineStart, upTo } from './clip.ts';

const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join('\n');

describe('R-HUB-102: head and tail', () => {
  test('text that fits stays whole', () => {
    expect(clip('a\nb', { maxBytes: 1024, summary: 'unused' })).toMatchObject({
      text: 'a\nb',
      clipped: false,
      totalLines: 2,
      totalBytes: 3,
      omittedLines: 0,
    });
    expect(clip('', { maxBytes: 1024 })).toMatchObject({ totalLines: 0, clipped: false });
  });

  test('a quarter of head, three of tail, whole lines, exact figures', () => {
    const text = numbered(5000);
    const result = clip(text, { maxBytes: 4096 });
    const lines = result.text.split('\n');
    const at = lines.findIndex((line) => line.startsWith('[… '));
    const head = lines.slice(0, at);
    const tail = lines.slice(at + 1);
    expect(head[0]).toBe('line 1');
    expect(tail.at(-1)).toBe('line 5000');
    expect(head.join('\n').length / tail.join('\n').length).toBeCloseTo(1 / 3, 1);
    expect(result.omittedLines).toBe(5000 - head.length - tail.length);
    expect(lines[at]).toBe(
      `[… ${result.omittedLines} lines, ${result.omittedBytes} bytes left out: lines ${head.length + 1}–${5000 - tail.length} of 5000 …]`,
    );
    expect(result).toMatchObject({ restFrom: head.length + 1, restTo: 5000 - tail.length, totalLines: 5000 });
    expect(Buffer.byteLength(text.slice(result.restStart, result.restEnd))).toBe(result.omittedBytes);
    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(result.text)).toBeGreaterThan(3800);
  });

  test('the summary stands after the marker, is cut to 2 KB, and counts', () => {
    const result = clip(numbered(5000), { maxBytes: 8192, summary: `tests: 3 failed\n${'é'.repeat(4000)}` });
    const lines = result.text.split('\n');
    const at = lines.findIndex((line) => line.startsWith('[… '));
    expect(lines[at + 1]).toBe('tests: 3 failed');
    expect(Buffer.byteLength(lines[at + 2] ?? '')).toBeLessThanOrEqual(2048);
    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(8192);
  });

  test('one line that is too long is cut within', () => {
    const result = clip('🙂'.repeat(50_000), { maxBytes: 2048 });
    expect(result.text).toMatch(/^(🙂)+\n\[… 0 lines, \d+ bytes left out: in line 1 of 1 …\]\n(🙂)+$/u);
    expect(result).toMatchObject({ omittedLines: 0, restFrom: 1, restTo: 1, totalLines: 1 });
  });

  const line = fc.oneof(
    { weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 800, maxLength: 3000 }) },
  );
  const texts = fc
    .array(line, { maxLength: 120 })
    .map((lines) => lines.map((one) => one.replaceAll('\n', '')).join('\n'));

  test('whatever the text: never over the limit, no broken character, and every byte accounted for', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1024, max: 5000 }), (text, maxBytes) => {
        const result = clip(text, { maxBytes, summary: 's'.repeat(100) });
        expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(maxBytes);
        expect(result.totalBytes).toBe(Buffer.byteLength(text));
        expect(result.totalLines).toBe(countLines(text));
        if (!result.clipped) {
          expect(result.text).toBe(text);
          return;
        }
        const left = text.slice(result.restStart, result.restEnd);
        expect(Buffer.byteLength(left)).toBe(result.omittedBytes);
        expect(result.text.isWellFormed?.() ?? true).toBe(true);
        expect(left.isWellFormed?.() ?? true).toBe(true);
        const [head = '', tail = ''] = result.text.split(/\n?\[… .* …\]\ns{100}\n/u);
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        const lines = text.split('\n');
        expect(lineStart(text, result.restFrom)).toBeLessThanOrEqual(result.restStart);
        expect(result.restTo).toBeLessThanOrEqual(lines.length);
        expect(result.omittedLines).toBeLessThanOrEqual(result.restTo - result.restFrom + 1);
      }),
      { numRuns: 200 },
    );
  });

  test('paging forward from any place gives all of it back', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 64, max: 5000 }), (text, maxBytes) => {
        let at = 0;
        let all = '';
        while (at < text.length) {
          const end = headEnd(text, at, maxBytes);
          expect(end).toBeGreaterThan(at);
          const page = text.slice(at, end);
          expect(Buffer.byteLength(page)).toBeLessThanOrEqual(maxBytes);
          all += page;
          at = end;
        }
        expect(all).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

test('text is cut between characters', () => {
  expect(upTo('aé漢🙂', 3)).toBe('aé');
  expect(upTo('aé漢🙂', 9)).toBe('aé漢');
  expect(upTo('aé漢🙂', 10)).toBe('aé漢🙂');
});
