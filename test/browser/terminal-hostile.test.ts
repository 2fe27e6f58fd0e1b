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
/** Everything of the page but the screen. */
const around = (page: Page): Promise<string> =>
  page.evaluate(`[...document.querySelectorAll('header, aside, footer, nav')].map((one) => one.innerText).join('\\n')`);

test('HTML, direction tricks, floods and a title of a megabyte change nothing outside of the screen', async () => {
  const id = await desk.open('hostile');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await expect.poll(() => screen(page)).toMatch(/[$#]/);
  await desk.run(
    id,
    [
      `printf '\\033]0;%s\\007' "$(head -c 1000000 /dev/zero | tr '\\0' '<')"`,
      `printf '\\033]2;<img src=x onerror=alert(1)>\\u202eevil\\u202c\\007'`,
      `for i in $(seq 1 2000); do printf '\\033]52;c;aGk=\\007\\033]8;;https://a.test\\033\\\\x\\033]8;;\\033\\\\'; done`,
      `printf '<script>alert(1)</script><img src=x onerror=alert(1)> \\u202eevil\\u202c%s\\n' "$(printf '\\u200d%.0s' $(seq 1 3000))"`,
      `printf '\\033[?1049h\\033[?1003h\\033[?1049l\\033[?1003l'`,
      `echo sti""ll here`,
    ].join('; '),
  );
  await expect.poll(() => screen(page)).toContain('still here');
  expect(await page.locator('img, script:not([src])').count()).toBe(0);
  const outside = await around(page);
  expect(outside).not.toMatch(/[\u202a-\u202e\u200d]/);
  expect(outside.length).toBeLessThan(5000);
  expect(await page.locator('h1').innerText()).toBe('hostile');
  // One offer, not two thousand.
  await expect.poll(() => page.getByText('The program offers 2 characters').count()).toBe(1);
  expect(await page.title()).not.toContain('<');
});

test('a page that only looks answers no question of a program, and moves no size', async () => {
  const id = await desk.open('asked');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await page.setViewportSize({ width: 900, height: 500 });
  // Device attributes, twice: the server answers each once, the page not at all; nor does it report its focus.
  await desk.run(
    id,
    String.raw`printf '\033[c\033[c\033[?1004h'; IFS= read -rs -d '' -t 2 x; printf '\033[?1004l'; y=$(printf %s "$x" | tr -dc '\033'); echo "${'$'}{#y} ans""wers"; stty size`,
  );
  await expect.poll(() => screen(page)).toMatch(/\d+ answers/);
  expect(await screen(page)).toContain('2 answers');
  // An answer of the page would have counted as a key, and brought the bar that offers to take over.
  expect(await page.getByRole('alertdialog').count()).toBe(0);
  await expect.poll(() => screen(page)).toContain('30 120');
});
