import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  expect(desk.violations).toEqual([]);
  await desk[Symbol.asyncDispose]();
});

const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();

test('finds in what the page has, steps through it, marks it on the scroll bar, and asks the server for the rest', async () => {
  const id = await desk.open('logs');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await desk.run(id, 'for i in $(seq 1 400); do echo "row $i ok"; done; echo "row 401 FAILED"; echo "Row failed"');
  await expect.poll(() => screen(page)).toContain('Row failed');
  await page.keyboard.press('Control+Shift+f');
  const bar = page.getByRole('search');
  const field = bar.getByLabel('Find', { exact: true });
  await expect.poll(() => field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  await field.fill('row 4 ok');
  await expect.poll(() => bar.innerText()).toContain('1 of 1');
  await expect.poll(() => screen(page)).toContain('row 4 ok');
  expect(await page.locator('.ticks i').count()).toBe(1);
  await field.fill('failed');
  await expect.poll(() => bar.innerText()).toMatch(/of 3|of 4/);
  await bar.getByRole('button', { name: 'Match case' }).click();
  await field.fill('FAILED');
  // In the command and in its output; the last line has it in small letters.
  await expect.poll(() => bar.innerText()).toMatch(/[12] of 2/);
  await bar.getByRole('button', { name: 'Regular expression' }).click();
  await field.fill('^row (1|2|3) ok$');
  await expect.poll(() => bar.innerText()).toContain('3 of 3');
  await page.keyboard.press('Enter');
  await expect.poll(() => bar.innerText()).toContain('2 of 3');
  await field.fill('(');
  await expect.poll(() => bar.innerText()).toContain('This is no regular expression.');
  await field.fill('^row \\d+ ok$');
  await expect.poll(() => bar.innerText()).toContain('of 400');
  await bar.getByRole('button', { name: 'Search everything kept' }).click();
  await expect.poll(() => bar.innerText()).toMatch(/400 in everything kept; the first \d+/);
  await page.keyboard.press('Escape');
  await bar.waitFor({ state: 'detached' });
  // The keys go to the program again, once the few seconds of the agent are over.
  await expect.poll(() => page.locator('footer').innerText()).toContain('Type to use it');
  await page.keyboard.type('echo $((50 + 5))again\n');
  await expect.poll(() => screen(page)).toContain('55again');
});

test('10,000 lines are searched in less than 100 ms', async () => {
  const id = await desk.open('long');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await desk.run(id, 'seq -f "lorem ipsum dolor sit amet consectetur adipiscing elit %g" 1 10500; echo do""ne');
  await expect.poll(() => screen(page)).toContain('done');
  await page.keyboard.press('Control+Shift+f');
  const field = page.getByRole('search').getByLabel('Find', { exact: true });
  await field.fill('elit 9');
  // The best of several: other programs of this machine are not what is measured.
  const took = await field.evaluate((one: { value: string; dispatchEvent(event: Event): boolean }) => {
    const times = ['elit 9', 'ipsum', 'sit amet', 'elit 8', 'elit 99'].map((wanted) => {
      one.value = wanted;
      const from = performance.now();
      one.dispatchEvent(new Event('input', { bubbles: true }));
      return performance.now() - from;
    });
    return Math.min(...times);
  });
  await expect.poll(() => page.getByRole('search').innerText()).toMatch(/of 110\b/);
  expect(took).toBeLessThan(100);
});

test('scrolled up, new lines are counted and one click leads to them', async () => {
  const id = await desk.open('scrolled');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await desk.run(id, 'seq 1 300');
  await expect.poll(() => screen(page)).toContain('300');
  await page.keyboard.press('Shift+PageUp');
  await page.keyboard.press('Shift+PageUp');
  await desk.run(id, 'seq 1001 1128');
  const pill = page.getByRole('button', { name: /^↓ \d+ new lines$/ });
  await pill.waitFor();
  await expect.poll(() => pill.innerText()).toMatch(/↓ 1(29|30) new lines/);
  await pill.click();
  await expect.poll(() => screen(page)).toContain('1128');
  await pill.waitFor({ state: 'detached' });
});
