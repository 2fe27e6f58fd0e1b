import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { gridOf, text, wide } from '../../support/pictures.ts';

const letters = gridOf([text('The quick brown fox 0123456789')], 30);
const scripts = gridOf([[...'漢字かな한글🚀🎉'].flatMap((character) => wide(character))], 30);

const built = (name: string): string =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'dist', name)).href);

/** Draws letters, then the other scripts, and prints the processor time of each picture in milliseconds. */
const program = `
  import { drawPng } from ${built('engine/picture/png.js')};
  const { signal } = new AbortController();
  const spent = [];
  for (const grid of ${JSON.stringify([letters, scripts])}) {
    const from = process.cpuUsage();
    await drawPng(grid, {}, signal);
    const { user, system } = process.cpuUsage(from);
    spent.push((user + system) / 1000);
  }
  console.log(JSON.stringify(spent));
`;

async function freshProcess(): Promise<{ first: number; fonts: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  const [first, fonts] = JSON.parse(stdout) as [number, number];
  return { first, fonts };
}

// On a quiet machine the first picture takes up to 100 ms, and 150 ms is the bar with all fonts. Processor time doubles on a
// busy machine, so the bar is a share of what the same process spent on the first picture.
test('the fonts for CJK, Hangul and emoji add less than half to the time of the first picture', async () => {
  const shares: number[] = [];
  while (shares.length < 3 && !shares.some((share) => share < 0.5)) {
    const { first, fonts } = await freshProcess();
    shares.push(fonts / first);
  }
  expect(Math.min(...shares)).toBeLessThan(0.5);
});
