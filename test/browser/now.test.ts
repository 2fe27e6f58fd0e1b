import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

/** Now, past its welcome. */
async function now(search = ''): Promise<Page> {
  const page = await desk.loggedIn();
  await page.evaluate(`localStorage.setItem('welcome', 'done')`);
  await page.goto(`${desk.url}/${search}`);
  await page.getByRole('heading', { name: 'Terminals', exact: true }).waitFor();
  return page;
}
const card = (page: Page, name: RegExp) => page.getByRole('group', { name });
const tile = (page: Page, name: RegExp) => page.getByRole('link', { name });

test('the welcome has three steps that tick themselves; Skip ends it for ever', async () => {
  const page = await desk.loggedIn();
  const welcome = page.getByRole('region', { name: 'Welcome to Fairlead' });
  await welcome.waitFor();
  expect(await welcome.getByRole('heading', { level: 3 }).allInnerTexts()).toEqual([
    expect.stringContaining('Connect your agent'),
    expect.stringContaining('Ask it something'),
    expect.stringContaining('Watch it here'),
  ]);
  await desk.open('first tile');
  await expect.poll(() => welcome.textContent(), soon).toContain('Watch it here, done');
  await welcome.getByRole('button', { name: 'Skip' }).click();
  await page.reload();
  await tile(page, /first tile/).waitFor();
  expect(await welcome.count()).toBe(0);
});

describe('what needs you', () => {
  test('is on screen within a moment, answered by keyboard alone, and leaves a receipt', async () => {
    const page = await now();
    const id = await desk.open('router');
    await desk.run(id, 'read -p "Erase and write? [y/N] " x; echo "got $x"; sleep 60');
    const erase = card(page, /asks on/);
    await erase.waitFor();
    expect(await page.title()).toMatch(/^\(1\) Now/);
    // A key in the first 400 ms may have been meant for something else.
    await page.waitForTimeout(450);
    await expect
      .poll(async () => {
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        return await page.evaluate('document.activeElement?.textContent?.trim()');
      }, soon)
      .toBe('y');
    await page.keyboard.press('Enter');
    const receipt = page.locator('.receipt');
    await expect.poll(() => receipt.innerText(), soon).toMatch(/Answered “y” \d\d:\d\d:\d\d · delivered/);
    await expect.poll(() => page.getByText('Nothing needs you.').count(), soon).toBe(1);
    await expect.poll(() => page.getByText('Nothing needs you.').count(), soon).toBe(0);
  });

  test('a card takes no click in its first 400 ms', async () => {
    const page = await now();
    // The page clicks each new answer at once, as a person would whose click was meant for something else.
    await page.evaluate(`new MutationObserver((_, observer) => {
      for (const key of document.querySelectorAll('.card .key')) {
        window.clicks = (window.clicks ?? 0) + 1;
        key.click();
        observer.disconnect();
      }
    }).observe(document.body, { childList: true, subtree: true })`);
    const id = await desk.open('inert');
    await desk.run(id, 'read -p "Go on? [y/n] " x; echo "got""ten"');
    await expect.poll(() => page.evaluate('window.clicks ?? 0'), soon).toBeGreaterThan(0);
    const asked = card(page, /asks on/);
    await asked.waitFor();
    expect(await page.locator('.receipt').count()).toBe(0);
    expect(await desk.text(id)).not.toContain('gotten');
    await page.waitForTimeout(450);
    await asked.getByRole('button', { name: 'n', exact: true }).click();
    await expect.poll(() => desk.text(id), soon).toContain('gotten');
  });

  test('only one card is open, new ones come last, and it says when a program no longer asks', async () => {
    const page = await now();
    const first = await desk.open('one');
    await desk.run(first, 'read -s -p "[sudo] password for deploy: " x');
    await card(page, /asks for deploy’s password/).waitFor();
    const second = await desk.open('two');
    await desk.run(second, 'read -p "Replace it? [y/n] " x');
    await expect.poll(() => page.locator('.item').count(), soon).toBe(2);
    expect(await page.locator('.item').nth(1).innerText()).toContain('Replace it? [y/n]');
    // The second is one line with one button.
    expect(await page.locator('.item').nth(1).getByRole('button').allInnerTexts()).toEqual(['Answer']);
    await page.locator('.item').nth(1).getByRole('button', { name: 'Answer' }).click();
    await expect.poll(() => page.locator('.item').nth(0).getByRole('button').allInnerTexts(), soon).toEqual(['Review']);
    await desk.interrupt(first);
    await expect
      .poll(() => page.locator('.item').nth(0).innerText(), soon)
      .toMatch(/no longer asks\.|answered this in the terminal/);
    await desk.interrupt(second);
    await expect.poll(() => page.locator('.item').count(), soon).toBe(0);
  });

  test('a host key that nobody has seen can be trusted or denied; its fingerprint stands in groups of four', async () => {
    const page = await now();
    const id = await desk.open('jump');
    await desk.run(
      id,
      `clear; printf "The authenticity of host 'db-1 (10.0.7.3)' can't be established.\\nED25519 key fingerprint is SHA256:abcdEFGH0123ijklMNOP4567qrstUVWX89yzABCDEfg.\\n"; read -p "Are you sure you want to continue connecting (yes/no/[fingerprint])? " x; echo "said $x"`,
    );
    const key = card(page, /db-1 shows a key nobody has seen/);
    await key.waitFor();
    await expect.poll(() => key.innerText(), soon).toContain('abcd EFGH 0123 ijkl');
    await page.waitForTimeout(450);
    await key.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => desk.text(id), soon).toContain('said no');
  });
});

describe('tiles', () => {
  test('filters with counts stand in the address; arrows, the menu and renaming work by keyboard', async () => {
    const page = await now();
    const failed = await desk.open('broken build');
    await desk.run(failed, 'false');
    await tile(page, /broken build, Failed · exit 1/).waitFor();
    await page.getByRole('button', { name: /^Failed/ }).click();
    await expect.poll(() => new URL(page.url()).search, soon).toBe('?show=failed');
    await expect.poll(() => tile(page, /first tile/).count(), soon).toBe(0);
    await page.reload();
    await tile(page, /broken build/).waitFor();
    expect(await tile(page, /first tile/).count()).toBe(0);
    await page.goto(desk.url);
    await tile(page, /broken build/).waitFor();
    await page.locator('[data-tile][tabindex="0"]').focus();
    const before = await page.evaluate('document.activeElement.dataset.tile');
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate('document.activeElement.dataset.tile')).not.toBe(before);
    // One tile of the grid is in the way of Tab.
    expect(await page.locator('[data-tile][tabindex="0"]').count()).toBe(1);
    await tile(page, /broken build/).focus();
    await page.keyboard.press('x');
    const menu = page.getByRole('menu');
    await menu.waitFor();
    expect(await menu.getByRole('menuitem').allInnerTexts()).toEqual(
      expect.arrayContaining([expect.stringContaining('Open'), 'Rename', 'Close terminal…', 'Copy as command']),
    );
    await menu.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('mended build');
    await page.keyboard.press('Enter');
    await tile(page, /mended build/).waitFor();
  });

  test('what failed turns to idle in the browser that looked for 3 s', async () => {
    const page = await now();
    const id = await desk.open('looked at');
    await desk.run(id, 'false');
    await tile(page, /looked at, Failed/).click();
    await page.locator('.xterm-rows').waitFor();
    await page.waitForTimeout(3500);
    await page.goBack();
    await tile(page, /looked at, Idle/).waitFor();
  });
});

describe('finding the way', () => {
  test('the palette finds terminals and actions; ? lists keys; g n goes to Now', async () => {
    const id = await desk.open('far away');
    const page = await now();
    await tile(page, /far away/).waitFor();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search or jump to' });
    await field.fill('>');
    const kinds = await page.locator('#found [role=option]').allInnerTexts();
    expect(kinds.length).toBeGreaterThan(2);
    expect(kinds.filter((text) => !text.includes('Action'))).toEqual([]);
    await field.fill('far aw');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url(), soon).toBe(`${desk.url}/t/${id}`);
    // In a terminal Ctrl+K belongs to the program, Ctrl+Shift+K to us.
    await page.locator('.xterm-rows').waitFor();
    await page.keyboard.press('Control+Shift+K');
    await field.waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${desk.url}/agents`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForTimeout(300);
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keys' });
    await sheet.waitFor();
    expect(await sheet.innerText()).toContain('New terminal');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await expect.poll(() => new URL(page.url()).pathname, soon).toBe('/');
    // Switched off, single keys do nothing.
    await page.evaluate(`localStorage.setItem('singleKeys', 'false')`);
    await page.reload();
    await tile(page, /far away/).waitFor();
    await page.waitForTimeout(300);
    await page.keyboard.press('?');
    await page.keyboard.press('Control+k');
    await field.waitFor();
    expect(await sheet.count()).toBe(0);
  });
});

test('no violation of the policy on any of these pages', () => {
  expect(desk.violations).toEqual([]);
});
