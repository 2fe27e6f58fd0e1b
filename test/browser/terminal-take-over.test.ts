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
const size = (page: Page): Promise<string> => page.locator('footer .size').innerText();

/** A terminal in which an agent's command runs, and a person who looks at it. */
async function watching(name: string, command: string): Promise<{ id: string; page: Page }> {
  const id = await desk.open(name);
  await desk.run(id, command);
  const page = await desk.loggedIn(`/t/${id}`);
  await page.locator('.xterm-rows').waitFor();
  await expect.poll(() => body(page)).toContain('Watching, your keys are not sent');
  return { id, page };
}

test('a person takes over in mid-command and hands back; the agent is told exactly what the person saw (R-HUB-087)', async () => {
  const { id, page } = await watching('shared', 'sleep 30');
  await page.keyboard.type('x');
  await expect.poll(() => body(page)).toContain('is typing here.');
  // Blind typing takes nothing over, and nothing of it arrives.
  await page.keyboard.type('yes\n');
  expect(await body(page)).toContain('is typing here.');
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => body(page)).toMatch(/sleep 30 has been running for \d+ s\./);
  await page.getByRole('button', { name: 'Take over now' }).click();
  await expect.poll(() => body(page)).toMatch(/You have the keyboard\. .* waits\./);
  expect(await desk.send(id, 'rm -rf /')).toMatchObject({ error: { code: 'conflict', data: { keyboard_taken: {} } } });
  await page.keyboard.press('Control+c');
  await page.keyboard.type('cd /usr && echo $((6 * 7))mine');
  await page.keyboard.press('Enter');
  await expect.poll(() => screen(page)).toContain('42mine');
  await page.getByRole('button', { name: 'Hand back' }).first().click();
  const strip = page.getByRole('form', { name: 'Hand the keyboard back' });
  await strip.getByLabel('A note for the agent').fill('it is up again');
  await expect.poll(() => strip.innerText()).toContain('They say: "it is up again"');
  expect(await strip.innerText()).toMatch(
    /had the keyboard for \d+ s and ran 1 command; it exited 0\. The directory is \/usr\./,
  );
  await page.keyboard.press('Enter');
  await expect.poll(() => body(page)).not.toContain('You have the keyboard');
  const told = JSON.stringify(await desk.send(id, 'echo back'));
  expect(told).not.toContain('"error"');
  await expect.poll(() => screen(page)).toContain('back');
  expect(await screen(page)).not.toContain('rm -rf');
  expect(await screen(page)).not.toContain('yes');
});

test('when it ends: the command goes on, and the keyboard comes at its end; Esc and Keep watching take nothing', async () => {
  const { id, page } = await watching('later', 'read line; echo "got $line"');
  await page.keyboard.type('x');
  await page.keyboard.press('Escape');
  await expect.poll(() => body(page)).not.toContain('is typing here.');
  await page.getByRole('button', { name: 'Take over', exact: false }).click();
  const choice = page.getByRole('button', { name: 'Take over when it ends' });
  await choice.waitFor();
  expect(await choice.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await expect.poll(() => body(page)).toContain('You get the keyboard when');
  expect(await desk.send(id, 'answer')).not.toHaveProperty('error');
  await expect.poll(() => screen(page)).toContain('got answer');
  await expect.poll(() => body(page)).toContain('You have the keyboard.');
  await page.keyboard.type('echo $((20 + 1))typed\n');
  await expect.poll(() => screen(page)).toContain('21typed');
  expect(await desk.send(id, 'no')).toMatchObject({ error: { code: 'conflict' } });
  // It is still this tab's after a reload.
  await page.reload();
  await expect.poll(() => body(page)).toContain('You have the keyboard.');
});

test('Send Ctrl+C ends the command of the agent and takes nothing over', async () => {
  const { page } = await watching('stopped', 'sleep 60');
  await page.keyboard.type('x');
  await page.getByRole('button', { name: 'Send Ctrl+C' }).click();
  await expect.poll(() => screen(page)).toContain('^C');
  await expect.poll(() => body(page)).not.toContain('has the keyboard');
  await expect.poll(() => body(page)).toContain('Type to use it');
});

test('the size follows the person who takes over, and returns; looking changes nothing', async () => {
  const { page } = await watching('sized', 'sleep 60');
  expect(await size(page)).toBe('120×30');
  await page.setViewportSize({ width: 1500, height: 700 });
  await page.keyboard.type('x');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Take over now' }).click();
  await expect.poll(() => size(page)).toMatch(/^\d+×\d+, set by person$/);
  const taken = await size(page);
  expect(taken).not.toMatch(/^120×30/);
  await page.setViewportSize({ width: 1300, height: 800 });
  await expect.poll(() => size(page)).not.toBe(taken);
  await page.keyboard.press('Control+c');
  await page.keyboard.type('stty size\n');
  const [cols, rows] = (await size(page)).split(',')[0]?.split('×') ?? [];
  await expect.poll(() => screen(page)).toContain(`${rows} ${cols}`);
  await page.getByRole('button', { name: 'Hand back' }).first().click();
  await page.keyboard.press('Enter');
  await expect.poll(() => size(page)).toBe('120×30');
  // Who does not want it keeps the size as it is.
  await page.locator('footer .size button').click();
  await page.getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Take over', exact: false }).click();
  await expect.poll(() => body(page)).toContain('You have the keyboard.');
  expect(await size(page)).toBe('120×30');
});

test('another person takes it: a red bar, keys stop at once, and what was not accepted is shown', async () => {
  const { id, page } = await watching('lost', 'sleep 60');
  await page.keyboard.type('x');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Take over now' }).click();
  await expect.poll(() => body(page)).toContain('You have the keyboard.');
  const other = await desk.loggedIn(`/t/${id}`);
  await other.locator('.xterm-rows').waitFor();
  await expect.poll(() => body(other)).toContain('person has the keyboard');
  await other.keyboard.type('y');
  await expect.poll(() => body(other)).toContain('person has the keyboard.');
  await other.keyboard.press('Control+Enter');
  await other.getByRole('button', { name: 'Take over now' }).click();
  await expect.poll(() => page.getByRole('alert').innerText()).toContain('person took the keyboard.');
  await page.keyboard.type('z');
  await expect.poll(() => body(page)).toContain('Take over');
  expect(await screen(other)).not.toContain('z');
});
