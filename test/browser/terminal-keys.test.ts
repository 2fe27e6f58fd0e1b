import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  expect(desk.violations).toEqual([]);
  await desk[Symbol.asyncDispose]();
});

const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();
const body = (page: Page): Promise<string> => page.locator('body').innerText();
const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement.className + ' ' + document.activeElement.id`);

async function at(id: string): Promise<Page> {
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await expect.poll(() => screen(page)).toMatch(/[$#]/);
  return page;
}

test('by the keyboard alone: leave, choose a block, take over, hand back, go in again', async () => {
  const id = await desk.open('keys');
  await desk.run(id, 'echo one');
  await desk.run(id, 'echo two');
  const page = await at(id);
  await expect.poll(() => focused(page)).toContain('xterm-helper-textarea');
  // Tab belongs to the program.
  await page.keyboard.press('Tab');
  expect(await focused(page)).toContain('xterm-helper-textarea');
  await page.keyboard.press('Control+]');
  await expect.poll(() => focused(page)).toContain('terminal');
  await page.keyboard.press('k');
  await expect.poll(() => page.locator('aside [aria-current]').innerText()).toContain('echo two');
  await page.keyboard.press('k');
  await expect.poll(() => page.locator('aside [aria-current]').innerText()).toContain('echo one');
  await page.keyboard.press('t');
  await expect.poll(() => body(page)).toContain('You have the keyboard');
  await page.keyboard.press('Control+]');
  await page.keyboard.press('t');
  const strip = page.getByRole('form', { name: 'Hand the keyboard back' });
  await strip.waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => body(page)).not.toContain('You have the keyboard');
  await page.keyboard.press('Control+]');
  await page.keyboard.press('i');
  await expect.poll(() => focused(page)).toContain('xterm-helper-textarea');
  await page.keyboard.type('echo $((8 * 8))in\n');
  await expect.poll(() => screen(page)).toContain('64in');
});

test('Ctrl+] twice is sent, Ctrl+Shift+B folds the rail, Ctrl+Shift+L reads as text', async () => {
  const id = await desk.open('leave');
  const page = await at(id);
  await page.keyboard.type('cat -v\n');
  await page.keyboard.press('Control+]');
  await page.keyboard.press('Control+]');
  await expect.poll(() => screen(page)).toContain('^]');
  await expect.poll(() => focused(page)).toContain('xterm-helper-textarea');
  await page.keyboard.press('Control+c');
  const rail = page.getByRole('complementary', { name: 'Commands and details' });
  await rail.waitFor();
  await page.keyboard.press('Control+Shift+b');
  await rail.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+Shift+b');
  await rail.waitFor();
  await desk.run(id, `printf 'visible \\342\\200\\256hidden\\n'; false`);
  await expect.poll(() => screen(page)).toContain('visible');
  await page.keyboard.press('Control+Shift+l');
  const log = page.getByRole('log');
  await log.waitFor();
  await expect.poll(() => log.getByRole('heading').last().innerText()).toMatch(/printf .* exit 1/);
  expect(await log.innerText()).not.toContain('\u202e');
  await page.keyboard.press('Escape');
  await log.waitFor({ state: 'detached' });
});

test('the rail: copy a command and its output, type it again without Enter, link to it, details, calls', async () => {
  const id = await desk.open('railed');
  await desk.run(id, 'echo $((30 + 3))rail');
  const page = await at(id);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const clipboard = (): Promise<string> => page.evaluate('navigator.clipboard.readText()');
  const rail = page.getByRole('complementary');
  await rail.getByRole('button', { name: /echo/ }).click();
  await rail.getByRole('button', { name: 'Copy command' }).click();
  await expect.poll(clipboard).toBe('echo $((30 + 3))rail');
  await rail.getByRole('button', { name: 'Copy output' }).click();
  await expect.poll(clipboard).toBe('33rail');
  await rail.getByRole('button', { name: 'Link' }).click();
  await expect.poll(clipboard).toBe(`${desk.url}/t/${id}?block=1`);
  // The agent's few seconds are over, or the bar would come.
  await expect.poll(() => body(page)).toContain('Type to use it');
  await rail.getByRole('button', { name: 'Type it again' }).click();
  await expect.poll(async () => (await screen(page)).match(/echo \$\(\(30 \+ 3\)\)rail/g)?.length).toBe(2);
  expect((await screen(page)).match(/33rail/g)?.length).toBe(1);
  await rail.getByRole('tab', { name: 'Details' }).click();
  await expect.poll(() => rail.innerText()).toMatch(/Pid\s+\d+/);
  expect(await rail.innerText()).toContain(`fairlead attach ${id}`);
  await rail.getByRole('tab', { name: 'Calls' }).click();
  await expect.poll(() => rail.innerText()).toContain('terminal.run');
  // The link chooses the block.
  await page.goto(`${desk.url}/t/${id}?block=1`);
  await expect.poll(() => page.locator('aside [aria-current]').innerText()).toContain('echo');
});

test('menu: rename, record, close with the focus on Cancel', async () => {
  const id = await desk.open('old name');
  const page = await at(id);
  const menu = page.getByRole('button', { name: 'More about this terminal' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Name of the terminal').fill('new name');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('h1').innerText()).toBe('new name');
  await menu.click();
  await page.getByRole('menuitem', { name: 'Start recording' }).click();
  await expect.poll(() => body(page)).toMatch(/Recording 0:0\d/);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Stop recording' }).click();
  await expect.poll(() => body(page)).not.toMatch(/Recording 0:/);
  await menu.click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Close terminal…' }).click();
  await dialog.getByRole('button', { name: 'Close new name' }).click();
  await expect.poll(() => page.url()).toBe(`${desk.url}/`);
});

test('a terminal without marks says so, and shows who typed', async () => {
  const id = await desk.openProgram('plain', ['/bin/cat']);
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await page.keyboard.type('abc\n');
  await expect.poll(() => screen(page)).toContain('abc');
  await expect
    .poll(() => page.getByRole('complementary').innerText())
    .toContain('No command marks here. Showing what was typed.');
});

/** Chooses for this browser and opens the page again. */
async function choose(page: Page, choices: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(choices))
    await page.evaluate(`localStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(value)})`);
  await page.reload();
  await expect.poll(() => screen(page)).toMatch(/[$#]/);
}

test('the bell is silent until the person chooses a tone', async () => {
  const id = await desk.open('bell');
  const page = await at(id);
  await page.addInitScript(`window.tones = 0;
    const make = AudioContext.prototype.createOscillator;
    AudioContext.prototype.createOscillator = function () { window.tones += 1; return make.call(this); };`);
  await page.reload();
  await expect.poll(() => screen(page)).toMatch(/[$#]/);
  await desk.run(id, String.raw`printf '\a'; echo si''lent`);
  await expect.poll(() => screen(page)).toContain('silent');
  expect(await page.evaluate('window.tones')).toBe(0);
  await choose(page, { bell: 'sound' });
  await desk.run(id, String.raw`printf '\a\a\a'; echo lo''ud`);
  await expect.poll(() => screen(page)).toContain('loud');
  await expect.poll(() => page.evaluate('window.tones')).toBe(1);
});

test('a screen reader hears when a command ends, or all output, or nothing', async () => {
  const id = await desk.open('heard');
  const page = await at(id);
  const said = (): Promise<string> => page.locator('[aria-live=polite]').first().innerText();
  const heard = page.locator('.live-region[aria-live=assertive]');
  await desk.run(id, 'false');
  await expect.poll(said).toBe('Failed: false, exit 1.');
  // Rows for a screen reader alone announce nothing.
  await choose(page, { screenReader: 'true', announcements: 'nothing' });
  await desk.run(id, "echo un''heard");
  await page.locator('#blocks .row').nth(1).waitFor();
  await page.locator('.live-region[aria-live=off]').waitFor({ state: 'attached' });
  expect([await heard.count(), await said()]).toEqual([0, '']);
  await choose(page, { screenReader: 'false', announcements: 'all_output' });
  await desk.run(id, "echo al''l-of-it");
  await expect.poll(() => heard.innerText()).toContain('all-of-it');
  expect(await said()).toBe('');
});
