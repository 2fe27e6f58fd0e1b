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
const body = (page: Page): Promise<string> => page.locator('body').innerText();
const key = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Keys' }).getByRole('button', { name, exact: true });

async function phone(id: string): Promise<Page> {
  const page = await desk.loggedIn();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${desk.url}/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await expect.poll(() => screen(page)).toMatch(/[$#]/);
  return page;
}

test('a line leaves when it is sent, keys of the bar go at once, Ctrl holds for one key', async () => {
  const id = await desk.open('pocket');
  const page = await phone(id);
  const line = page.getByLabel('Line to send');
  await line.fill('cat -v');
  expect(await screen(page)).not.toContain('cat -v');
  await page.getByRole('button', { name: 'Send ↵' }).click();
  await expect.poll(() => screen(page)).toContain('cat -v');
  expect(await line.inputValue()).toBe('');
  await key(page, 'Esc').click();
  await key(page, '|').click();
  await key(page, 'Arrow up').click();
  await key(page, 'Ctrl').click();
  await key(page, '/').click();
  await page.getByRole('button', { name: 'Send ↵' }).click();
  await expect.poll(() => screen(page)).toContain('^[|^[[A');
  // ^C goes by the priority lane.
  await key(page, 'Control C').click();
  await expect.poll(() => screen(page)).toContain('^C');
  await line.fill('echo $((7 * 7))pocket');
  await line.press('Enter');
  await expect.poll(() => screen(page)).toContain('49pocket');
  for (const button of await page.getByRole('group', { name: 'Keys' }).getByRole('button').all()) {
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
});

test('raw keys, with Ctrl locked by a double tap', async () => {
  const id = await desk.open('raw');
  const page = await phone(id);
  await key(page, 'Raw keys').click();
  await page.getByLabel('Line to send').waitFor({ state: 'detached' });
  await page.keyboard.type('echo $((9 * 9))raw\n');
  await expect.poll(() => screen(page)).toContain('81raw');
  await page.keyboard.type('half a line');
  await key(page, 'Ctrl').dblclick();
  await page.evaluate(`document.querySelector('.xterm-helper-textarea').focus()`);
  // Ctrl+A, Ctrl+K: to the start, and cut to the end.
  await page.keyboard.type('ak');
  await key(page, 'Ctrl').click();
  await page.evaluate(`document.querySelector('.xterm-helper-textarea').focus()`);
  await page.keyboard.type('echo $((9 + 9))left\n');
  await expect.poll(() => screen(page)).toContain('18left');
  expect(await screen(page)).not.toContain('half a line');
});

test('takes over and hands back without resizing, and shows the log', async () => {
  const id = await desk.open('shared');
  await desk.run(id, 'echo first; false');
  await desk.run(id, 'sleep 60');
  const page = await phone(id);
  await expect.poll(() => body(page)).toContain('is typing here.');
  await page.getByLabel('Line to send').fill('mine');
  await page.getByRole('button', { name: 'Send ↵' }).click();
  // It was not sent, and is not lost.
  expect(await page.getByLabel('Line to send').inputValue()).toBe('mine');
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Take over/ })
    .click();
  await page.getByRole('button', { name: 'Take over now' }).click();
  await expect.poll(() => body(page)).toMatch(/You have the keyboard\. .* waits\./);
  expect(await body(page)).toContain('120×30 · Fit');
  await key(page, 'Control C').click();
  await page.getByRole('button', { name: 'Hand back' }).first().click();
  await page
    .getByRole('form')
    .getByRole('button', { name: /^Hand back/ })
    .click();
  await expect.poll(() => body(page)).not.toContain('You have the keyboard');
  await page.getByRole('button', { name: 'Log', exact: true }).click();
  const card = page.getByRole('button', { name: /echo first; false/ });
  await expect.poll(() => card.innerText()).toContain('exit 1');
  await card.click();
  await expect.poll(() => page.getByRole('log').locator('pre').innerText()).toBe('first');
});
