import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';
import { askHttp } from '../support/http-ask.ts';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

const soon = { timeout: 20_000 };
const file = (name: string): string => join(desk.home, '.fairlead', name);
const json = (name: string): unknown => JSON.parse(readFileSync(file(name), 'utf8'));
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const terminalBackground = "getComputedStyle(document.documentElement).getPropertyValue('--t-bg')";
const ground = 'getComputedStyle(document.body).backgroundColor';

describe('appearance', () => {
  test('the theme of the pages and their density change at once, here and in another tab, and stay', async () => {
    const page = await desk.loggedIn('/settings/appearance');
    const other = await page.context().newPage();
    await other.goto(desk.url);
    // The system of this browser is light.
    await field(page, 'Pages').last().selectOption('dark');
    await expect.poll(() => page.evaluate(ground), soon).toBe('rgb(13, 14, 18)');
    await expect.poll(() => other.evaluate(ground), soon).toBe('rgb(13, 14, 18)');
    await page.getByRole('button', { name: 'Undo: Pages' }).click();
    await expect.poll(() => other.evaluate('document.documentElement.dataset.theme'), soon).toBe('light');
    await field(page, 'Density').last().selectOption('compact');
    await expect.poll(() => other.evaluate('document.documentElement.dataset.density'), soon).toBe('compact');
    await page.reload();
    await expect.poll(() => page.evaluate('document.documentElement.dataset.density'), soon).toBe('compact');
  });

  test('R-RPC-142: a terminal theme is seen live in every open tab, whoever switches it; it can be undone', async () => {
    const id = await desk.open('themed');
    const page = await desk.loggedIn('/settings/appearance');
    const terminal = await desk.loggedIn(`/t/${id}`);
    await terminal.locator('.xterm-rows').waitFor();
    const painted = "getComputedStyle(document.querySelector('.xterm-scrollable-element')).backgroundColor";
    await page.getByRole('radio', { name: /Solarized/ }).check();
    await expect.poll(() => terminal.evaluate(terminalBackground), soon).toBe('#fdf6e3');
    await expect.poll(() => terminal.evaluate(painted), soon).toBe('rgb(253, 246, 227)');
    expect(json('theme.json')).toMatchObject({ theme: 'daylight' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => terminal.evaluate(terminalBackground), soon).toBe('#1e1e2e');
    // An editor is as good as a click.
    writeFileSync(file('theme.json'), '{"theme": "classic"}');
    await expect.poll(() => page.getByRole('radio', { name: /Tango/ }).isChecked(), soon).toBe(true);
    await expect.poll(() => terminal.evaluate(terminalBackground), soon).toBe('#000000');
  });
});

describe('a field of a settings file', () => {
  test('is saved when it is left, says so, and can be undone for ten seconds', async () => {
    const page = await desk.loggedIn('/settings/terminal');
    const rows = field(page, 'Scrollback').last();
    await rows.waitFor();
    const before = await rows.inputValue();
    await rows.fill('2500');
    await rows.press('Tab');
    const group = page.getByRole('group', { name: 'Scrollback' });
    await group.getByText('Saved').waitFor();
    expect(json('scrollback.json')).toEqual({ lines: 2500 });
    await group.getByRole('button', { name: 'Undo: Scrollback' }).press('Enter');
    await expect.poll(() => json('scrollback.json'), soon).toEqual({ lines: Number(before) });
    await expect.poll(() => rows.inputValue(), soon).toBe(before);
  });

  test('that the server refuses keeps what was typed and says why; nothing is saved', async () => {
    const page = await desk.loggedIn('/settings/network');
    const http = field(page, 'HTTP').last();
    await http.fill('gopher://x');
    await http.press('Enter');
    await page.getByText('http_proxy').waitFor();
    expect(await http.inputValue()).toBe('gopher://x');
    await page.goto(`${desk.url}/settings/terminal`);
    const rows = field(page, 'Scrollback').last();
    await rows.fill('7');
    await rows.press('Tab');
    await expect.poll(() => page.getByRole('group', { name: 'Scrollback' }).innerText(), soon).toContain('100');
    await page.reload();
    await expect.poll(() => rows.inputValue(), soon).not.toBe('7');
  });

  test('R-RPC-017: an edit by hand shows within two seconds, with its file named', async () => {
    const page = await desk.loggedIn('/settings/terminal');
    await field(page, 'Scrollback').last().waitFor();
    writeFileSync(file('scrollback.json'), '{"lines": 4321}');
    await expect.poll(() => field(page, 'Scrollback').last().inputValue(), { timeout: 5000 }).toBe('4321');
    await page.getByText('Changed in scrollback.json just now.').waitFor();
  });

  test('R-RPC-017: an unreadable file is told of in red with line and reason; nothing is overwritten', async () => {
    const page = await desk.loggedIn('/settings/recording');
    const days = field(page, 'Keep recordings').last();
    await days.waitFor();
    const broken = '{\n  "retain_days": 30,\n  "keep_raw": maybe\n}\n';
    writeFileSync(file('recording.json'), broken);
    const alert = page.getByRole('alert');
    await expect.poll(() => alert.innerText(), soon).toMatch(/recording\.json.*line 3/);
    expect(await days.isDisabled()).toBe(true);
    expect(await page.getByRole('link', { name: /Recording.*cannot be read/ }).count()).toBe(1);
    expect(readFileSync(file('recording.json'), 'utf8')).toBe(broken);
    writeFileSync(file('recording.json'), '{"retain_days": 30}');
    await expect.poll(() => days.isEnabled(), soon).toBe(true);
    await expect.poll(() => days.inputValue(), soon).toBe('30');
  });
});

test('what is masked can be tried, and leaves no trace', async () => {
  const page = await desk.loggedIn('/settings/recording');
  await field(page, 'More secrets').last().fill('ACME-\\d+');
  await field(page, 'More secrets').last().press('Tab');
  await page.getByRole('group', { name: 'More secrets' }).getByText('Saved').waitFor();
  await page.getByLabel('Try it').fill('badge ACME-4711 and GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789');
  await page.getByRole('button', { name: 'Show what is masked' }).click();
  await page.getByText('2 secrets are masked.').waitFor();
  const shown = await page.locator('pre').innerText();
  expect(shown).toMatch(/^badge <redacted:[0-9a-f]{8}> and GITHUB_TOKEN=<redacted:[0-9a-f]{8}>$/);
  expect(JSON.stringify(await desk.audit())).not.toContain('ACME-4711');
});

describe('rules', () => {
  test('say what would happen, are tried on the past, and are saved with a button and a diff', async () => {
    const id = await desk.open('past');
    await desk.run(id, 'echo past-command-one');
    await desk.run(id, 'echo another');
    const page = await desk.loggedIn('/settings/rules');
    await page.getByLabel('Enforce the rules').check();
    await page.getByLabel('Blocked', { exact: true }).fill('past-command\ncmd:shutdown');
    expect(await page.getByRole('group', { name: 'What would change' }).innerText()).toBe(
      '+ enforced\n+ blocked past-command\n+ blocked cmd:shutdown',
    );
    await page.getByLabel('What would happen to…').fill('sudo shutdown -h now');
    await page.getByRole('button', { name: 'Ask' }).click();
    await expect.poll(() => page.getByText('It would be refused.').innerText(), soon).toContain('cmd:shutdown');
    await page.getByRole('button', { name: 'Try these rules' }).click();
    await page.getByRole('heading', { name: 'Would be refused' }).waitFor();
    const refused = page.getByRole('listitem').filter({ hasText: 'past-command-one' });
    expect(await refused.count()).toBe(1);
    expect(await page.getByRole('listitem').filter({ hasText: 'echo another' }).count()).toBe(0);
    // Nothing of it holds before it is saved.
    expect(await desk.policy()).toMatchObject({ enabled: false });
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByText('Saved').waitFor();
    expect(json('policy.json')).toMatchObject({ enabled: true, blocked_patterns: ['past-command', 'cmd:shutdown'] });
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => json('policy.json'), soon).toMatchObject({ enabled: false, blocked_patterns: [] });
  });

  test('keep what a person is writing when the file is edited, and say so', async () => {
    const page = await desk.loggedIn('/settings/rules');
    await page.getByLabel('Blocked', { exact: true }).fill('my draft');
    writeFileSync(file('policy.json'), '{"enabled": false, "blocked_patterns": ["by hand"]}');
    await page.getByText('Changed in policy.json just now.').waitFor();
    await page.getByText('The file was changed meanwhile.').waitFor();
    expect(await page.getByLabel('Blocked', { exact: true }).inputValue()).toBe('my draft');
    await page.getByRole('button', { name: 'Show the file' }).click();
    expect(await page.getByLabel('Blocked', { exact: true }).inputValue()).toBe('by hand');
  });

  test('a pattern that is none is refused in words', async () => {
    const page = await desk.loggedIn('/settings/rules');
    await page.getByLabel('Blocked', { exact: true }).fill('re:(');
    await page.getByRole('button', { name: 'Save rules' }).click();
    await expect.poll(() => page.getByRole('alert').innerText(), soon).toMatch(/regular expression|pattern/i);
    expect(JSON.stringify(json('policy.json'))).not.toContain('re:(');
  });
});

test('a language that a person added is used for these pages; what it leaves out is English', async () => {
  mkdirSync(file('lang'), { recursive: true });
  writeFileSync(file('lang/de.json'), '{"language": "Deutsch", "section_rules": "Regeln"}');
  const page = await desk.loggedIn('/settings/language');
  await field(page, 'Language of these pages').last().selectOption('de');
  await page.getByRole('link', { name: 'Regeln' }).waitFor();
  expect(await page.getByRole('link', { name: 'Network' }).count()).toBe(1);
  expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  await page.getByRole('button', { name: 'Undo: Language of these pages' }).click();
  await page.getByRole('link', { name: 'Rules' }).waitFor();
});

test('keys can be changed, and single ones switched off', async () => {
  const page = await desk.loggedIn('/settings/accessibility');
  const leave = page.getByRole('group', { name: 'Key that leaves a terminal' });
  await leave.getByRole('button').first().press('Enter');
  await page.keyboard.press('x');
  await leave.getByText('alone belongs to programs').waitFor();
  await page.keyboard.press('Control+.');
  await leave.getByText('is in use for another thing').waitFor();
  // A key that is being chosen does nothing else: everything would be paused, a sheet would open.
  await page.keyboard.press('c');
  await leave.getByText('C alone belongs to programs').waitFor();
  expect(await page.getByText('Everything is paused').count()).toBe(0);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.keyboard.press('Control+\\');
  await leave.getByText('Saved').waitFor();
  expect(await page.evaluate("localStorage.getItem('leaveKey')")).toBe('Ctrl+\\');
  await leave.getByRole('button', { name: 'Use Ctrl+]' }).click();
  expect(await page.evaluate("localStorage.getItem('leaveKey')")).toBe('Ctrl+]');
});

test('everything is reached by keyboard alone', async () => {
  const page = await desk.loggedIn('/settings/terminal');
  await field(page, 'Scrollback').last().waitFor();
  await page.locator('nav[aria-label="Sections"] a').first().focus();
  const seen = new Set<string>();
  for (let step = 0; step < 30; step++) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate("document.activeElement.closest('[role=group]')?.getAttribute('aria-label') ?? ''"));
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(['Scrollback', 'TERM_PROGRAM', 'Copy on select', 'Bell', 'Use my window’s size']),
  );
});

test('R-RPC-141: the page is ours alone, and its old files are gone', async () => {
  for (const path of ['/settings', '/settings/rules']) {
    const { status, headers, text } = await askHttp(`${desk.url}${path}`);
    expect([path, status]).toEqual([path, 200]);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
    expect(text).toContain('<title>Fairlead</title>');
    expect((await askHttp(`${desk.url}${path}`, { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await askHttp(`${desk.url}${path}`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    expect((await askHttp(`${desk.url}${path}`, { method: 'POST' })).status).toBe(405);
  }
  // R-RPC-140: the files of the dashboard, and no other file of this machine.
  const [, script] = /src="\/assets\/([^"]+)"/.exec((await askHttp(`${desk.url}/`)).text) ?? [];
  expect((await askHttp(`${desk.url}/static/${script}`)).status).toBe(200);
  for (const path of ['/static/', '/static/settings.js', '/static/index.html', '/static/..%2f..%2fpackage.json']) {
    expect([path, (await askHttp(`${desk.url}${path}`)).status]).toEqual([path, 404]);
  }
  expect(await askHttp(`${desk.url}/favicon.ico`)).toMatchObject({ status: 204, text: '' });
});

test('logging out ends the login, and what the browser kept is gone', async () => {
  const page = await desk.loggedIn('/settings/about');
  await page.getByText('Version', { exact: true }).waitFor();
  await page.evaluate("localStorage.setItem('density', 'compact')");
  await page.getByRole('button', { name: 'Log out' }).press('Enter');
  await expect.poll(() => page.locator('body').innerText(), soon).toContain('You are not logged in.');
  expect(await page.evaluate('localStorage.length')).toBe(0);
  await page.goto(desk.url);
  await expect.poll(() => page.locator('body').innerText(), soon).toContain('You are not logged in.');
});

test.each(looks)(
  'no serious fault of accessibility, no violation of the policy: %s, %i×%i',
  async (theme, width, height) => {
    const page = await desk.loggedIn();
    await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
    await page.setViewportSize({ width, height });
    const sections = [
      'appearance',
      'terminal',
      'notifications',
      'accessibility',
      'recording',
      'rules',
      'network',
      'language',
      'about',
    ];
    for (const section of sections) {
      await page.goto(`${desk.url}/settings/${section}`);
      await page.locator('main').waitFor();
      await page.waitForTimeout(300);
      expect(await axeFaults(page), section).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), section).toBe(true);
    }
    expect(desk.violations).toEqual([]);
  },
);
