import { expect, test } from 'vitest';
import { visible } from '../../../src/contract/quote.ts';
import { byteLength, countInvisible, piecesOf } from './bytes.ts';

const words = (text: string): string[] =>
  piecesOf(text).map((one) => (one.kind === 'text' ? one.text : `[${one.word}]`));

test('control bytes are chips in words, in their place', () => {
  expect(words('sudo ls\r')).toEqual(['sudo ls', '[Enter]']);
  expect(words('a\tb\x1b[A\x03\x07')).toEqual(['a', '[Tab]', 'b', '[Esc]', '[A', '[Ctrl+C]', '[\\x07]']);
  // One Enter for the two bytes of a line end of Windows.
  expect(words('a\r\nb\n')).toEqual(['a', '[Enter]', 'b', '[Enter]']);
});

test('what cannot be seen is a chip with its number, and is counted', () => {
  const text = 'ls\u202e \u200b\u{e0041}x';
  expect(words(text)).toEqual(['ls', '[U+202E]', ' ', '[U+200B]', '[U+E0041]', 'x']);
  expect(countInvisible(text)).toBe(3);
  expect(piecesOf('\u202e')[0]).toMatchObject({ spoken: 'invisible character' });
  expect(piecesOf('\r')[0]).toMatchObject({ spoken: 'Enter key' });
});

test('ten thousand equal characters are one chip, and line ends never fold', () => {
  expect(words(`a${'\u200d'.repeat(10_000)}b`)).toEqual(['a', '[U+200D ×10,000]', 'b']);
  expect(words('\n\n\n\n\n')).toHaveLength(5);
});

test('the pieces hold every character of the text, and none that visible() would escape', () => {
  for (const text of ['plain', 'a\u202eb\r\n\x00\x9f\ufff9', '\ud800x', 'é漢🙂\u200d👩']) {
    const pieces = piecesOf(text);
    const whole = pieces.map((one) => (one.kind === 'text' ? one.text : one.raw.repeat(one.times))).join('');
    expect(whole).toBe(text);
    for (const one of pieces) if (one.kind === 'text') expect(visible(one.text)).toBe(one.text);
  }
});

test('bytes are counted as they are sent', () => {
  expect(byteLength('aé漢')).toBe(6);
});
