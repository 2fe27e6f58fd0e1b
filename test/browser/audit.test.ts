import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
const body = (page: Page): Promise<string> => page.locator('main').innerText();

let desk: DashboardDesk;
let terminal = '';
beforeAll(async () => {
  desk = await DashboardDesk.open();
  terminal = await desk.open('db-1');
  for (let at = 1; at <= 120; at++) await desk.send('t_nothing1', `line ${at}`);
  await desk.run(terminal, 'echo audited');
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

const rows = (page: Page) => page.locator('button.row');
const trail = (): string => {
  const folder = join(desk.home, '.fairlead', 'audit');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
};

test('says how far it is whole, lists the newest first, and shows older rows on demand', async () => {
  const page = await desk.loggedIn('/audit');
  await expect.poll(() => body(page), soon).toMatch(/Whole to #1\d\d, checked \d+ s ago/);
  await expect.poll(() => page.locator('header').innerText(), soon).toMatch(/Kept since \d+ \w+ \d{4}/);
  await expect.poll(() => rows(page).count(), soon).toBe(100);
  expect(await rows(page).nth(1).innerText()).toContain('echo audited');
  await page.getByRole('button', { name: 'Show older' }).press('Enter');
  await expect.poll(() => rows(page).count(), soon).toBeGreaterThan(121);
  const numbers = (await rows(page).locator('.number').allTextContents()).map((text) => Number(text.slice(1)));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => numbers.length - at));
  expect(await page.getByRole('button', { name: 'Show older' }).count()).toBe(0);
});

test('a row opens to its fields, hash and previous hash; the hash of a row is the previous one of the next', async () => {
  const page = await desk.loggedIn('/audit?what=terminal.send');
  await rows(page).first().waitFor();
  const hash = async (name: string): Promise<string> =>
    await page.locator('dl div', { hasText: name }).last().locator('dd').innerText();
  await rows(page).nth(0).press('Enter');
  const previous = await hash('Previous hash');
  expect(previous).toMatch(/^[0-9a-f]{64}$/);
  await rows(page).nth(0).press('Enter');
  await rows(page).nth(1).press('Enter');
  expect(
    await page
      .locator('dl div')
      .filter({ has: page.locator('dt', { hasText: /^Hash$/ }) })
      .locator('dd')
      .innerText(),
  ).toBe(previous);
});

test('search is kept in the address and by Back; what matches nothing says so', async () => {
  const page = await desk.loggedIn('/audit');
  await rows(page).first().waitFor();
  await page.getByLabel('What').fill('terminal.run');
  await page.getByLabel('What').press('Enter');
  await expect.poll(() => new URL(page.url()).search, soon).toBe('?what=terminal.run');
  await expect.poll(() => rows(page).count(), soon).toBe(1);
  await page.getByLabel('Who').fill('nobody at all');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByText('Nothing matches.').waitFor();
  await page.goBack();
  await expect.poll(() => rows(page).count(), soon).toBe(1);
  expect(await page.getByLabel('What').inputValue()).toBe('terminal.run');
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await expect.poll(() => rows(page).count(), soon).toBe(100);
  const today = new Date().toISOString().slice(0, 10);
  await page.goto(`${desk.url}/audit?day=${today}&target=${terminal}`);
  await expect.poll(() => rows(page).count(), soon).toBe(2);
});

test('new rows arrive live; a person who reads further down is not moved', async () => {
  const page = await desk.loggedIn('/audit?what=terminal.send');
  await rows(page).first().waitFor();
  await desk.send('t_live1', 'x');
  await expect.poll(() => rows(page).first().innerText(), soon).toContain('t_live1');
  await rows(page).nth(2).click();
  await desk.send('t_live2', 'x');
  await page.getByRole('button', { name: '1 new' }).waitFor();
  expect(await rows(page).first().innerText()).toContain('t_live1');
  await page.getByRole('button', { name: '1 new' }).click();
  expect(await rows(page).first().innerText()).toContain('t_live2');
});

test('exports the bytes of the trail', async () => {
  const page = await desk.loggedIn('/audit');
  await rows(page).first().waitFor();
  const before = readFileSync(trail(), 'utf8');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^fairlead-audit-\d{4}-\d{2}-\d{2}\.jsonl$/);
  expect(readFileSync(await download.path(), 'utf8')).toBe(before);
});

test.each(looks)(
  'no serious fault of accessibility, no violation of the policy: %s, %i×%i',
  async (theme, width, height) => {
    const page = await desk.loggedIn();
    await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
    await page.setViewportSize({ width, height });
    await page.goto(`${desk.url}/audit`);
    await rows(page).first().click();
    await page.getByText('Previous hash').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(desk.violations).toEqual([]);
  },
);

// Last, because it breaks the trail.
test('a trail that was tampered with is told of in red, with both rows and what to do', async () => {
  const page = await desk.loggedIn('/audit');
  await expect.poll(() => body(page), soon).toContain('Whole to #');
  const text = readFileSync(trail(), 'utf8');
  const [, number = ''] =
    /"n":(\d+),[^\n]*/.exec(text.split('\n').find((line) => line.includes('echo audited')) ?? '') ?? [];
  writeFileSync(trail(), text.replace('echo audited', 'echo nothing'));
  await page.getByRole('button', { name: 'Check now' }).click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  const said = await alert.innerText();
  expect(said).toContain(`#${number} was changed or is missing after #${Number(number) - 1}.`);
  expect(said).toContain('echo nothing');
  expect(said).toContain('What to do:');
  expect(await alert.locator('.row').count()).toBeGreaterThanOrEqual(2);
  const red = 'getComputedStyle(document.querySelector("[role=alert] strong")).color';
  expect(await page.evaluate(red)).toBe('rgb(193, 39, 47)');
  expect(await axeFaults(page)).toEqual([]);
});
