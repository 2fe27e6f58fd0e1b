import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();
/** The words of each stripe on the screen, top to bottom. */
const stripes = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.typed-mark')]
    .filter((one) => one.style.display !== 'none')
    .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
    .map((one) => (one.classList.contains('agent') ? 'agent: ' : one.classList.contains('you') ? 'you: ' : 'other: ') + one.ariaLabel)`);
const at = String.raw` · \d\d:\d\d:\d\d$`;

test('R-HUB-083: stripes tell who typed, live and after a reload; a secret has eight dots whatever its length', async () => {
  const id = await desk.open('who typed');
  await desk.run(id, 'echo from-the-agent');
  const page = await desk.loggedIn(`/t/${id}`);
  await expect.poll(() => screen(page), soon).toContain('from-the-agent');
  await expect.poll(() => stripes(page), soon).toEqual([expect.stringMatching(new RegExp(`^agent: .+${at}`))]);
  await page.waitForTimeout(5200);
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('read -s -p "Secret: " x; echo; echo $((6 * 7))mine');
  await page.keyboard.press('Enter');
  await expect.poll(() => screen(page), soon).toContain('Secret:');
  // The card that asks for it has the focus; the person types into the terminal itself.
  await page.locator('input[type=password]').waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('abc');
  await page.keyboard.press('Enter');
  await expect.poll(() => screen(page), soon).toContain('42mine');
  const all = [
    expect.stringMatching(new RegExp(`^agent: .+${at}`)) as string,
    expect.stringMatching(new RegExp(`^you: You${at}`)) as string,
    expect.stringMatching(new RegExp(`^you: You, hidden ••••••••${at}`)) as string,
  ];
  await expect.poll(() => stripes(page), soon).toEqual(all);
  await page.reload();
  await expect.poll(() => screen(page), soon).toContain('42mine');
  await expect.poll(() => stripes(page), soon).toEqual(all);
  // The name stands at the end of its row, where there is room.
  const name = page.locator('.typed-name').filter({ hasText: 'You, hidden' });
  await expect.poll(() => name.isVisible(), soon).toBe(true);
  // A stripe is left of the first column, in sight.
  const box = await page.evaluate<{ stripe: number; column: number; place: number }>(`(() => {
    const mark = document.querySelector('.typed-mark').getBoundingClientRect();
    const place = document.querySelector('main.screen').getBoundingClientRect();
    const before = getComputedStyle(document.querySelector('.typed-mark'), '::before');
    return { stripe: mark.left + parseFloat(before.left), column: mark.left, place: place.left };
  })()`);
  expect(box.stripe).toBeLessThan(box.column - 3);
  expect(box.stripe).toBeGreaterThanOrEqual(box.place);
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/typed.png` });
  expect(desk.violations).toEqual([]);
}, 90_000);

test('older rows stand above the screen with their colours: thousands of them, and none of them twice', async () => {
  const id = await desk.open('long');
  await desk.run(id, 'for i in $(seq 1 6000); do printf "\\033[32mline\\033[0m %s\\n" $i; done; echo fin""ished');
  const page = await desk.loggedIn();
  await page.getByRole('link', { name: /^long.*Done/ }).waitFor();
  await page.goto(`${desk.url}/t/${id}`);
  await expect.poll(() => screen(page), soon).toContain('finished');
  // Looking at the newest rows was not disturbed; the first can be scrolled to.
  expect(await screen(page)).toContain('finished');
  await page.mouse.move(500, 400);
  const older = async (): Promise<boolean> => {
    await page.mouse.wheel(0, -100_000);
    return !(await screen(page)).includes('line 6000\n');
  };
  await expect.poll(older, soon).toBe(true);
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Control+Shift+F');
  await page.keyboard.type('line ');
  await expect.poll(() => page.locator('body').innerText(), soon).toMatch(/\d+ of 6000\b/);
  // From the newest match on to the first.
  const first = async (): Promise<string> => {
    await page.keyboard.press('Shift+Enter');
    return await screen(page);
  };
  await expect.poll(first, soon).toContain('line 2\n');
  expect(await page.locator('.xterm-rows .xterm-fg-2').count()).toBeGreaterThan(5);
  expect(desk.violations).toEqual([]);
}, 90_000);

test('R-HUB-083: the rail marks the block in sight while the person scrolls; names can be hidden', async () => {
  const id = await desk.open('in sight');
  await desk.run(id, 'seq 1 200');
  await desk.run(id, 'seq 201 400');
  const page = await desk.loggedIn(`/t/${id}`);
  await expect.poll(() => screen(page), soon).toContain('400');
  const marked = (): Promise<string[]> => page.locator('#blocks .row.visible .command').allInnerTexts();
  await expect.poll(marked, soon).toEqual(['seq 201 400']);
  await page.mouse.move(500, 400);
  const atTop = async (): Promise<string[]> => {
    await page.mouse.wheel(0, -100_000);
    return await marked();
  };
  await expect.poll(atTop, soon).toEqual(['seq 1 200']);
  await page.mouse.wheel(0, 100_000);
  await expect.poll(marked, soon).toEqual(['seq 201 400']);

  const looks = (): Promise<string[]> =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('.typed-mark')].map((one) => getComputedStyle(one).visibility)`,
    );
  const choose = async (words: string): Promise<void> => {
    await page.getByRole('button', { name: 'More about this terminal' }).click();
    await page.getByRole('menuitem', { name: words }).click();
  };
  await desk.run(id, ': one more');
  await expect.poll(async () => (await looks()).includes('visible'), soon).toBe(true);
  await choose('Hide names');
  await expect.poll(async () => new Set(await looks()), soon).toEqual(new Set(['hidden']));
  await choose('Show names');
  await expect.poll(async () => (await looks()).includes('visible'), soon).toBe(true);
  expect(desk.violations).toEqual([]);
}, 90_000);
