import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';
import { filesBelow } from '../support/files-below.ts';
import { isRoot, type Sshd, startSshd } from '../support/ssh/sshd.ts';

const soon = { timeout: 20_000 };
const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();
const heading = (page: Page): Promise<string> => page.locator('h1').innerText();
const sheetOf = (page: Page) => page.getByRole('dialog', { name: 'New terminal' });
/** The keys of the frame are fetched after the first picture. */
const keysCame = (page: Page): Promise<void> => page.waitForLoadState('networkidle');

let desk: DashboardDesk;
let sshd: Sshd;
beforeAll(async () => {
  sshd = await startSshd({ password: isRoot });
  desk = await DashboardDesk.open({ env: { FAIRLEAD_SSH_HOST_KEY_POLICY: 'ask' } });
  mkdirSync(join(desk.home, '.ssh'), { mode: 0o700 });
  const host = `Host db-1\n  HostName 127.0.0.1\n  Port ${sshd.port}\n  User ${sshd.user}\n`;
  writeFileSync(join(desk.home, '.ssh', 'config'), host, { mode: 0o600 });
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await sshd[Symbol.asyncDispose]();
});

test('C opens the sheet on any page, Back closes it, and Enter opens a terminal and goes there, by keyboard alone', async () => {
  const page = await desk.loggedIn('/settings');
  await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
  await keysCame(page);
  await page.keyboard.press('c');
  await sheetOf(page).waitFor();
  expect(page.url()).toBe(`${desk.url}/settings?new=`);
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('where');
  await page.goBack();
  await sheetOf(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(`${desk.url}/settings`);
  await page.keyboard.press('c');
  await sheetOf(page).waitFor();
  await page.keyboard.press('Escape');
  await sheetOf(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(`${desk.url}/settings`);

  await page.keyboard.press('c');
  await sheetOf(page).getByRole('option', { name: /^bash/ }).waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('sh');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('bash');
  await page.keyboard.press('Tab');
  await page.keyboard.type('/usr');
  await page.keyboard.press('Tab');
  await page.keyboard.type('made here');
  await page.keyboard.press('Enter');
  await expect.poll(() => heading(page), soon).toBe('made here');
  await page.locator('.xterm-rows').waitFor();
  await page.keyboard.type('echo "$0 in $PWD"');
  await page.keyboard.press('Enter');
  await expect.poll(() => screen(page), soon).toMatch(/bash in \/usr/);
  // The sheet is no place to go back to.
  await page.goBack();
  await expect.poll(() => page.url(), soon).toBe(`${desk.url}/settings`);
});

test('a program of this machine, recorded from the start', async () => {
  const page = await desk.loggedIn('/?new=');
  const sheet = sheetOf(page);
  await sheet.getByLabel('Where').fill(`sh -c "echo one two; sleep 60"`);
  await sheet.getByLabel('Record').check();
  await sheet.getByRole('button', { name: 'Open terminal' }).click();
  await expect.poll(() => screen(page), soon).toContain('one two');
  const { recordings } = JSON.parse(await desk.fairlead(['replay', 'list', '--json'])) as { recordings: object[] };
  expect(recordings).toHaveLength(1);
});

test('what cannot be opened is said with the way out, and the sheet stays as it was filled in', async () => {
  const page = await desk.loggedIn('/?new=mars:base');
  const sheet = sheetOf(page);
  expect(await sheet.getByLabel('Where').inputValue()).toBe('mars:base');
  await sheet.getByLabel('Name').fill('kept');
  await page.keyboard.press('Enter');
  await expect.poll(() => sheet.getByRole('alert').innerText(), soon).toContain('There is no target "mars:base" here.');
  expect(await sheet.getByRole('alert').innerText()).toContain('What can be opened:');
  expect(await sheet.getByLabel('Name').inputValue()).toBe('kept');
  await sheet.getByLabel('Where').fill('no-such-program');
  await page.keyboard.press('Enter');
  await expect.poll(() => sheet.getByRole('alert').innerText(), soon).toContain('no-such-program');
  // Another place opens without a new sheet.
  await sheet.getByLabel('Where').fill('local');
  await page.keyboard.press('Enter');
  await expect.poll(() => heading(page), soon).toBe('kept');
});

describe.runIf(isRoot)('a host of the SSH config', () => {
  test('asks for trust in its key and then for the password in the sheet, and opens', async () => {
    const page = await desk.loggedIn();
    await keysCame(page);
    await page.keyboard.press('c');
    const sheet = sheetOf(page);
    await sheet.getByRole('option', { name: /db-1/ }).click();
    await sheet.getByRole('button', { name: 'Open terminal' }).click();

    // Denied: nothing is opened, nothing recorded.
    await sheet.getByRole('button', { name: 'Deny' }).waitFor();
    const shown = (await sheet.innerText()).replaceAll(/\s/g, '');
    const key = execFileSync('ssh-keygen', ['-lf', join(sshd.folder, 'host_ed25519.pub')], { encoding: 'utf8' });
    expect(shown).toContain(/SHA256:(\S+)/.exec(key)?.[1]);
    await page.waitForTimeout(450);
    await sheet.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => sheet.getByRole('alert').innerText(), soon).toContain('is not on record');
    expect(await desk.fairlead(['answer', '--list'])).not.toContain('authenticity');

    await sheet.getByRole('button', { name: 'Open terminal' }).click();
    const trust = sheet.getByRole('button', { name: 'Trust and go on' });
    await trust.waitFor();
    await page.waitForTimeout(450);
    await trust.click();
    const field = sheet.locator('input[type=password]');
    await field.waitFor();
    await page.waitForTimeout(450);
    await field.fill(sshd.password);
    await field.press('Enter');
    await page.locator('.xterm-rows').waitFor();
    await page.keyboard.type('echo "$USER at $SSH_CONNECTION"');
    await page.keyboard.press('Enter');
    await expect.poll(() => screen(page), soon).toContain(`${sshd.user} at 127.0.0.1`);
    expect(readFileSync(join(desk.home, '.fairlead', 'known_hosts'), 'utf8')).toContain(`[127.0.0.1]:${sshd.port}`);
    for (const [path, bytes] of filesBelow(desk.home)) expect(bytes.includes(sshd.password), path).toBe(false);

    // Known now, and logged in: the next one opens at once, and its place comes first.
    await page.goto(`${desk.url}/?new=`);
    await sheet.getByRole('option').first().waitFor();
    await expect.poll(() => sheet.getByRole('option').first().innerText(), soon).toContain('db-1');
  }, 60_000);

  test('closing the sheet takes its question back', async () => {
    const page = await desk.loggedIn();
    await page.goto(`${desk.url}/?new=${encodeURIComponent(`ssh:${sshd.user}@localhost:${sshd.port}`)}`);
    const sheet = sheetOf(page);
    await sheet.getByRole('button', { name: 'Open terminal' }).click();
    await sheet.getByRole('button', { name: 'Trust and go on' }).waitFor();
    expect(await desk.fairlead(['answer', '--list'])).toContain('authenticity');
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await expect.poll(() => desk.fairlead(['answer', '--list']), soon).not.toContain('authenticity');
  });
});

test.each(looks)('the sheet has no serious fault of accessibility: %s, %i×%i', async (theme, width, height) => {
  const page = await desk.loggedIn();
  await page.setViewportSize({ width, height });
  await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
  await page.goto(`${desk.url}/?new=`);
  await sheetOf(page).getByRole('option', { name: /db-1/ }).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  const box = await sheetOf(page).boundingBox();
  // The right third on a desk, the whole page on a phone.
  if (width < 760) expect(box).toMatchObject({ x: 0, width });
  else expect(box?.x).toBeGreaterThan(width * 0.6);
  expect(desk.violations).toEqual([]);
});
