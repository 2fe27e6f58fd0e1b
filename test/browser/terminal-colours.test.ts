import { expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

test('cells have the colours their program gave them, corrected where they could not be read, without a violation of the policy', async () => {
  await using desk = await DashboardDesk.open();
  const id = await desk.open('colours');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await desk.run(id, `printf '\\033[38;2;18;200;99m%s\\033[0m \\033[38;2;31;31;47m%s\\033[0m\\n' tr""ue fa""int`);
  const colorOf = (word: string): Promise<string | undefined> =>
    page.evaluate(
      `[...document.querySelectorAll('.xterm-rows span')].filter((one) => one.textContent === '${word}').map((one) => getComputedStyle(one).color).at(-1)`,
    );
  await expect.poll(() => colorOf('true')).toBe('rgb(18, 200, 99)');
  // Nearly the colour of the ground: terminals make it readable.
  expect(await colorOf('faint')).toMatch(/^rgb\((?!31, 31, 47)/);
  expect(desk.violations).toEqual([]);
});
