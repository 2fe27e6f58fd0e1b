import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
const main = (page: Page): Promise<string> => page.locator('main').innerText();

let desk: DashboardDesk;
/** On the PATH of the server: a client that is installed. */
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fl-clients-'));
  writeFileSync(join(folder, 'codex'), '#!/bin/sh\n');
  chmodSync(join(folder, 'codex'), 0o755);
  writeFileSync(join(folder, 'claude'), 'not a program');
  desk = await DashboardDesk.open({ env: { PATH: `${folder}:/usr/bin:/bin` } });
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function tokenOfRun(): string {
  const records = join(desk.home, '.fairlead', 'instances');
  const [name = ''] = readdirSync(records).filter((file) => file.endsWith('.json'));
  return (JSON.parse(readFileSync(join(records, name), 'utf8')) as { auth_token: string }).auth_token;
}

test('connect a client: a line for each, what is found is marked, the token of this run is nowhere', async () => {
  const frames: string[] = [];
  const page = await desk.newPage();
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => frames.push(String(payload))));
  await page.goto(await desk.link());
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  await page.goto(`${desk.url}/profile/tokens`);
  // The one that is found is chosen.
  await expect.poll(() => main(page), soon).toContain(`codex mcp add fairlead --url ${desk.url}/mcp`);
  expect(await page.getByRole('button', { name: /^Codex/ }).innerText()).toContain('found here');
  expect(await page.getByRole('button', { name: /^Claude Code/ }).innerText()).not.toContain('found');
  const token = tokenOfRun();
  for (const name of [/^Claude Code/, /^Other clients/, /^Without HTTP/]) {
    await page.getByRole('button', { name }).click();
    expect(await page.content()).not.toContain(token);
  }
  expect(await main(page)).toContain('"args":');
  expect(frames.join('')).not.toContain(token);
  expect(await main(page)).toMatch(/Clients seen so far/);
});

test('the line for the token sets it and prints nothing (R-RPC-141)', async () => {
  const { token: line } = JSON.parse(await desk.fairlead(['client', 'list', '--json'])) as { token: string };
  const run = (script: string): string =>
    execFileSync('bash', ['-c', script], { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '' } });
  expect(run(line)).toBe('');
  expect(run(`${line}; printf %s "$FAIRLEAD_TOKEN"`)).toBe(tokenOfRun());
  expect(await desk.fairlead(['client', 'list'])).toContain('Codex (found here): codex mcp add');
});

test('profile: another browser is signed out by a button; signing out here clears this browser and closes all its tabs', async () => {
  const [page, other] = [await desk.loggedIn('/profile'), await desk.loggedIn()];
  await page.reload();
  const rows = page.getByRole('listitem').filter({ hasText: 'signed in' });
  await expect.poll(() => rows.count(), soon).toBeGreaterThanOrEqual(2);
  const own = rows.filter({ hasText: 'this browser' });
  expect(await own.count()).toBe(1);
  // The newest login comes first.
  await rows
    .first()
    .getByRole('button', { name: /^Sign out/ })
    .click();
  await expect.poll(() => other.url(), soon).toBe(`${desk.url}/login`);
  const tab = await desk.newTab(page.context());
  await tab.goto(desk.url);
  await tab.getByRole('heading', { name: 'Now' }).waitFor();
  const cookies = await page.context().cookies();
  await own.getByRole('button', { name: /^Sign out/ }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url(), soon).toBe(`${desk.url}/login`);
  await expect.poll(() => tab.url(), soon).toBe(`${desk.url}/login`);
  expect(await page.evaluate<number>('localStorage.length')).toBe(0);
  expect(await page.context().cookies()).toEqual([]);
  // The old cookie is worth nothing, wherever it may have been kept.
  await page.context().addCookies(cookies);
  const again = await page.request.get(`${desk.url}/api/me`);
  expect(again.status()).toBe(401);
});

test.each(looks)('no serious fault of accessibility, nothing too wide: %s, %i×%i', async (theme, width, height) => {
  const page = await desk.loggedIn();
  await page.setViewportSize({ width, height });
  await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
  for (const [path, name] of [
    ['/profile/tokens', 'Clients seen so far'],
    ['/profile', 'this browser'],
  ] as const) {
    await page.goto(`${desk.url}${path}`);
    await page.getByText(name).first().waitFor();
    expect(await axeFaults(page), path).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
  }
  expect(desk.violations).toEqual([]);
});
