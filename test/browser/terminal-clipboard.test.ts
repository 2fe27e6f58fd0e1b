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
const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()');

async function at(id: string): Promise<Page> {
  const page = await desk.loggedIn(`/t/${id}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('.xterm-rows').waitFor();
  await expect.poll(() => screen(page)).toMatch(/[$#>]/);
  return page;
}

/** As Ctrl+Shift+V does it: the browser brings the text. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`{
    const data = new DataTransfer();
    data.setData('text/plain', ${JSON.stringify(text)});
    document.querySelector('.xterm-helper-textarea').dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }`);
}

test('several lines are shown before they are pasted into a program that cannot tell a paste', async () => {
  const id = await desk.open('pasted');
  const page = await at(id);
  // cat reads lines and asks for no bracketed paste.
  await page.keyboard.type('cat > /dev/null; bind "set enable-bracketed-paste off"\n');
  // Before the shell hands the terminal over, nothing is echoed.
  await expect.poll(() => page.getByRole('complementary').innerText()).toContain('Running');
  await paste(page, 'one line');
  await expect.poll(() => screen(page)).toContain('one line');
  await paste(page, 'alpha\nbeta\u202e\ngamma');
  const dock = page.getByRole('alertdialog');
  await expect.poll(() => dock.innerText()).toContain('Paste 3 lines? Each Enter runs.');
  expect(await dock.innerText()).toContain('U+202E');
  expect(await screen(page)).not.toContain('alpha');
  await page.keyboard.press('Escape');
  await dock.waitFor({ state: 'detached' });
  expect(await screen(page)).not.toContain('alpha');
  await paste(page, 'alpha\nbeta');
  await dock.waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => screen(page)).toContain('beta');
  await paste(page, 'x'.repeat((256 << 10) + 1));
  await expect.poll(() => body(page)).toContain('256 KiB is the most');
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.keyboard.press('Control+c');
});

test('a program that can tell a paste gets the lines as one', async () => {
  const id = await desk.open('bracketed');
  const page = await at(id);
  await page.keyboard.type("printf '\\033[?2004h'; head -c 29 | cat -v\n");
  await expect.poll(() => screen(page)).toContain('cat -v');
  await paste(page, 'first\nsecond\n');
  await expect.poll(() => screen(page)).toContain('^[[200~first');
  expect(await page.getByRole('alertdialog').count()).toBe(0);
  await page.keyboard.press('Control+c');
});

test('copies the selection with wrapped rows joined, by Ctrl+Shift+C', async () => {
  const id = await desk.open('copied');
  const page = await at(id);
  const long = 'word'.repeat(45);
  await desk.run(id, `echo ${long}`);
  await expect.poll(() => screen(page)).toContain('wordword');
  await page.keyboard.press('Control+Shift+f');
  await page.getByRole('search').getByLabel('Find', { exact: true }).fill(long);
  await page.getByRole('main').click({ position: { x: 5, y: 5 }, trial: true });
  await page.evaluate(`document.querySelector('.xterm-helper-textarea').focus()`);
  await page.keyboard.press('Control+Shift+c');
  await expect.poll(() => clipboard(page)).toBe(long);
});

test('a link of a program shows its whole address first; only http and https are links', async () => {
  const id = await desk.open('links');
  const page = await at(id);
  const target = 'https://example.test/path?a=1#part';
  await desk.run(
    id,
    `printf '\\033]8;;${target}\\033\\\\CLICKME\\033]8;;\\033\\\\ \\033]8;;javascript:alert(1)\\033\\\\EVIL\\033]8;;\\033\\\\\\n'`,
  );
  await expect.poll(() => screen(page)).toMatch(/CLICKME EVIL\s*\n/);
  const cell = async (word: string): Promise<{ x: number; y: number }> => {
    const rows = page.locator('.xterm-rows > div');
    const texts = await rows.allInnerTexts();
    const row = texts.findLastIndex((text) => text.includes('CLICKME EVIL'));
    const box = await rows.nth(row).boundingBox();
    if (!box) throw new Error('no row');
    const column = (texts[row] ?? '').indexOf(word);
    const cols = Number((await page.locator('footer .size').innerText()).split('×')[0]);
    return { x: box.x + ((column + 1.5) * box.width) / cols, y: box.y + box.height / 2 };
  };
  const evil = await cell('EVIL');
  await page.mouse.move(evil.x, evil.y);
  await page.mouse.click(evil.x, evil.y);
  await page.waitForTimeout(300);
  expect(await page.getByRole('dialog').count()).toBe(0);
  const click = await cell('CLICKME');
  await page.mouse.move(click.x, click.y, { steps: 4 });
  await page.mouse.click(click.x, click.y);
  const offer = page.getByRole('dialog', { name: 'A link of the program' });
  await expect.poll(() => offer.innerText()).toContain(target);
  const open = offer.getByRole('link', { name: 'Open example.test' });
  expect(await open.getAttribute('rel')).toBe('noopener noreferrer');
  await offer.getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => clipboard(page)).toBe(target);
});

test('what a program wants on the clipboard waits for a click, and it cannot read it', async () => {
  const id = await desk.open('offers');
  const page = await at(id);
  await page.evaluate(`navigator.clipboard.writeText('mine')`);
  const text = 'x'.repeat(214);
  await desk.run(id, `printf '\\033]52;c;${Buffer.from(text).toString('base64')}\\007'`);
  await expect.poll(() => body(page)).toContain('The program offers 214 characters');
  expect(await clipboard(page)).toBe('mine');
  await page.getByRole('status').getByRole('button', { name: 'Copy' }).click();
  await expect.poll(() => clipboard(page)).toBe(text);
  await page.evaluate(`navigator.clipboard.writeText('secret of mine')`);
  await desk.run(id, `printf '\\033]52;c;?\\007'; sleep 0.3; echo as""ked`);
  await expect.poll(() => screen(page)).toContain('asked');
  expect(await body(page)).not.toContain('The program offers');
  expect(await screen(page)).not.toContain(Buffer.from('secret of mine').toString('base64').slice(0, 8));
});
