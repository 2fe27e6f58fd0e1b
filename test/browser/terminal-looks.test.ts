import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  expect(desk.violations).toEqual([]);
  await desk[Symbol.asyncDispose]();
});

test.each(looks)('no serious fault of accessibility in any state: %s, %i×%i', async (theme, width, height) => {
  const id = await desk.open('looks');
  await desk.run(id, 'false');
  await desk.run(id, 'sleep 120');
  const page = await desk.loggedIn();
  await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
  await page.setViewportSize({ width, height });
  await page.goto(`${desk.url}/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  const look = async (state: string): Promise<void> => expect(await axeFaults(page), state).toEqual([]);
  const isPhone = width < 760;
  await expect.poll(() => page.locator('body').innerText()).toContain(isPhone ? 'is typing here.' : 'Watching');
  if (isPhone) await page.getByLabel('Line to send').press('Enter');
  else await page.keyboard.type('x');
  await page.getByRole('alertdialog').waitFor();
  await look('the bar');
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Take over/ })
    .click();
  await page.getByRole('button', { name: 'Take over now' }).waitFor();
  await look('a command runs');
  await page.getByRole('button', { name: 'Take over now' }).click();
  await page.getByText('You have the keyboard.').waitFor();
  await page.getByRole('button', { name: 'Hand back' }).first().click();
  await page.getByRole('form').waitFor();
  await look('hand back');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'More about this terminal' }).click();
  await page.getByRole('menu').waitFor();
  await look('the menu');
  await page.getByRole('menuitem', { name: 'Find' }).click();
  await page.getByRole('search').getByLabel('Find', { exact: true }).fill('sleep');
  await look('finding');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'More about this terminal' }).click();
  await page.getByRole('menuitem', { name: 'Read as text' }).click();
  await page.getByRole('log').getByRole('heading').first().waitFor();
  await look('reading');
  if (isPhone) {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await page.getByRole('button', { name: /^false/ }).waitFor();
    await look('the log');
  } else {
    await page.getByRole('tab', { name: 'Details' }).click();
    await look('details');
    await page.getByRole('tab', { name: 'Calls' }).click();
    await look('calls');
  }
});
