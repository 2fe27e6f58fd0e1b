import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFaults, looks } from '../support/axe.ts';
import { DashboardDesk } from '../support/dashboard.ts';

const soon = { timeout: 20_000 };
const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ456789';

let desk: DashboardDesk;
/** A cast and the log of one shell: four commands, one failed, one with a pause, one with a secret. */
let cast: string;
let log: string;
beforeAll(async () => {
  desk = await DashboardDesk.open();
  ({ cast, log } = await record('deploy', [
    'seq -f "line %g of many" 1 40',
    'grep nothing /etc/hostname',
    `echo TOKEN=${secret}`,
    'echo first; sleep 3; echo second',
  ]));
}, 60_000);
afterAll(async () => {
  await desk[Symbol.asyncDispose]();
});

async function record(name: string, commands: readonly string[]): Promise<{ cast: string; log: string }> {
  const terminal = await desk.open(name);
  const { recordingId } = await desk.ask<{ recordingId: string }>('cast/start', { sessionId: terminal, title: name });
  const { session_id } = await desk.ask<{ session_id: string }>('session/recording_start', { id: terminal });
  for (const command of commands) await desk.ask('terminal/run', { terminal, command, timeoutMs: 20_000 });
  await desk.ask('cast/stop', { recordingId });
  await desk.ask('session/recording_stop', { id: terminal });
  return { cast: recordingId, log: session_id };
}

const body = (page: Page): Promise<string> => page.locator('body').innerText();
const slider = (page: Page) => page.getByRole('slider', { name: 'Moment' });
/** The moment that is shown. */
const moment = async (page: Page): Promise<number> => Number(await slider(page).getAttribute('aria-valuenow'));
const lines = (text: string): string[] =>
  text
    .replaceAll('\u00a0', ' ')
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
const screen = async (page: Page): Promise<string[]> =>
  lines(await page.locator('.xterm-rows').innerText()).filter((line) => line !== '');

/** The screen is what the server says for the moment that the player shows. */
async function showsWhatIs(page: Page, recording: string): Promise<void> {
  await expect
    .poll(async () => {
      const t = await moment(page);
      const { text } = await desk.ask<{ text: string }>('replay/seek', { recording, t });
      const told = lines(text).filter((line) => line !== '');
      const shown = await screen(page);
      return JSON.stringify(shown) === JSON.stringify(told) ? 'same' : { t, shown, told };
    }, soon)
    .toBe('same');
}

const opened = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^(?:Play|Pause|Play again)$/ }).waitFor();
  await page.locator('.xterm-rows').waitFor();
};

test('without recordings the page offers to record every terminal from its start', async () => {
  await using fresh = await DashboardDesk.open();
  const page = await fresh.loggedIn('/recordings');
  await expect.poll(() => body(page), soon).toContain('Nothing recorded. Record every terminal from its start?');
  await page.getByRole('button', { name: 'Turn on' }).click();
  await expect.poll(() => body(page), soon).toContain('Every new terminal is recorded from its start.');
  expect(await fresh.ask('logs/get')).toMatchObject({ recording: { enabled: true } });
  await fresh.open('from the start');
  await page.getByRole('link', { name: /^Live: from the start/ }).waitFor();
}, 60_000);

test('the list tells machine, length, blocks, failed ones and size, and puts those that are made first', async () => {
  const page = await desk.loggedIn('/recordings');
  const rows = page.getByRole('list', { name: 'Recordings' }).getByRole('listitem');
  const row = rows.filter({ hasText: 'deploy' }).first();
  await expect.poll(() => row.innerText(), soon).toMatch(/this machine[\s\S]*4 blocks, 1 failed[\s\S]*kB/);
  const live = await desk.open('still made');
  await desk.ask('session/recording_start', { id: live });
  await expect.poll(() => rows.first().innerText(), soon).toMatch(/still made[\s\S]*Live/);
  // A newer one that has ended comes behind it.
  await record('newer', ['echo new']);
  await expect.poll(() => rows.nth(1).innerText(), soon).toContain('newer');
  expect(await rows.first().innerText()).toContain('still made');
  await desk.ask('session/recording_stop', { id: live });
  await expect.poll(() => rows.first().innerText(), soon).toContain('newer');
}, 90_000);

describe('the player', () => {
  test('R-RPC-074: seeks by scrubber, keys and blocks, and shows what the server says for each moment', async () => {
    for (const id of [cast, log]) {
      const page = await desk.loggedIn(`/recordings/${id}`);
      await opened(page);
      await showsWhatIs(page, id);
      const box = await slider(page).boundingBox();
      if (!box) throw new Error('There is no scrubber.');
      for (const share of [0.9, 0.2, 0.55]) {
        await page.mouse.click(box.x + box.width * share, box.y + box.height / 2);
        await showsWhatIs(page, id);
        expect(await moment(page)).toBeGreaterThan(0);
      }
      const { blocks } = await desk.ask<{ blocks: { t: number }[] }>('replay/blocks', { recording: id });
      expect(blocks).toHaveLength(4);
      await page.keyboard.press('0');
      await expect.poll(() => moment(page), soon).toBe(0);
      for (const block of blocks) {
        await page.keyboard.press(']');
        await expect.poll(() => moment(page), soon).toBe(block.t);
        await showsWhatIs(page, id);
      }
      await expect.poll(() => body(page), soon).toContain('Block 4 of 4: echo first; sleep 3; echo second');
      await page.keyboard.press('[');
      await showsWhatIs(page, id);
      await page.keyboard.press('5');
      await showsWhatIs(page, id);
      const before = await moment(page);
      await page.keyboard.press('.');
      await expect.poll(() => moment(page), soon).toBeGreaterThan(before);
      await showsWhatIs(page, id);
      await page.keyboard.press(',');
      await page.keyboard.press(',');
      await showsWhatIs(page, id);
      await page.keyboard.press('9');
      await page.keyboard.press('ArrowLeft');
      await showsWhatIs(page, id);
      await page.keyboard.press('End');
      await page.getByRole('button', { name: 'echo TOKEN=' }).click();
      await expect.poll(() => moment(page), soon).toBe(blocks[2]?.t);
      await showsWhatIs(page, id);
      await page.context().close();
    }
  }, 120_000);

  test('plays to its end at the chosen speed, pauses where it is told to, and plays again', async () => {
    const page = await desk.loggedIn(`/recordings/${cast}`);
    await opened(page);
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await expect.poll(() => moment(page), soon).toBeGreaterThan(0.2);
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    const stopped = await moment(page);
    await showsWhatIs(page, cast);
    expect(await moment(page)).toBe(stopped);
    await page.keyboard.press('>');
    await page.keyboard.press('>');
    await expect.poll(() => page.getByLabel('Speed').inputValue(), soon).toBe('4');
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play again' }).waitFor();
    await showsWhatIs(page, cast);
    await expect.poll(() => screen(page), soon).toContain('second');
    await page.getByRole('button', { name: 'Play again' }).click();
    await expect.poll(() => moment(page), soon).toBeLessThan(1);
  }, 90_000);

  test('Skip idle cuts a pause to a second; without it the pause lasts', async () => {
    const page = await desk.loggedIn(`/recordings/${log}`);
    await opened(page);
    const { blocks } = await desk.ask<{ blocks: { t: number; endT: number }[] }>('replay/blocks', { recording: log });
    const { t = 0, endT = 0 } = blocks[3] ?? {};
    expect(endT - t).toBeGreaterThan(2.9);
    const played = async (): Promise<number> => {
      await page.keyboard.press('9');
      await page.getByRole('button', { name: 'echo first' }).click();
      await expect.poll(() => moment(page), soon).toBe(t);
      const began = Date.now();
      await page.keyboard.press(' ');
      await expect.poll(() => screen(page), { timeout: 20_000, interval: 50 }).toContain('second');
      const took = Date.now() - began;
      // While it plays, a moment that is sought does not stay.
      await page.getByRole('button', { name: 'Play again' }).waitFor();
      return took;
    };
    await page.getByRole('button', { name: 'Skip idle' }).and(page.locator('[aria-pressed=true]')).waitFor();
    expect(await played()).toBeLessThan(2700);
    await page.getByRole('button', { name: 'Skip idle' }).click();
    await page.getByRole('button', { name: 'Skip idle' }).blur();
    expect(await played()).toBeGreaterThan(2700);
  }, 90_000);

  test('finds text in commands and output; hits are ticks, and Enter goes from one to the next', async () => {
    const page = await desk.loggedIn(`/recordings/${cast}`);
    await opened(page);
    await page.keyboard.press('/');
    const field = page.getByLabel('Find in commands and output');
    await field.fill('OF MANY');
    await expect.poll(() => body(page), soon).toContain('1 of 41');
    expect(await page.locator('line.hit').count()).toBe(41);
    await field.press('Enter');
    await expect.poll(() => body(page), soon).toContain('2 of 41');
    await showsWhatIs(page, cast);
    await field.fill('not in it at all');
    await expect.poll(() => body(page), soon).toContain('Nothing found');
    await field.press('Escape');
    await field.waitFor({ state: 'detached' });
  }, 60_000);

  test('begins at the moment of the address, and keeps it there', async () => {
    const page = await desk.loggedIn(`/recordings/${log}?t=2`);
    await opened(page);
    await expect.poll(() => moment(page), soon).toBe(2);
    await showsWhatIs(page, log);
    await page.keyboard.press('0');
    await expect.poll(() => page.url(), soon).toMatch(/\?t=0$/);
  }, 60_000);

  test('a recording that is made is joined at its end, masked, until it ends', async () => {
    const terminal = await desk.open('live one');
    const { recordingId } = await desk.ask<{ recordingId: string }>('cast/start', { sessionId: terminal });
    await desk.ask('terminal/run', { terminal, command: 'echo before', timeoutMs: 10_000 });
    const page = await desk.loggedIn(`/recordings/${recordingId}`);
    await opened(page);
    await page.getByRole('button', { name: 'Live' }).click();
    await expect.poll(() => screen(page), soon).toContain('before');
    await desk.ask('terminal/run', { terminal, command: `echo now TOKEN=${secret}`, timeoutMs: 10_000 });
    await expect.poll(async () => (await screen(page)).join('\n'), soon).toMatch(/^now TOKEN=<redacted:[0-9a-f]{8}>$/m);
    await desk.ask('cast/stop', { recordingId });
    await page.getByRole('button', { name: 'Play again' }).waitFor();
    await page.getByRole('button', { name: 'Live' }).waitFor({ state: 'detached' });
  }, 60_000);

  test('one that is not there is said so', async () => {
    const page = await desk.loggedIn('/recordings/00112233aabbccdd');
    await expect.poll(() => body(page), soon).toContain('There is no recording "00112233aabbccdd".');
    await page.getByRole('link', { name: 'Recordings' }).last().click();
    await expect.poll(() => page.url(), soon).toBe(`${desk.url}/recordings`);
  }, 60_000);
});

describe('files', () => {
  test('R-RPC-075: a clip shows what is masked, then a file; no file, frame or page has the secret', async () => {
    const page = await desk.newPage();
    const frames: string[] = [];
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => frames.push(String(payload))));
    // What terminals show now is no recording.
    const isOfTerminals = /^\{"t":"item","ch":\d+,"item":\{"(?:kind|terminal)":/;
    await page.goto(await desk.link());
    await page.getByRole('heading', { name: 'Now' }).waitFor();
    await page.goto(`${desk.url}/recordings/${cast}`);
    await opened(page);
    await expect.poll(() => body(page), soon).toMatch(/\d secrets are masked/);
    await page.getByRole('button', { name: 'echo TOKEN=' }).click();
    await page.getByRole('button', { name: 'Share a clip' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share a clip' });
    await dialog.getByLabel('From').fill('0:00');
    await expect.poll(() => dialog.innerText(), soon).toMatch(/Masked in \d+ lines?:[\s\S]*TOKEN=<redacted:/);
    await dialog.getByLabel('To').fill('nonsense');
    await expect.poll(() => dialog.innerText(), soon).toContain('Write both as minutes and seconds');
    await dialog.getByLabel('To').fill('0:03');
    await dialog.getByLabel('File').selectOption('cast');
    const clip = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save clip' }).click();
    expect((await clip).suggestedFilename()).toMatch(/^fairlead-\d{8}-\d{4}-[0-9a-f]{16}-0s-3s\.cast$/);
    const text = await readFile(await (await clip).path(), 'utf8');
    expect(text).toContain('<redacted:');
    await dialog.getByRole('button', { name: 'Close' }).click();
    const all = [text];
    for (const [name, end] of [
      ['Text', 'txt'],
      ['Markdown', 'md'],
      ['GIF', 'gif'],
    ] as const) {
      await page.getByRole('button', { name: 'Export' }).click();
      const saved = page.waitForEvent('download');
      await page.getByRole('menuitem', { name }).click();
      expect((await saved).suggestedFilename()).toMatch(new RegExp(`^fairlead-\\d{8}-\\d{4}-[0-9a-f]{16}\\.${end}$`));
      all.push(await readFile(await (await saved).path(), 'latin1'));
    }
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play again' }).waitFor();
    all.push(await page.content(), ...frames.filter((frame) => !isOfTerminals.test(frame)));
    expect(all.some((one) => one.includes('line 40 of many'))).toBe(true);
    expect(all.filter((one) => one.includes(secret))).toEqual([]);
  }, 120_000);

  test('several are chosen, exported and removed; what goes is named first', async () => {
    const one = await record('to go', ['echo bye']);
    const page = await desk.loggedIn('/recordings');
    const boxes = page.getByRole('checkbox', { name: 'Choose to go' });
    await expect.poll(() => boxes.count(), soon).toBe(2);
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    const names: string[] = [];
    page.on('download', (saved) => names.push(saved.suggestedFilename()));
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Text' }).click();
    await expect.poll(() => names.length, soon).toBe(2);
    await page.getByRole('button', { name: 'Remove…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove 2 recordings?' });
    expect(await dialog.getByRole('listitem').count()).toBe(2);
    // Nothing happens by Enter alone.
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => boxes.count(), soon).toBe(2);
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove 2 recordings' }).click();
    await expect.poll(() => boxes.count(), soon).toBe(0);
    const { recordings } = await desk.ask<{ recordings: { id: string }[] }>('replay/list');
    expect(recordings.map(({ id }) => id)).not.toContain(one.cast);
    expect(JSON.stringify((await desk.audit()).entries)).toContain(one.log);
  }, 90_000);
});

test('the list is searched in commands and output, and a hit leads to its moment', async () => {
  const page = await desk.loggedIn('/recordings');
  await page.getByLabel('Search commands and output').fill('line 33 of');
  const hit = page.getByRole('link', { name: /deploy.*output.*line 33 of many/s }).first();
  await hit.waitFor();
  await hit.click();
  await opened(page);
  await expect.poll(async () => (await screen(page)).join('\n'), soon).toContain('line 33 of many');
  await page.goto(`${desk.url}/recordings`);
  await page.getByLabel('Search commands and output').fill(secret);
  await expect.poll(() => body(page), soon).toContain('Nothing matches.');
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await page
    .getByRole('link', { name: /^deploy/ })
    .first()
    .waitFor();
}, 60_000);

test('hostile titles and commands stay in their place', async () => {
  const { cast: id } = await record(`<img src=x onerror=alert(1)> \u202eevil ${'w'.repeat(150)}`, [
    "printf '<script>alert(1)</script> \\033]0;%s\\007\\n' \"$(head -c 100000 /dev/zero | tr '\\0' x)\" # \u202e<b>",
  ]);
  const page = await desk.loggedIn('/recordings');
  await page
    .getByRole('link', { name: /onerror/ })
    .first()
    .waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(await body(page)).not.toContain('\u202e');
  await page.goto(`${desk.url}/recordings/${id}`);
  await opened(page);
  await page.keyboard.press('9');
  await expect.poll(async () => (await screen(page)).join('\n'), soon).toContain('<script>alert(1)</script>');
  expect(await page.locator('img, main script').count()).toBe(0);
  const aside = await page.locator('aside').innerText();
  expect(aside).toContain('\\u202e<b>');
  expect((await body(page)).length).toBeLessThan(20_000);
}, 60_000);

test('everything is reached by keyboard alone', async () => {
  const page = await desk.loggedIn('/recordings');
  await page
    .getByRole('link', { name: /^deploy/ })
    .first()
    .waitFor();
  const focusOn = async (what: string): Promise<void> => {
    for (let tries = 0; tries < 80; tries++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(what)}) === true`)) return;
    }
    throw new Error(`Tab does not reach ${what}.`);
  };
  await page.keyboard.press('/');
  expect(await page.evaluate(`document.activeElement?.getAttribute('type')`)).toBe('search');
  await focusOn('input[type=checkbox]');
  await page.keyboard.press(' ');
  await expect.poll(() => body(page), soon).toContain('1 chosen');
  await page.keyboard.press(' ');
  await focusOn('a[href^="/recordings/"]');
  await page.keyboard.press('Enter');
  await opened(page);
  await focusOn('[aria-haspopup=menu]');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('GIF');
  await page.keyboard.press('Escape');
  await focusOn('[role=slider]');
  await page.keyboard.press('End');
  const end = await moment(page);
  expect(end).toBeGreaterThan(0);
  await page.keyboard.press('Home');
  await expect.poll(() => moment(page), soon).toBe(0);
  await focusOn('select');
  await focusOn('aside button');
  await page.keyboard.press('Enter');
}, 60_000);

test.each(looks)(
  'no serious fault of accessibility and no violation of the policy: %s, %i×%i',
  async (theme, width, height) => {
    const page = await desk.loggedIn();
    await page.evaluate(`localStorage.setItem('theme', '${theme}')`);
    await page.setViewportSize({ width, height });
    await page.goto(`${desk.url}/recordings`);
    await page
      .getByRole('link', { name: /^deploy/ })
      .first()
      .waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('checkbox').first().check();
    expect(await axeFaults(page)).toEqual([]);
    await page.goto(`${desk.url}/recordings/${cast}?t=1`);
    await opened(page);
    await page.keyboard.press('/');
    await page.getByLabel('Find in commands and output').fill('many');
    await expect.poll(() => body(page), soon).toContain('1 of 41');
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Share a clip' }).click();
    await page.getByRole('button', { name: 'Save clip' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.goto(`${desk.url}/recordings/none`);
    await expect.poll(() => body(page), soon).toContain('There is no recording');
    expect(await axeFaults(page)).toEqual([]);
    expect(desk.violations).toEqual([]);
  },
  60_000,
);
