import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
const body = (page: Page): Promise<string> => page.locator('main').innerText();

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
  await desk.open('api');
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

const file = (name: string): string => join(desk.home, '.fairlead', 'workspaces', `${name}.json`);

test('R-RPC-110: what is open is saved under a name by keyboard alone; a bad name is refused', async () => {
  const page = await desk.loggedIn('/workspaces');
  await page.getByText('No workspace yet.').waitFor();
  const name = page.getByLabel('Save what is open as');
  await name.fill('../evil');
  await name.press('Enter');
  expect(await page.evaluate('document.activeElement.validity.valid')).toBe(false);
  await name.fill('morning');
  await name.press('Enter');
  await page.getByText('morning is saved with 2 terminals.').waitFor();
  await expect.poll(() => body(page), soon).toMatch(/morning\s*Saved .* · 2 terminals/);
  expect(JSON.parse(readFileSync(file('morning'), 'utf8'))).toMatchObject({ sessions: [{}, { name: 'api' }] });
});

test('R-RPC-111: a restore shows its plan first, compared with what is open; commands are off until switched on', async () => {
  const saved = { name: 'work', saved_at: new Date().toISOString() };
  const sessions = [
    { id: 0, title: 'api', cwd: desk.home, shell: '/bin/bash', name: 'api', target: 'local' },
    {
      id: 1,
      title: 'job',
      cwd: '/nowhere/at/all',
      command: 'echo restored-$((20+22)); sleep 600',
      name: 'job',
      target: 'local',
    },
  ];
  writeFileSync(file('work'), JSON.stringify({ ...saved, sessions }));
  const page = await desk.loggedIn('/workspaces');
  await page.getByRole('button', { name: 'Restore work…' }).press('Enter');
  const plan = page.getByRole('region', { name: 'Restore work' });
  await plan.waitFor();
  const said = await plan.innerText();
  expect(said).toContain('Nothing has been opened yet. 1 of 2 are open already and would open a second time.');
  expect(said).toMatch(/instead of\s*\/nowhere\/at\/all, which is gone/);
  expect(said).toMatch(/echo restored-\$\(\(20\+22\)\); sleep 600\s*would not run/);
  const before = await desk.terminals();
  await plan.getByRole('switch', { name: 'Run the command too' }).check();
  await expect.poll(() => plan.innerText(), soon).toMatch(/sleep 600\s*would run/);
  expect(await desk.terminals()).toBe(before);
  await plan.getByRole('button', { name: 'Open 2 terminals' }).click();
  await plan.getByText('2 of 2 sessions were created.').waitFor();
  expect(await desk.terminals()).toBe(before + 2);
  await plan.getByRole('link').last().click();
  await expect.poll(() => page.locator('.xterm-rows').innerText(), soon).toContain('restored-42');
});

test('a plan that the rules would refuse says why, and cannot be carried out', async () => {
  await desk.setPolicy({ enabled: true, blocked_patterns: ['sleep 600'] });
  try {
    const page = await desk.loggedIn('/workspaces');
    await page.getByRole('button', { name: 'Restore work…' }).click();
    const plan = page.getByRole('region', { name: 'Restore work' });
    await plan.getByRole('switch').check();
    await plan.getByText('Refused by the rules').waitFor();
    expect(await plan.getByRole('button', { name: 'Open 2 terminals' }).isDisabled()).toBe(true);
  } finally {
    await desk.setPolicy({ enabled: false, blocked_patterns: [] });
  }
});

test.each(looks)(
  'no serious fault of accessibility, no violation of the policy: %s, %i×%i',
  async (theme, width, height) => {
    const page = await desk.loggedIn();
    await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
    await page.setViewportSize({ width, height });
    await page.goto(`${desk.url}/workspaces`);
    await page.getByRole('button', { name: 'Restore work…' }).click();
    await page.getByRole('region', { name: 'Restore work' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(desk.violations).toEqual([]);
  },
);

test('removing names what is removed; a damaged file is told of and left alone', async () => {
  writeFileSync(file('broken'), '{ "name": ');
  const page = await desk.loggedIn('/workspaces');
  await page.getByText('It cannot be read').waitFor();
  expect(await page.getByRole('button', { name: 'Restore broken…' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Remove morning…' }).click();
  await page.getByRole('button', { name: 'Remove morning', exact: true }).click();
  await page.getByText('morning is removed.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Restore morning…' }).count(), soon).toBe(0);
  expect(readFileSync(file('broken'), 'utf8')).toBe('{ "name": ');
  rmSync(file('broken'));
});
