import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filesBelow } from '../../support/files-below.ts';
import { askHttp } from '../../support/http-ask.ts';
import { Served } from '../../support/served.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.start();
});
afterAll(() => served[Symbol.asyncDispose]());

test('R-RPC-150: theme list and theme switch', async () => {
  expect(await served.fairlead(['theme', 'list'])).toMatch(/^\* standard {2}Catppuccin Mocha$/m);
  expect(await served.fairlead(['theme', 'switch', 'midnight'])).toBe('The theme is midnight (Tokyo Night).\n');
  expect(await served.fairlead(['theme'])).toMatch(/^\* midnight/m);
  const json = JSON.parse(await served.fairlead(['theme', 'list', '--json'])) as { current: string };
  expect(json.current).toBe('midnight');
  expect(await served.fairlead(['theme', 'switch', 'pink'])).toContain('Themes: standard, midnight');
});

test('R-RPC-150: lang list, set and current', async () => {
  expect(await served.fairlead(['lang', 'list'])).toBe('* en  English\n');
  expect(await served.fairlead(['lang', 'current'])).toBe('en\n');
  expect(await served.fairlead(['lang', 'set', 'en'])).toBe('Pages are shown in en.\n');
  expect(await served.fairlead(['lang', 'set', 'xx'])).toContain('Languages: en.');
});

test('scrollback and compat on the command line', async () => {
  expect(await served.fairlead(['scrollback'])).toBe('10000 rows above the screen can be read.\n');
  expect(await served.fairlead(['scrollback', 'set', '500'])).toBe('500 rows above the screen can be read.\n');
  expect(await served.fairlead(['scrollback', 'set', '5'])).toContain('lines');
  expect(await served.fairlead(['compat', 'set', 'kitty'])).toBe('TERM_PROGRAM=kitty\n');
  const said = await served.fairlead(['exec', 'wait', 'echo "it is $TERM_PROGRAM"']);
  expect(said).toContain('it is Fairlead');
  const id = (JSON.parse(await served.fairlead(['session', 'create', '--json'])) as { id: number }).id;
  expect(await served.fairlead(['exec', 'wait', '--session', String(id), 'echo "it is $TERM_PROGRAM"'])).toContain(
    'it is kitty',
  );
});

test('R-RPC-141, R-RPC-150: settings open prints a link that logs in once', async () => {
  const said = await served.fairlead(['settings', 'open', '--print-only']);
  const [, origin = '', code = ''] = /^(http:\/\/127\.0\.0\.1:\d+)\/#code=([\w-]{32})\n/.exec(said) ?? [];
  expect(origin).toBe(new URL(served.url).origin);
  const logIn = () =>
    askHttp(`${origin}/api/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
  const first = await logIn();
  expect(first).toMatchObject({ status: 200, json: { csrf_token: expect.stringMatching(/^[\w-]{32}$/) as string } });
  const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  expect(first.headers['set-cookie']?.[0]).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  for (const path of ['/api/state', '/bootstrap.json']) {
    const headers = { cookie, 'x-csrf-token': first.json.csrf_token as string };
    expect((await askHttp(`${origin}${path}`, { headers })).status).toBe(200);
    expect((await askHttp(`${origin}${path}`, { headers: { cookie } })).status).toBe(403);
  }
  const open = { cookie, 'x-csrf-token': first.json.csrf_token as string };
  expect(await askHttp(`${origin}/api/settings/open`, { method: 'POST', headers: open })).toMatchObject({
    status: 403,
    json: { error: { message: 'A browser cannot make the link for another login.' } },
  });
  expect(await logIn()).toMatchObject({
    status: 401,
    json: { error: { message: 'This link was used or is older than a minute.' } },
  });
  // Neither the output of the server nor its files keep the code.
  expect(served.out + served.err).not.toContain(code);
  const files = [...filesBelow(join(served.home, '.fairlead'))];
  expect(files.some(([path]) => path.includes('/audit/'))).toBe(true);
  expect(files.filter(([, bytes]) => bytes.includes(code)).map(([path]) => path)).toEqual([]);
});

test('without a display the link is printed, and no file is left that leads to it', async () => {
  const said = await served.fairlead(['settings', 'open']);
  expect(said).toContain('#code=');
  expect(said).toContain('There is no display here');
  expect(existsSync(join(served.home, '.fairlead', 'run', 'open.html'))).toBe(false);
});

test('with one, the browser is given a private file, so that the code stands in no process list', async () => {
  const { mkdtempSync, rmSync, writeFileSync, chmodSync, statSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const bin = mkdtempSync(join(tmpdir(), 'fairlead-open-'));
  const seen = join(bin, 'seen');
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > "${seen}.part"\nmv "${seen}.part" "${seen}"\n`);
  chmodSync(join(bin, 'xdg-open'), 0o755);
  try {
    const said = await served.fairlead(['settings', 'open'], { DISPLAY: ':9', PATH: `${bin}:${process.env['PATH']}` });
    const link = /^http\S+/.exec(said)?.[0] ?? 'none';
    await expect.poll(() => existsSync(seen), { timeout: 5000 }).toBe(true);
    const path = join(served.home, '.fairlead', 'run', 'open.html');
    expect(readFileSync(seen, 'utf8')).toBe(`file://${path}`);
    expect(readFileSync(path, 'utf8')).toContain(`url=${link}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(bin, { recursive: true });
  }
});
