import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
const rowOf = (page: Page, name: RegExp) => page.getByRole('row', { name });

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
  mkdirSync(join(desk.home, '.ssh'), { mode: 0o700 });
  const hosts = 'Host db-1\n  HostName 10.0.7.3\n  User deploy\nHost rack-pi\n  HostName rack.internal\n  Port 2222\n';
  writeFileSync(join(desk.home, '.ssh', 'config'), hosts, { mode: 0o600 });
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

test('this machine with its system, shells, terminals and health; the hosts of the SSH config; no pairing', async () => {
  const page = await desk.loggedIn();
  await page.getByRole('link', { name: 'Machines' }).first().click();
  const here = rowOf(page, /this machine/);
  await here.waitFor();
  expect(await page.title()).toContain('Machines · Fairlead');
  await expect.poll(() => here.innerText(), soon).toContain('Healthy');
  const words = await here.innerText();
  expect(words).toContain(hostname());
  expect(words).toMatch(/Fairlead \d+\.\d+/);
  expect(words).toContain('bash');
  expect(await rowOf(page, /db-1/).innerText()).toContain('ssh · deploy@10.0.7.3:22');
  expect(await rowOf(page, /rack-pi/).innerText()).toContain('rack.internal:2222');
  // A form to fill in is no machine, and an instance pairs none.
  expect(await page.locator('main').innerText()).not.toMatch(/user@host|pair/i);

  const id = await desk.open('broken');
  await desk.run(id, 'false');
  await expect.poll(() => here.innerText(), soon).toMatch(/\d terminals?\s+\d? ?failed/);
});

test('a machine opens: its terminals, its facts, and a new terminal there, by keyboard alone', async () => {
  const id = await desk.open('on this machine');
  const page = await desk.loggedIn('/machines');
  await rowOf(page, /this machine/)
    .getByRole('link')
    .focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url(), soon).toBe(`${desk.url}/machines/local`);
  const terminal = page.getByRole('link', { name: /on this machine/ });
  await terminal.waitFor();
  await expect.poll(() => page.locator('main').innerText(), soon).toMatch(/System[\s\S]*Fairlead/);
  await page.getByRole('button', { name: 'New terminal' }).focus();
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'New terminal' });
  await sheet.waitFor();
  expect(await sheet.getByLabel('Where').inputValue()).toBe('local');
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await terminal.click();
  await expect.poll(() => page.url(), soon).toBe(`${desk.url}/t/${id}`);
  await page.goto(`${desk.url}/machines`);
  await page.getByRole('button', { name: 'New terminal on db-1' }).click();
  expect(await sheet.getByLabel('Where').inputValue()).toBe('ssh:db-1');
});

test('a warning is shown with its reason, and goes when it is mended', async () => {
  const page = await desk.loggedIn('/machines');
  const here = rowOf(page, /this machine/);
  await expect.poll(() => here.innerText(), soon).toContain('Healthy');
  const file = join(desk.home, '.fairlead', 'policy.json');
  writeFileSync(file, '{ "enabled": tru', { mode: 0o600 });
  chmodSync(file, 0o600);
  const check = page.getByRole('button', { name: 'Check again' });
  await expect
    .poll(async () => {
      await check.click();
      return await here.innerText();
    }, soon)
    .toContain('1 warning');
  await here.getByRole('link').click();
  await expect.poll(() => page.locator('main').innerText(), soon).toContain('policy.json cannot be understood');
  writeFileSync(file, '{}', { mode: 0o600 });
  await expect
    .poll(async () => {
      await check.click();
      return await page.locator('main').innerText();
    }, soon)
    .toContain('Healthy');
});

test('the list is asked for once, not again and again', async () => {
  const page = await desk.newPage();
  let asked = 0;
  await page.routeWebSocket(/\/api\/live$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      if (String(text).includes('targets.list')) asked += 1;
      server.send(text);
    });
  });
  await page.goto(await desk.link());
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await page.goto(`${desk.url}/machines`);
  await expect.poll(() => rowOf(page, /this machine/).innerText(), soon).toContain('Healthy');
  expect(asked).toBe(1);
  await page.getByRole('button', { name: 'Check again' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Check again' }).isEnabled(), soon).toBe(true);
  expect(asked).toBe(2);
});

test('a machine that is not there is said so; without a link the list stays, dated', async () => {
  const page = await desk.newPage();
  const cuts: (() => Promise<void>)[] = [];
  let isCut = false;
  await page.routeWebSocket(/\/api\/live$/, (socket) => {
    if (isCut) return void socket.close({ code: 1001, reason: 'cut' });
    socket.connectToServer();
    cuts.push(() => socket.close({ code: 1001, reason: 'cut' }));
  });
  await page.goto(await desk.link());
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await page.goto(`${desk.url}/machines/ssh%3Anowhere`);
  await expect.poll(() => page.locator('main').innerText(), soon).toContain('There is nothing here.');
  await page.goto(`${desk.url}/machines`);
  await rowOf(page, /db-1/).waitFor();
  isCut = true;
  await cuts.at(-1)?.();
  await expect.poll(() => page.locator('header').first().innerText(), soon).toMatch(/as of \d\d:\d\d:\d\d/);
  expect(await rowOf(page, /db-1/).isVisible()).toBe(true);
  expect(await page.getByRole('button', { name: 'Check again' }).isDisabled()).toBe(true);
});

test.each(looks)('no serious fault of accessibility, nothing too wide: %s, %i×%i', async (theme, width, height) => {
  const page = await desk.loggedIn();
  await page.setViewportSize({ width, height });
  await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
  for (const [path, name] of [
    ['/machines', 'db-1'],
    ['/machines/local', 'About'],
    ['/machines/ssh%3Adb-1', 'No terminals there.'],
  ] as const) {
    await page.goto(`${desk.url}${path}`);
    await page.getByText(name).first().waitFor();
    expect(await axeFaults(page), path).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
  }
  expect(desk.violations).toEqual([]);
});
