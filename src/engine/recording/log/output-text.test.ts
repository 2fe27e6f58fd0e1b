import { expect, test } from 'vitest';
import { OutputText, TextRoom } from './output-text.ts';

const size = { cols: 1000, rows: 24 };

async function textOf(output: string, room: TextRoom): Promise<string> {
  using text = new OutputText(size, async () => {}, room);
  await text.output(Buffer.from(output), 0);
  return await text.end(0);
}

test('output that unfolds to far more text than it has bytes has a bound, and what is left out is counted', async () => {
  const room = new TextRoom(10_000);
  // Ten bytes each; a thousand characters on the screen.
  const text = await textOf('a\x1b[998C!\r\n'.repeat(5000), room);
  expect(text.length).toBeLessThan(10_100);
  expect(text.slice(0, 1000)).toBe(`a${' '.repeat(998)}!`);
  expect(text).toMatch(/\n\[4990000 characters are left out\]$/);
  // All sections of a recording share the room.
  expect(await textOf('more\r\n', room)).toBe('[4 characters are left out]');
  expect(await textOf('one\r\n\r\ntwo\r\n', new TextRoom(6))).toBe('one\n\ntwo');
});
