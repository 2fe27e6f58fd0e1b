import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../../support/asking.ts';
import { askHttp } from '../../support/http-ask.ts';
import { Served } from '../../support/served.ts';

let browser: Awaited<ReturnType<typeof launchBrowser>>;
let served: Served;
beforeAll(async () => {
  [browser, served] = await Promise.all([launchBrowser(), Served.start()]);
});
afterAll(async () => {
  await browser.close();
  await served[Symbol.asyncDispose]();
});

/** A link leads to the dashboard; its code is good for the settings, too. */
const link = async (): Promise<string> =>
  ((await served.fairlead(['settings', 'open', '--print-only'])).split('\n', 1)[0] ?? '').replace('/#', '/settings#');
const fileText = (name: string): string => {
  const path = join(served.home, '.fairlead', name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '{}';
};

/** A page, and all that it said, asked for and was refused by its own policy. */
async function show(url: string): Promise<{ page: Page; said: string[]; asked: string[] }> {
  const page = await browser.newPage();
  const said: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(url);
  return { page, said, asked };
}

test('R-RPC-141: a page of its own host alone, with a strict policy and nothing kept', async () => {
  const base = new URL(served.url).origin;
  for (const path of ['/settings', '/static/settings.js', '/static/settings.css']) {
    const { status, headers, text } = await askHttp(`${base}${path}`);
    expect([path, status]).toEqual([path, 200]);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(text).not.toContain(served.token);
    expect((await askHttp(`${base}${path}`, { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await askHttp(`${base}${path}`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect((await askHttp(`${base}${path}`, { method: 'POST' })).status).toBe(405);
  }
  for (const path of ['/static/', '/static/index.html', '/static/../package.json', '/static/lang/en.json']) {
    expect([path, (await askHttp(`${base}${path}`)).status]).toEqual([path, 401]);
  }
  expect(await askHttp(`${base}/favicon.ico`)).toMatchObject({ status: 204, text: '' });
});

test('R-RPC-141: a person logs in by the link, and changes settings with the keyboard alone', async () => {
  const { page, said, asked } = await show(await link());
  const settings = page.locator('#settings');
  await settings.waitFor();
  expect(page.url()).toBe(`${new URL(served.url).origin}/settings`);
  expect(asked.filter((url) => url.includes('code='))).toEqual([]);
  expect(asked.filter((url) => !url.startsWith(new URL(served.url).origin))).toEqual([]);

  await page.locator('#themes input:checked').focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText('Saved.').waitFor();
  expect(JSON.parse(fileText('theme.json'))).toMatchObject({ theme: 'midnight' });
  expect(await page.evaluate('document.activeElement.value')).toBe('midnight');

  const rows = page.getByLabel('Rows');
  await rows.focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('2500');
  await page.keyboard.press('Enter');
  await expect.poll(() => fileText('scrollback.json').includes('2500')).toBe(true);

  const blocked = page.getByLabel('Blocked', { exact: true });
  await blocked.focus();
  await page.keyboard.type('rm -rf /\nre:^shutdown');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => fileText('policy.json')).toContain('re:^shutdown');
  expect(JSON.parse(fileText('policy.json'))).toMatchObject({ blocked_patterns: ['rm -rf /', 're:^shutdown'] });

  await page.getByLabel('Record every new session').press('Space');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => JSON.parse(fileText('recording.json')) as object)
    .toMatchObject({ recording: { enabled: true } });

  // A value that the server refuses is told of, and changes nothing.
  await page.getByLabel('HTTP').fill('gopher://x');
  await page.locator('#proxy button').press('Enter');
  await page.locator('#status.bad').waitFor();
  expect(await page.locator('#status').textContent()).toContain('http_proxy');
  // The browser reports the refused call itself, and nothing else.
  expect(said.filter((text) => !/status of 400/.test(text))).toEqual([]);
  await page.close();
});

test('R-RPC-142: a theme that is switched elsewhere, or edited by hand, shows at once', async () => {
  const { page } = await show(await link());
  await page.locator('#settings').waitFor();
  const checked = (): Promise<string | null> => page.locator('#themes input:checked').getAttribute('value');
  await served.fairlead(['theme', 'switch', 'daylight']);
  await expect.poll(checked, { timeout: 2000 }).toBe('daylight');
  writeFileSync(join(served.home, '.fairlead', 'theme.json'), '{"theme": "classic"}');
  await expect.poll(checked, { timeout: 2000 }).toBe('classic');
  const background = "getComputedStyle(document.querySelector('.theme:has(input:checked) .peek')).backgroundColor";
  expect(await page.evaluate(background)).toBe('rgb(0, 0, 0)');
  await page.close();
});

test('R-RPC-141: a link that was used, and a page without a login, say what to do', async () => {
  const used = await link();
  const first = await show(used);
  await first.page.locator('#settings').waitFor();
  await first.page.getByRole('button', { name: 'Log out' }).press('Enter');
  await first.page.getByText('fairlead settings open').first().waitFor();
  await first.page.close();
  const second = await show(used);
  await second.page.getByText('This link was used').waitFor();
  expect(await second.page.locator('#settings').isVisible()).toBe(false);
  await second.page.close();
  const bare = await show(`${new URL(served.url).origin}/settings`);
  await bare.page.getByRole('heading', { name: 'You are not logged in' }).waitFor();
  await bare.page.close();
});
