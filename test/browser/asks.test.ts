import { afterAll, beforeAll, expect, test } from 'vitest';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
let desk: DashboardDesk;
beforeAll(async () => {
  desk = await DashboardDesk.open();
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

test('/asks/:id is complete on a phone without scrolling, takes the secret and says what became of it', async () => {
  const id = await desk.open('db-1 maintenance');
  await desk.run(
    id,
    'read -s -p "[sudo] password for deploy: " x; echo; test "$x" = open-sesame-9 && echo ri""ght; sleep 60',
  );
  const page = await desk.loggedIn();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${desk.url}/asks/${id}`);
  const field = page.getByLabel('Secret');
  await field.waitFor();
  for (const name of ['Send', 'Not now', 'Send Ctrl+C']) {
    const box = await page.getByRole('button', { name, exact: true }).boundingBox();
    expect(box && box.y + box.height, name).toBeLessThan(844 - 78);
    expect(box?.height, name).toBeGreaterThanOrEqual(44);
  }
  // One small picture of its screen.
  await expect.poll(() => page.locator('.peek').innerText(), soon).toContain('password for deploy');
  await page.waitForTimeout(450);
  await field.fill('open-sesame-9');
  await field.press('Enter');
  await expect.poll(() => page.locator('.receipt').innerText(), soon).toMatch(/Sent .* · delivered/);
  await expect.poll(() => desk.text(id), soon).toContain('right');
  expect(await page.content()).not.toContain('open-sesame-9');
  await expect.poll(() => page.locator('main').innerText(), soon).toContain('This needs you no more.');
});

test('offline: the card stays, its buttons are off, and nothing is sent', async () => {
  const id = await desk.open('offline');
  await desk.run(id, 'read -p "Go on? [y/n] " x; echo "said $x"');
  const page = await desk.loggedIn();
  let isCut = false;
  const cuts: (() => Promise<void>)[] = [];
  await page.routeWebSocket(/\/api\/live$/, (socket) => {
    if (isCut) return void socket.close({ code: 1001 });
    socket.connectToServer();
    cuts.push(() => socket.close({ code: 1001 }));
  });
  await page.goto(`${desk.url}/asks/${id}`);
  const yes = page.getByRole('button', { name: 'y', exact: true });
  await yes.waitFor();
  isCut = true;
  await cuts.at(-1)?.();
  await expect.poll(() => page.locator('main').innerText(), soon).toContain('You are offline. Nothing was sent.');
  expect(await yes.isDisabled()).toBe(true);
  expect(await page.locator('.stale').innerText()).toMatch(/as of \d\d:\d\d:\d\d/);
  isCut = false;
  await expect.poll(() => yes.isEnabled(), soon).toBe(true);
  expect(await desk.text(id)).not.toContain('said y');
});
