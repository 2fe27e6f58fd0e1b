import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const soon = { timeout: 20_000 };

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

/** What the open terminal shows. */
const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();
const body = (page: Page): Promise<string> => page.locator('body').innerText();

describe('logging in', () => {
  test('by a link, once: the code leaves the address before anything is asked', async () => {
    const link = await desk.link();
    const page = await desk.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(link);
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    expect(asked.filter((url) => url.includes(link.split('#code=')[1] ?? link))).toEqual([]);
    const stranger = await desk.newPage();
    await stranger.goto(link);
    await expect.poll(() => body(stranger), soon).toContain('This link was used or is older than a minute.');
    await stranger.goto(desk.url);
    await expect.poll(() => body(stranger), soon).toContain('You are not logged in.');
    // The page of a browser that is logged in survives a reload.
    await page.reload();
    await page.getByRole('heading', { name: 'Now' }).waitFor();
  });
});

describe('now', () => {
  test('a tile shows name, state and the last rows, and leads to its terminal', async () => {
    const page = await desk.loggedIn();
    const id = await desk.open('build job');
    await desk.run(id, 'echo checking; false');
    const tile = page.getByRole('link', { name: /^build job.*Failed · exit 1/ });
    await tile.waitFor();
    await expect.poll(() => tile.innerText(), soon).toContain('checking');
    await tile.click();
    await expect.poll(() => page.url(), soon).toBe(`${desk.url}/t/${id}`);
    await expect.poll(() => screen(page), soon).toContain('checking');
  });

  test('C opens a terminal on any target; a bad one is told in words', async () => {
    const page = await desk.loggedIn();
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Where').fill('mars:base');
    await dialog.getByRole('button', { name: 'Open terminal' }).click();
    await expect.poll(() => dialog.innerText(), soon).toContain('There is no target');
    await dialog.getByLabel('Where').fill('local');
    await dialog.getByLabel('Name').fill('made here');
    await dialog.getByRole('button', { name: 'Open terminal' }).click();
    await expect.poll(() => page.locator('h1').innerText(), soon).toBe('made here');
  });
});

describe('a terminal', () => {
  test('shows what is printed and takes what is typed', async () => {
    const id = await desk.open('typed');
    const page = await desk.loggedIn(`/t/${id}`);
    await page.locator('.xterm-rows').waitFor();
    await expect.poll(() => screen(page), soon).toMatch(/\$|#/);
    await page.keyboard.type('echo $((40 + 2))ok');
    await page.keyboard.press('Enter');
    await expect.poll(() => screen(page), soon).toContain('42ok');
    const { entries } = await desk.audit();
    expect(JSON.stringify(entries)).not.toContain('42ok');
  });

  test('a secret goes from the page into the program, and nowhere else', async () => {
    const secret = 'correct-horse-77';
    const id = await desk.open('sudo');
    await desk.run(
      id,
      'read -s -p "[sudo] password for deploy: " x; echo; test "$x" = "$(printf %s-horse-77 correct)" && echo ri""ght',
    );
    const page = await desk.loggedIn(`/t/${id}`);
    const field = page.getByLabel('Secret');
    await field.waitFor();
    expect(await field.getAttribute('type')).toBe('password');
    await page.waitForTimeout(450);
    await field.fill(secret);
    await field.press('Enter');
    await expect.poll(() => screen(page), soon).toContain('right');
    await field.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);
    const { entries } = await desk.audit();
    expect(JSON.stringify(entries)).not.toContain(secret);
    expect(filesWith(desk.home, secret)).toEqual([]);
  });

  test('goes on without a gap and without a byte twice, however often the link is cut', async () => {
    const id = await desk.open('counter');
    const cuts: (() => Promise<void>)[] = [];
    const page = await desk.newPage();
    await page.routeWebSocket(/\/api\/live$/, (socket) => {
      socket.connectToServer();
      cuts.push(() => socket.close({ code: 1001, reason: 'cut' }));
    });
    await page.goto(await desk.link());
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await page.goto(`${desk.url}/t/${id}`);
    await page.locator('.xterm-rows').waitFor();
    await desk.run(id, 'for i in $(seq 1 150); do echo "line $i"; sleep 0.04; done; echo fin""ished');
    for (let cut = 0; cut < 6; cut++) {
      await page.waitForTimeout(300 + Math.random() * 700);
      await cuts.at(-1)?.();
    }
    await expect.poll(() => screen(page), { timeout: 60_000 }).toContain('finished');
    // Everything that was ever shown, from the top of the scroll-back: each line once, none twice.
    await page.keyboard.press('Control+Shift+f');
    await page.getByRole('button', { name: 'Regular expression' }).click();
    const find = page.getByLabel('Find', { exact: true });
    await find.fill('^line \\d+$');
    expect(await page.getByRole('search').innerText()).toMatch(/ of 150\b/);
    for (let line = 1; line <= 150; line++) {
      await find.fill(`^line ${line}$`);
      expect(await page.getByRole('search').innerText(), `line ${line}`).toContain('1 of 1');
    }
  }, 120_000);

  test('HTML, direction tricks and a title of a megabyte change nothing outside of it', async () => {
    const id = await desk.open('hostile');
    const page = await desk.loggedIn(`/t/${id}`);
    await page.locator('.xterm-rows').waitFor();
    await desk.run(
      id,
      `printf '\\033]0;%s\\007' "$(head -c 1000000 /dev/zero | tr '\\0' '<')"; printf '<img src=x onerror=alert(1)> \\342\\200\\256 evil\\n'`,
    );
    await expect.poll(() => screen(page), soon).toContain('<img src=x');
    await page.goto(desk.url);
    await page.getByRole('link', { name: /hostile/ }).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect((await body(page)).length).toBeLessThan(20_000);
  });

  test('that is not there is said so', async () => {
    const page = await desk.loggedIn('/t/t_nothing1');
    await expect.poll(() => body(page), soon).toContain('There is no terminal t_nothing1.');
  });
});

test.each([
  ['dark', 1280, 900],
  ['light', 1280, 900],
  ['dark', 390, 844],
  ['light', 390, 844],
])(
  'no serious fault of accessibility and no violation of the policy: %s, %i×%i',
  async (theme, width, height) => {
    const id = await desk.open('axe');
    const page = await desk.loggedIn();
    await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
    await page.setViewportSize({ width, height });
    for (const path of ['/', `/t/${id}`, '/t/none']) {
      await page.goto(`${desk.url}${path}`);
      await page.waitForTimeout(800);
      expect(await faults(page), path).toEqual([]);
    }
    expect(desk.violations).toEqual([]);
  },
  60_000,
);

/** Serious and critical findings of axe. */
async function faults(page: Page): Promise<string[]> {
  // As a string: the policy of the page does not bind the debugger.
  const found = await page.evaluate<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>(
    `${axe}; axe.run(document, { resultTypes: ['violations'] })`,
  );
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .filter((file) => readFileSync(file).includes(text));
}
