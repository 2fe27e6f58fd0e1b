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

const line = (page: Page) => page.getByRole('status').filter({ hasText: 'Everything is paused' });
const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();

test('everything pauses on the first click; held calls are shown, and run once when they are resumed (R-HUB-077, R-HUB-078)', async () => {
  const id = await desk.open('paused');
  const page = await desk.loggedIn();
  await page.getByRole('button', { name: 'Pause everything' }).click();
  await line(page).waitFor();
  await desk.send(id, 'echo held-$((40+1))');
  await desk.send(id, 'echo dropped-$((40+2))');
  await expect.poll(() => line(page).innerText(), soon).toContain('2 calls are held.');
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('heading', { name: 'Resume everything' }).waitFor();
  const boxes = page.getByRole('checkbox');
  await expect.poll(() => boxes.count(), soon).toBe(2);
  await boxes.nth(1).uncheck();
  await page.getByRole('button', { name: 'Resume and run 1' }).click();
  await line(page).waitFor({ state: 'detached' });
  await page.goto(`${desk.url}/t/${id}`);
  await expect.poll(() => screen(page), soon).toContain('held-41');
  expect((await screen(page)).match(/held-41/g)).toHaveLength(1);
  expect(await screen(page)).not.toContain('dropped-42');
  await page.goto(`${desk.url}/timeline?kind=decisions`);
  await page.getByText('You paused').first().waitFor();
  await page.getByText('You resumed').first().waitFor();
  await page
    .getByText(/^dropped/)
    .first()
    .waitFor();
});

test('by the key in a terminal, where the person still types; a running command goes on until it is stopped', async () => {
  const id = await desk.open('goes on');
  await desk.run(id, 'sleep 600');
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Control+.');
  await line(page).waitFor();
  await expect.poll(() => line(page).innerText(), soon).toMatch(/1 command that was running goes on/);
  await page.getByRole('button', { name: 'Stop 1 command…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('sleep 600').waitFor();
  // The button that changes nothing has the focus.
  expect(await page.locator(':focus').innerText()).toBe('Cancel');
  await dialog.getByRole('button', { name: 'Stop 1 command' }).click();
  await dialog.getByText(/ended|killed/).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await line(page).waitFor({ state: 'detached' });
});

test('ending all terminals needs the word', async () => {
  await desk.open('ends');
  const page = await desk.loggedIn();
  await page.getByRole('button', { name: 'Pause everything' }).click();
  await page.getByRole('button', { name: 'End all terminals…' }).click();
  const end = page.getByRole('dialog').getByRole('button', { name: /^End \d+ terminals?$/ });
  expect(await end.isDisabled()).toBe(true);
  await page.getByLabel(/to go on/).fill('end');
  await end.click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => page.getByRole('link', { name: /ends/ }).count(), soon).toBe(0);
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('button', { name: /^Resume(, drop all \d+)?$/ }).click();
  await line(page).waitFor({ state: 'detached' });
  expect(desk.violations).toEqual([]);
});

test('an agent is revoked by name, and approved again', async () => {
  const id = await desk.open('revoked');
  const page = await desk.loggedIn('/agents');
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Revoke…' }).click();
  await page.getByText('Ends this conversation. 0 held calls are dropped. Its terminals stay open.').waitFor();
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Revoke/ })
    .click();
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  expect(JSON.stringify(await desk.send(id, 'echo no'))).toContain('revoked');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  expect(JSON.stringify(await desk.send(id, 'echo yes'))).not.toContain('revoked');
});

test('the agent of a tile is paused from its menu; keys are for the tile with the focus; its line for HTTP is copied', async () => {
  const id = await desk.open('its agent');
  await desk.run(id, 'echo typed by the agent');
  const page = await desk.loggedIn();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const tile = page.getByRole('link', { name: /^its agent/ });
  const paused = page.getByRole('link', { name: /^its agent, Paused/ });
  const entry = page.getByRole('menuitem', { name: 'Pause its agent' });
  const menu = async (): Promise<void> => {
    await tile.focus();
    await page.keyboard.press('x');
    await page.getByRole('menuitem', { name: 'Copy as HTTP' }).waitFor();
  };
  await tile.waitFor();
  // The keys come after the first picture.
  await page.waitForLoadState('networkidle');
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('t');
  await menu();
  expect([new URL(page.url()).pathname, await paused.count()]).toEqual(['/', 0]);
  await page.getByRole('menuitem', { name: 'Copy as HTTP' }).click();
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()'), soon).toContain(`"session":"${id}"`);

  await menu();
  await entry.click();
  await paused.waitFor();
  await menu();
  expect(await entry.count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.goto(`${desk.url}/agents`);
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await page.goto(desk.url);
  await tile.waitFor();
  await page.waitForLoadState('networkidle');
  await menu();
  await entry.click();
  await paused.waitFor();
  expect(desk.violations).toEqual([]);
});
