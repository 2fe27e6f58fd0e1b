import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';
import { freePort } from '../support/ssh/sshd.ts';

const soon = { timeout: 20_000 };
const body = (page: Page): Promise<string> => page.locator('body').innerText();
const pathOf = (page: Page): string => page.url().slice(desk.url.length);
const used = 'This link was used or is older than a minute.';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open({ port: await freePort() });
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

test('R-RPC-141: signed out, a page leads to the login and from there straight back, by keyboard alone', async () => {
  const id = await desk.open('way back');
  const page = await desk.newPage();
  await page.goto(`${desk.url}/t/${id}?block=1`);
  await expect.poll(() => body(page), soon).toContain('You are not logged in.');
  expect(pathOf(page)).toBe(`/login?to=${encodeURIComponent(`/t/${id}?block=1`)}`);
  expect(await page.title()).toBe('Log in · Fairlead');
  expect(await body(page)).toContain('fairlead dashboard');
  while (!(await page.evaluate<boolean>(`document.activeElement?.id === 'link'`))) await page.keyboard.press('Tab');
  await page.keyboard.insertText(await desk.link());
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('h1').innerText(), soon).toBe('way back');
  expect(pathOf(page)).toBe(`/t/${id}?block=1`);
  // The login page has nothing for a browser that is logged in.
  await page.goto(`${desk.url}/login?to=/t/${id}`);
  await expect.poll(() => pathOf(page), soon).toBe(`/t/${id}`);
});

test('a link that is opened in another tab lets the waiting one go on', async () => {
  const id = await desk.open('other tab');
  const page = await desk.newPage();
  await page.goto(`${desk.url}/t/${id}`);
  await expect.poll(() => body(page), soon).toContain('You are not logged in.');
  const other = await desk.newTab(page.context());
  await other.goto(await desk.link());
  await expect.poll(() => page.locator('h1').innerText(), soon).toBe('other tab');
  expect(pathOf(page)).toBe(`/t/${id}`);
});

test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/%09/evil.example', 'javascript:alert(1)'])(
  'a login never leads to another site: %s',
  async (to) => {
    const page = await desk.newPage();
    await page.goto(`${desk.url}/login?to=${to.includes('%') ? to : encodeURIComponent(to)}`);
    await page.getByLabel('Or paste the link here').fill(await desk.link());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    expect(page.url()).toBe(`${desk.url}/`);
  },
);

test('a used link, something else than a link and too many tries are said, and no code stays in the page', async () => {
  const link = await desk.link();
  const page = await desk.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(link);
  await page.getByRole('heading', { name: 'Now' }).waitFor();
  const code = link.split('#code=')[1] ?? link;
  expect(asked.filter((url) => url.includes(code))).toEqual([]);

  const stranger = await desk.newPage();
  await stranger.goto(link);
  await expect.poll(() => body(stranger), soon).toContain(used);
  expect(pathOf(stranger)).toBe('/login');
  const field = stranger.getByLabel('Or paste the link here');
  const enter = async (text: string): Promise<void> => {
    await field.fill(text);
    await stranger.getByRole('button', { name: 'Log in' }).click();
  };
  await enter('http://127.0.0.1/#nothing');
  await expect.poll(() => body(stranger), soon).toContain('This is no login link.');
  await enter(link);
  await expect.poll(() => stranger.getByRole('alert').innerText(), soon).toBe(used);
  expect(await field.inputValue()).toBe('');
  expect(await stranger.content()).not.toContain(code);
  for (let n = 0; n < 5; n++) {
    const answer = stranger.waitForResponse((response) => response.url().endsWith('/api/login'));
    await enter(`wrong-code-number-${n}-and-some-more`);
    await answer;
    await expect.poll(() => stranger.getByRole('button', { name: 'Log in' }).isEnabled(), soon).toBe(true);
  }
  await expect
    .poll(() => stranger.getByRole('alert').innerText(), soon)
    .toBe('Too many tries from this address. Try again in 15 minutes.');
  await enter(await desk.link());
  await stranger.getByRole('heading', { name: 'Now' }).waitFor();
});

test('a page goes on over a restart and a kill of the server without a login', async () => {
  const page = await desk.loggedIn();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await desk.restart(signal);
    await expect.poll(() => body(page), soon).toContain('Live');
    await page.reload();
    await page.getByRole('heading', { name: 'Now' }).waitFor();
  }
}, 60_000);

test('a browser that is signed out elsewhere is back at the login at once, in every tab', async () => {
  const id = await desk.open('kept');
  const page = await desk.loggedIn(`/t/${id}`);
  const tab = await desk.newTab(page.context());
  await tab.goto(desk.url);
  await tab.getByRole('heading', { name: 'Now' }).waitFor();
  const { logins } = JSON.parse(await desk.fairlead(['login', 'list', '--json'])) as { logins: { login: string }[] };
  await desk.fairlead(['login', 'end', logins[0]?.login ?? '']);
  await expect.poll(() => pathOf(page), soon).toBe(`/login?to=${encodeURIComponent(`/t/${id}`)}`);
  await expect.poll(() => pathOf(tab), soon).toBe('/login');
  expect(await body(page)).toContain('You are not logged in.');
});

test.each(looks)('the login page has no serious fault of accessibility: %s, %i×%i', async (theme, width, height) => {
  const page = await desk.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  await page.goto(desk.url);
  await page.getByRole('button', { name: 'Log in' }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  expect(desk.violations).toEqual([]);
});
