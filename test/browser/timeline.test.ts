import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
let desk: DashboardDesk;
let terminal: string;
beforeAll(async () => {
  desk = await DashboardDesk.open();
  terminal = await desk.open('shop');
  await desk.run(terminal, 'echo one');
  await desk.run(terminal, 'false');
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

const rows = (page: Page) => page.getByRole('list', { name: 'Calls' }).getByRole('button');

test('the timeline shows each call with its result, goes on by itself, and keeps its filter in the address (R-HUB-080)', async () => {
  const page = await desk.loggedIn('/timeline');
  await expect.poll(async () => await rows(page).allInnerTexts(), soon).toContainEqual(expect.stringMatching(/false/));
  const text = (await rows(page).allInnerTexts()).join('\n');
  expect(text).toMatch(/terminal\.run[\s\S]*exit 1/);
  expect(text).toMatch(/terminal\.run[\s\S]*exit 0/);
  await desk.run(terminal, 'echo two');
  await rows(page).filter({ hasText: 'echo two' }).waitFor();
  await page.getByRole('button', { name: 'Failed' }).click();
  await expect.poll(async () => await rows(page).count(), soon).toBe(1);
  expect(new URL(page.url()).search).toBe('?kind=failed');
  await page.reload();
  await expect.poll(async () => await rows(page).count(), soon).toBe(1);
  await page.getByLabel('Filter by text').fill('no such call');
  await page.getByText('Nothing matches.').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rows(page).filter({ hasText: 'echo one' }).waitFor();
});

test('by keyboard alone: a row is chosen, its facts are told, and it leads to its terminal', async () => {
  const page = await desk.loggedIn('/timeline');
  await rows(page).first().waitFor();
  await rows(page).first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const details = page.getByRole('complementary', { name: 'The chosen call' });
  await details.getByText('Result').waitFor();
  await details.getByRole('link', { name: 'Open terminal' }).press('Enter');
  await page.waitForURL(new RegExp(`/t/${terminal}`));
});

test('an agent has a page: what it called, how often, and how much it read', async () => {
  const page = await desk.loggedIn('/agents');
  await page.getByRole('table').getByRole('link').first().click();
  await page.getByText('read by the agent').waitFor();
  expect(await page.locator('main').innerText()).toMatch(/\d+ calls\s+0 denied\s+\d+ failed\s+0 held/);
  await rows(page).filter({ hasText: 'echo one' }).click();
  await page.getByRole('complementary').getByText('Took').waitFor();
  await page.goto(`${desk.url}/agents/none`);
  await page.getByText('There is no agent').waitFor();
});

test('what an agent calls itself and its commands stay text', async () => {
  const page = await desk.loggedIn('/timeline');
  await desk.run(terminal, `echo '<img src=x onerror=alert(1)>' # \u202e`);
  await rows(page).filter({ hasText: '<img src=x' }).first().waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.locator('body').innerText()).not.toContain('\u202e');
  expect(desk.violations).toEqual([]);
});

test('a call of a recorded terminal is a moment of its recording: choosing the row shows it (R-HUB-085)', async () => {
  const recorded = await desk.open('recorded');
  await desk.record(recorded);
  await desk.run(recorded, 'echo first-$((1+1))');
  await desk.run(recorded, 'clear; echo second-$((2+2))');
  const page = await desk.loggedIn('/agents');
  await page.getByRole('table').getByRole('link').first().click();
  await rows(page).filter({ hasText: 'second-' }).click();
  const player = page.getByRole('complementary');
  await player.getByRole('button', { name: /^Play/ }).waitFor();
  await rows(page).filter({ hasText: 'first-' }).click();
  await expect.poll(() => player.locator('.xterm-rows').innerText(), soon).not.toContain('second-4');
  await player.getByText('Facts of this call').click();
  await player.getByText('Took').waitFor();
});

test('pages keep what they show while the link is gone, say of when it is, and load again by themselves', async () => {
  const page = await desk.newPage();
  let isAway = false;
  let cut: (() => Promise<void>) | undefined;
  await page.routeWebSocket(/\/api\/live$/, (socket) => {
    if (isAway) return void socket.close({ code: 1013, reason: 'away' });
    cut = () => socket.close({ code: 1013, reason: 'cut' });
    socket.connectToServer();
  });
  await page.goto(await desk.link());
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  for (const [path, shown] of [
    ['/timeline', rows(page).first()],
    ['/machines', page.getByRole('row', { name: /this machine/ })],
  ] as const) {
    await page.goto(`${desk.url}${path}`);
    await shown.waitFor();
    expect(await page.getByText(/^as of/).count()).toBe(0);
    isAway = true;
    await cut?.();
    await page.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor();
    expect(await shown.isVisible()).toBe(true);
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0);
    isAway = false;
    await page.getByText(/^as of/).waitFor({ state: 'detached' });
    expect(await shown.isVisible()).toBe(true);
  }
  expect(desk.violations).toEqual([]);
}, 90_000);
