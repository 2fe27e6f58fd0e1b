import type { Page, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';
import { freePort } from '../support/ssh/sshd.ts';

let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open({ port: await freePort() });
}, 60_000);
afterAll(async () => {
  expect(desk.violations).toEqual([]);
  await desk[Symbol.asyncDispose]();
});

const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText();
const body = (page: Page): Promise<string> => page.locator('body').innerText();

/** A page whose frames can be held back, and whose link can be cut and kept away. */
class Link {
  page!: Page;
  isHeld = false;
  isAway = false;
  readonly #held: (() => void)[] = [];
  #socket: WebSocketRoute | undefined;

  static async to(path: string): Promise<Link> {
    const link = new Link();
    link.page = await desk.newPage();
    await link.page.routeWebSocket(/\/api\/live$/, (socket) => {
      if (link.isAway) return void socket.close({ code: 1013, reason: 'away' });
      link.#socket = socket;
      const server = socket.connectToServer();
      socket.onMessage((frame) => {
        if (link.isHeld && String(frame).includes('person.type')) link.#held.push(() => server.send(frame));
        else server.send(frame);
      });
    });
    await link.page.goto(await desk.link());
    await link.page.getByRole('heading', { name: 'Now' }).waitFor();
    await link.page.goto(`${desk.url}${path}`);
    await link.page.locator('.xterm-rows').waitFor();
    await expect.poll(() => screen(link.page)).toMatch(/[$#]/);
    return link;
  }

  let(): void {
    this.isHeld = false;
    for (const send of this.#held.splice(0)) send();
  }

  async cut(): Promise<void> {
    this.isAway = true;
    await this.#socket?.close({ code: 1013, reason: 'cut' });
  }
}

test('a slow link says how many keys are on the way, takes 4 KiB at most, and loses none of them', async () => {
  const id = await desk.open('slow');
  const link = await Link.to(`/t/${id}`);
  const { page } = link;
  await expect.poll(() => body(page)).toMatch(/Live\s+\d+ ms/);
  link.isHeld = true;
  await page.keyboard.type('echo $((1 + 1))x');
  await expect.poll(() => body(page)).toContain('Slow link: 16 keys on the way');
  await expect.poll(() => body(page)).toMatch(/Late\s+\d\.\d s/);
  await page.keyboard.press('Enter');
  await expect.poll(() => body(page)).toContain('Slow link: 17 keys on the way');
  await page.keyboard.insertText('y'.repeat(4096));
  await expect.poll(() => page.locator('footer.shake').count()).toBe(1);
  link.let();
  await expect.poll(() => screen(page)).toContain('2x');
  expect(await screen(page)).not.toContain('yyyy');
  await expect.poll(() => body(page)).not.toContain('Slow link');
});

test('what was typed and not accepted is shown when another has taken the keyboard meanwhile', async () => {
  const id = await desk.open('refused');
  const link = await Link.to(`/t/${id}`);
  const { page } = link;
  const other = await desk.loggedIn(`/t/${id}`);
  await other.locator('.xterm-rows').waitFor();
  link.isHeld = true;
  await page.keyboard.type('systemctl st');
  await expect.poll(() => body(page)).toContain('Slow link: 12 keys on the way');
  await other.getByRole('button', { name: /^Take over/ }).click();
  await expect.poll(() => body(other)).toContain('You have the keyboard.');
  link.let();
  await expect
    .poll(() => page.getByRole('alert').innerText())
    .toMatch(/person has the keyboard\. “systemctl st” was not sent\./);
  expect(await screen(page)).not.toContain('systemctl');
});

test('a lost link: the screen is dated, keys are not sent, and it is back without a gap', async () => {
  const id = await desk.open('cut');
  const link = await Link.to(`/t/${id}`);
  const { page } = link;
  await link.cut();
  await expect
    .poll(() => page.getByRole('alert').innerText())
    .toMatch(/Connection lost\. This is the screen of \d\d:\d\d:\d\d\.( Next try in \d+ s\.)?/);
  await expect.poll(() => body(page)).toContain('Keys are not sent now');
  await page.keyboard.type('echo lost\n');
  await desk.run(id, 'echo mean""while');
  link.isAway = false;
  await page.getByRole('button', { name: 'Try now' }).click();
  await expect.poll(() => body(page)).toMatch(/Back\. .* came in meanwhile\./);
  await expect.poll(() => screen(page)).toContain('meanwhile');
  expect(await screen(page)).not.toContain('echo lost');
  await expect.poll(() => body(page)).not.toContain('Back.');
  // The few seconds of the agent that ran something are over.
  await expect.poll(() => body(page)).toContain('Type to use it');
  await page.keyboard.type('echo $((3 * 3))now\n');
  await expect.poll(() => screen(page)).toContain('9now');
});

test('the end is said with exit and time, and Open again opens one like it', async () => {
  const id = await desk.open('ends');
  const { page } = await Link.to(`/t/${id}`);
  await page.keyboard.type('exit 3\n');
  await expect.poll(() => body(page)).toMatch(/Ended with exit 3 at \d\d:\d\d\. Kept until \d\d:\d\d\./);
  expect(await body(page)).not.toContain('Type to use it');
  expect(await page.getByRole('button', { name: /Take over/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Open again' }).click();
  await expect.poll(() => page.url()).not.toContain(id);
  await expect.poll(() => page.locator('h1').innerText()).toBe('ends');
  await expect.poll(() => body(page)).toContain('Type to use it');
});

test('a server that restarts says so, and the terminal goes on', async () => {
  const id = await desk.open('kept');
  const { page } = await Link.to(`/t/${id}`);
  await page.keyboard.type('echo $((4 * 4))before\n');
  await expect.poll(() => screen(page)).toContain('16before');
  await desk.restart();
  await expect.poll(() => body(page), { timeout: 40_000 }).toMatch(/Live\s+\d+ ms/);
  await page.keyboard.type('echo $((5 * 5))after\n');
  await expect.poll(() => screen(page)).toContain('25after');
  expect(await screen(page)).toContain('16before');
});
