import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { BrowserLogins } from './browser-logins.ts';
import { browserName } from './browser-name.ts';

const day = 24 * 60 * 60_000;
const from = { browser: 'Firefox on Linux', address: '127.0.0.1' };
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fl-logins-'));
  path = join(folder, 'logins', 'alpha.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('R-HUB-084: a login is kept for the next server, as hashes in a private file', async () => {
  const clock = new ManualClock(1e12);
  const first = new BrowserLogins({ clock, path });
  const { login, cookie, csrf } = first.begin(from);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain(cookie);
  expect(text).not.toContain(csrf);
  await first[Symbol.asyncDispose]();
  expect(login.ended.aborted).toBe(false);
  expect(clock.timers).toBe(0);
  await using next = new BrowserLogins({ clock, path });
  const found = next.find(cookie);
  expect(found).toMatchObject({ id: login.id, ...from, began: 1e12 });
  expect([found?.hasCsrf(csrf), found?.hasCsrf(cookie), found?.hasCsrf('')]).toEqual([true, false, false]);
  expect(next.find(csrf)).toBeUndefined();
  expect(next.end(login.id)).toBe(true);
  expect(found?.ended.aborted).toBe(true);
  expect(next.end(login.id)).toBe(false);
  expect(new BrowserLogins({ clock, path }).find(cookie)).toBeUndefined();
});

test('a login ends 7 days after its last use, and after 30 days however much it is used', async () => {
  const clock = new ManualClock(1e12);
  await using logins = new BrowserLogins({ clock, path });
  const idle = logins.begin(from);
  const busy = logins.begin(from);
  clock.advance(7 * day - 1);
  expect(logins.find(busy.cookie)).toBeDefined();
  expect(idle.login.ended.aborted).toBe(false);
  clock.advance(1);
  expect(idle.login.ended.aborted).toBe(true);
  expect(logins.find(idle.cookie)).toBeUndefined();
  for (let passed = 7; passed < 29; passed++) {
    clock.advance(day);
    expect(logins.find(busy.cookie)).toBeDefined();
  }
  clock.advance(day);
  expect(busy.login.ended.aborted).toBe(true);
  expect(logins.list()).toEqual([]);
  expect(clock.timers).toBe(0);
});

test('the file follows the last use, so that a restart does not end a login that is used', async () => {
  const clock = new ManualClock(1e12);
  const first = new BrowserLogins({ clock, path });
  const { cookie } = first.begin(from);
  clock.advance(6 * day);
  first.find(cookie);
  // The server is killed: nothing is saved at its end.
  clock.advance(6 * day);
  await using next = new BrowserLogins({ clock, path });
  expect(next.find(cookie)).toBeDefined();
});

test('an open connection counts as use for as long as it is open', async () => {
  const clock = new ManualClock(1e12);
  await using logins = new BrowserLogins({ clock, path });
  const { login } = logins.begin(from);
  const held = login.hold();
  clock.advance(20 * day);
  expect(login.ended.aborted).toBe(false);
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  clock.advance(7 * day - 1);
  expect(login.ended.aborted).toBe(false);
  clock.advance(1);
  expect(login.ended.aborted).toBe(true);
});

test('64 logins are kept, in the file, too; one more ends the oldest', async () => {
  const clock = new ManualClock(1e12);
  await using logins = new BrowserLogins({ clock, path });
  const oldest = logins.begin(from).login;
  for (let n = 0; n < 64; n++) logins.begin(from);
  expect(oldest.ended.aborted).toBe(true);
  expect(logins.list()).toHaveLength(64);
  expect((JSON.parse(readFileSync(path, 'utf8')) as { logins: unknown[] }).logins).toHaveLength(64);
});

test('a file that cannot be used costs logins, and is said; one that cannot be written ends nothing', async () => {
  const said: string[] = [];
  const clock = new ManualClock(1e12);
  await using first = new BrowserLogins({ clock, path });
  first.begin(from);
  for (const text of ['{', '{"logins":[{"id":"x"}]}']) {
    writeFileSync(path, text);
    expect(new BrowserLogins({ clock, path, warn: (line) => said.push(line) }).list()).toEqual([]);
  }
  expect(said).toEqual(Array(2).fill(`${path} cannot be understood: browsers have to log in again.`));
  const nowhere = join(path, 'below-a-file.json');
  const logins = new BrowserLogins({ clock, path: nowhere, warn: (line) => said.push(line) });
  const { cookie } = logins.begin(from);
  expect(said.at(-1)).toContain('cannot be written');
  expect(logins.find(cookie)).toBeDefined();
});

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1',
    'Safari on iPhone',
  ],
  ['curl/8.5.0', 'curl'],
  ['Mozilla/5.0', 'A browser'],
  ['\u202Eevil', 'A browser'],
  [undefined, 'A browser'],
])('%s is called %s', (given, name) => expect(browserName(given)).toBe(name));
