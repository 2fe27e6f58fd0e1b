import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

test('R-HUB-131: one row for each check with why and fix; what is mended shows at the next check', async () => {
  const page = await desk.loggedIn('/health');
  const rows = page.getByRole('list', { name: 'Checks' }).getByRole('listitem');
  await expect.poll(() => rows.count(), soon).toBe(11);
  expect(await rows.filter({ hasText: 'Terminals' }).first().innerText()).toContain('`true` ran on a terminal');
  for (const text of await rows.allInnerTexts()) expect(text).toContain('Why: ');
  const token = join(desk.home, '.fairlead', 'server.json');
  chmodSync(token, 0o644);
  await page.getByRole('button', { name: 'Check again' }).press('Enter');
  const files = rows.filter({ hasText: 'State and token files' });
  await expect.poll(() => files.innerText(), soon).toMatch(/Critical:[^]*mode 644[^]*Fix:\s*chmod -R go=/);
  await expect.poll(() => page.locator('header').innerText(), soon).toContain('1 critical');
  chmodSync(token, 0o600);
  await page.getByRole('button', { name: 'Check again' }).press('Enter');
  await expect.poll(() => files.innerText(), soon).toContain('Fine:');
});

test('the self-test is run on demand and leaves nothing behind', async () => {
  const page = await desk.loggedIn('/health');
  const before = await desk.terminals();
  await page.getByRole('button', { name: 'Run the self-test' }).press('Enter');
  const rows = page.getByRole('list', { name: 'Self-test' }).getByRole('listitem');
  await expect.poll(() => rows.count(), { timeout: 40_000 }).toBeGreaterThan(8);
  expect(await rows.filter({ hasText: 'exec.run_wait' }).innerText()).toMatch(/Fine:[^]*ms/);
  expect(await desk.terminals()).toBe(before);
});

test.each(looks)(
  'no serious fault of accessibility, no violation of the policy: %s, %i×%i',
  async (theme, width, height) => {
    const page = await desk.loggedIn();
    await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
    await page.setViewportSize({ width, height });
    await page.goto(`${desk.url}/health`);
    await page.getByRole('heading', { name: 'Versions' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(desk.violations).toEqual([]);
  },
);
