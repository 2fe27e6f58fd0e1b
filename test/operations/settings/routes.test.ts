import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askHttp, type HttpAnswer } from '../../support/http-ask.ts';
import { Served } from '../../support/served.ts';

let served: Served;
let base = '';
let token = '';
beforeAll(async () => {
  served = await Served.start();
  base = new URL(served.url).origin;
  ({ token } = served);
});
afterAll(() => served[Symbol.asyncDispose]());

const file = (name: string): string => join(served.home, '.fairlead', name);
const json = { 'content-type': 'application/json' };

async function ask(
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : json), ...more };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return await askHttp(`${base}${path}`, { method, headers, ...(body === undefined ? {} : { body: text }) });
}

const some = (type: unknown): unknown => expect.any(type as never);

/** Every documented route: a good request and what its answer has at least. */
const routes: readonly [string, string, unknown, object][] = [
  ['GET', '/api/health', undefined, { ok: some(Boolean), status: some(String) }],
  [
    'GET',
    '/api/state',
    undefined,
    {
      version: some(String),
      hostname: some(String),
      pid: some(Number),
      started_at: some(String),
      ports: { mcp: some(Number), http: some(Number) },
      theme: { theme: some(String), color_scheme: some(String) },
      proxy: { enabled: false, mode: 'off' },
      project: { path: some(String), slug: some(String) },
      sessions_path: some(String),
      scrollback: { lines: some(Number), default: 10_000, max: 999_999_999 },
      problems: [],
    },
  ],
  ['GET', '/bootstrap.json', undefined, { instance: 'alpha', lang: 'en', theme: some(String) }],
  ['POST', '/api/proxy', { enabled: true, http_proxy: 'http://127.0.0.1:9' }, { enabled: true, mode: 'manual' }],
  ['POST', '/api/proxy', { enabled: true }, { enabled: true, mode: 'auto' }],
  ['POST', '/api/proxy', { enabled: false }, { enabled: false, mode: 'off' }],
  [
    'POST',
    '/api/theme',
    { name: 'daylight' },
    { applied: true, theme: 'daylight', color_scheme: 'Builtin Solarized Light' },
  ],
  ['GET', '/api/theme', undefined, { theme: some(String) }],
  ['GET', '/api/themes', undefined, { current: some(String), themes: some(Array) }],
  ['GET', '/api/scrollback', undefined, { lines: some(Number), requires_restart_for_existing_panes: true }],
  ['POST', '/api/scrollback', { lines: 20_000 }, { lines: 20_000, default: 10_000, max: 999_999_999 }],
  ['GET', '/api/compat', undefined, { term_program: some(String) }],
  ['POST', '/api/compat', { term_program: 'vscode' }, { term_program: 'vscode' }],
  ['GET', '/api/i18n', undefined, { lang: 'en', available: [{ code: 'en', name: 'English' }] }],
  ['POST', '/api/i18n', { lang: 'en' }, { lang: 'en' }],
  ['GET', '/api/i18n/en', undefined, { code: 'en', words: { section_rules: 'Rules' } }],
  ['GET', '/api/updates', undefined, { current: some(String), latest: null, update_available: false }],
  ['POST', '/api/updates/check', {}, { update_available: false }],
  ['GET', '/api/settings/theme', undefined, { theme: some(String), palette: { background: some(String) } }],
  ['PUT', '/api/settings/theme', { theme: 'classic' }, { applied: true, theme: 'classic' }],
  ['GET', '/api/settings/proxy', undefined, { enabled: false, health: null }],
  ['PUT', '/api/settings/proxy', { enabled: false }, { configured: true, status: { mode: 'off' } }],
  ['GET', '/api/settings/scrollback', undefined, { lines: some(Number) }],
  ['PUT', '/api/settings/scrollback', { lines: 10_000 }, { lines: 10_000 }],
  ['GET', '/api/settings/compat', undefined, { term_program: some(String) }],
  ['PUT', '/api/settings/compat', { term_program: 'Fairlead' }, { term_program: 'Fairlead' }],
  ['GET', '/api/settings/policy', undefined, { enabled: false, blocked_patterns: [], scope: ['exec'] }],
  ['PUT', '/api/settings/policy', { enabled: false }, { set: true, changed: [] }],
  ['GET', '/api/settings/lang', undefined, { lang: 'en' }],
  ['PUT', '/api/settings/lang', { lang: 'en' }, { lang: 'en' }],
  ['GET', '/api/settings/recording', undefined, { recording: { enabled: false }, keep_raw: true, retain_days: 0 }],
  [
    'PUT',
    '/api/settings/recording',
    { redaction: { custom_patterns: ['ACME-\\d+'] } },
    { redaction: { enabled: true, custom_patterns: ['ACME-\\d+'] } },
  ],
  ['POST', '/api/recording/start', { pane_id: 0 }, { recording_id: some(String), log_path: some(String) }],
  ['GET', '/api/sessions', undefined, { sessions: [{ ended_at: null }] }],
  ['POST', '/api/recording/stop', { pane_id: 0 }, { recording_id: some(String) }],
  ['GET', '/api/sessions?project=nowhere', undefined, { sessions: [] }],
  ['GET', '/api/instances', undefined, { instances: [{ id: 'alpha' }] }],
  ['GET', '/api/audit?limit=3', undefined, { entries: some(Array) }],
  ['GET', '/api/workspaces', undefined, { workspaces: [] }],
  ['GET', '/api/approvals', undefined, { waiting: [] }],
  ['GET', '/api/terminals', undefined, { terminals: [{ target: 'local' }], total: 1 }],
];

test.each(routes)('R-RPC-140: %s %s %j', async (method, path, body, answer) => {
  const reply = await ask(method, path, body);
  expect(reply.status, reply.text).toBe(200);
  expect(reply.json).toMatchObject(answer);
  expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
  expect(reply.text).not.toContain(token);
});

const paths = [...new Set(routes.map(([method, path]) => `${method} ${path}`))].map(
  (one) => one.split(' ') as [string, string],
);

test('a query is text where text is wanted: a project may be called 2024 or true', async () => {
  for (const project of ['2024', 'true', '-1']) {
    expect(await ask('GET', `/api/sessions?project=${project}`)).toMatchObject({ status: 200, json: { sessions: [] } });
  }
  expect((await ask('GET', '/api/sessions?limit=1')).status).toBe(200);
  expect((await ask('GET', '/api/sessions?limit=x')).status).toBe(400);
});

describe('R-RPC-141: no route serves a stranger', () => {
  test.each(paths)('%s %s', async (method, path) => {
    const body = method === 'GET' ? undefined : {};
    const answers = [
      await ask(method, path, body, { host: 'evil.example' }),
      await ask(method, path, body, { origin: 'https://evil.example' }),
      await ask(method, path, body, { origin: 'null' }),
      await askHttp(`${base}${path}`, { method, headers: json, ...(body && { body: '{}' }) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 401]);
    expect(answers.map(({ json: { error } }) => typeof error.hint)).toEqual(['string', 'string', 'string', 'string']);
  });
});

test.each(paths)('R-RPC-140: %s %s refuses other methods and arguments it does not know', async (method, path) => {
  const other = await ask('DELETE', path);
  expect(other).toMatchObject({ status: 405, json: { error: { code: 'invalid_input' } } });
  expect(other.headers.allow).toContain(method);
  const unknown =
    method === 'GET'
      ? await ask(method, `${path}${path.includes('?') ? '&' : '?'}colour=red`)
      : await ask(method, path, { colour: 'red' });
  expect(unknown).toMatchObject({ status: 400, json: { error: { code: 'invalid_input' } } });
  expect(unknown.json.error.message).toContain('colour');
  expect(unknown.json.error.hint).toMatch(/^It takes /);
});

test.each(paths.filter(([method]) => method !== 'GET'))(
  'R-RPC-140: %s %s refuses what is no JSON object',
  async (method, path) => {
    const answers = [
      await ask(method, path, '{"na'),
      await ask(method, path, '[]'),
      await ask(method, path, '"x"'),
      await ask(method, path, '{}', { 'content-type': 'text/plain' }),
      await ask(method, path, JSON.stringify({ name: 'x'.repeat(1 << 20) })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 413]);
  },
);

/** Values that a setting cannot have: status, and a word of the message. */
const wrong: readonly [string, string, unknown, number, string][] = [
  ['POST', '/api/theme', {}, 400, 'name'],
  ['POST', '/api/theme', { name: 7 }, 400, 'name'],
  ['POST', '/api/theme', { name: '../../etc/passwd' }, 404, 'no theme'],
  ['PUT', '/api/settings/theme', { name: 'classic', theme: 'midnight' }, 400, 'differ'],
  ['PUT', '/api/settings/theme', { theme: 'pink' }, 404, 'pink'],
  ['POST', '/api/scrollback', { lines: 99 }, 400, 'lines'],
  ['POST', '/api/scrollback', { lines: 1_000_000_000 }, 400, 'lines'],
  ['PUT', '/api/settings/scrollback', { lines: 100.5 }, 400, 'lines'],
  ['PUT', '/api/settings/scrollback', { lines: '500' }, 400, 'lines'],
  ['POST', '/api/compat', { term_program: 'x'.repeat(65) }, 400, 'term_program'],
  ['POST', '/api/compat', { term_program: 'a\u0007b' }, 400, 'control'],
  ['PUT', '/api/settings/compat', { term_program: '' }, 400, 'term_program'],
  ['POST', '/api/i18n', { lang: 'tlh' }, 404, 'tlh'],
  ['PUT', '/api/settings/lang', { lang: '../en' }, 404, 'en'],
  ['GET', '/api/i18n/xx', undefined, 404, 'xx'],
  ['GET', '/api/i18n/..%2f..%2fpackage', undefined, 404, 'language'],
  ['POST', '/api/proxy', { enabled: 'yes' }, 400, 'enabled'],
  ['PUT', '/api/settings/proxy', { http_proxy: 'gopher://x' }, 400, 'http_proxy'],
  ['PUT', '/api/settings/policy', { enabled: true, blocked_patterns: ['re:('] }, 400, 'The pattern'],
  ['PUT', '/api/settings/policy', {}, 400, 'enabled'],
  ['PUT', '/api/settings/recording', { keep_raw: 'no' }, 400, 'keep_raw'],
  ['PUT', '/api/settings/recording', { recording: { on: true } }, 400, 'recording'],
  ['POST', '/api/recording/start', {}, 400, 'pane_id'],
  ['POST', '/api/recording/start', { pane_id: 999 }, 404, '999'],
  ['POST', '/api/recording/stop', { pane_id: 0 }, 404, 'No active recording'],
  ['GET', '/api/sessions/none/markdown', undefined, 404, 'none'],
  ['GET', '/api/audit?limit=many', undefined, 400, 'limit'],
];

test.each(wrong)('R-RPC-140: %s %s %j is refused with %i', async (method, path, body, status, word) => {
  const reply = await ask(method, path, body);
  expect(reply.status, reply.text).toBe(status);
  expect(reply.json.error.message).toContain(word);
});

test('R-RPC-140: the markdown of a recording is plain text', async () => {
  await ask('POST', '/api/recording/start', { pane_id: 0 });
  const { json: stopped } = await ask('POST', '/api/recording/stop', { pane_id: 0 });
  const path = `/api/sessions/${String(stopped.recording_id)}/markdown`;
  const { status, headers, text } = await ask('GET', path);
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toContain(`unterm_session_id: `);
  expect((await askHttp(`${base}${path}`)).status).toBe(401);
  expect((await ask('GET', path, undefined, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await ask('PUT', path, {})).status).toBe(405);
  expect((await ask('GET', `${path}?colour=red`)).status).toBe(400);
});

test('a write reaches its file, and one that changes nothing does not touch it (R-RPC-017)', async () => {
  await ask('POST', '/api/theme', { name: 'midnight' });
  expect(JSON.parse(readFileSync(file('theme.json'), 'utf8'))).toEqual({
    theme: 'midnight',
    name: 'Tokyo Night',
    color_scheme: 'Tokyo Night',
  });
  const before = statSync(file('theme.json'), { bigint: true });
  await ask('PUT', '/api/settings/theme', { name: 'midnight' });
  expect(statSync(file('theme.json'), { bigint: true }).mtimeNs).toBe(before.mtimeNs);
  expect(Number(before.mode & 0o777n)).toBe(0o600);
});

/** Each file, edited by hand, and where the new value shows. */
const edits: readonly [string, string, object, string][] = [
  ['theme.json', '{"theme": "classic"}', { theme: 'classic' }, '/api/settings/theme'],
  ['scrollback.json', '{"lines": 777}', { lines: 777 }, '/api/scrollback'],
  ['compat.json', '{"term_program": "iTerm.app"}', { term_program: 'iTerm.app' }, '/api/compat'],
  [
    'lang/de.json',
    '{"language": "Deutsch", "log_out": "Abmelden"}',
    { words: { log_out: 'Abmelden', rows: 'rows' } },
    '/api/i18n/de',
  ],
  ['lang.json', '{"lang": "de"}', { lang: 'de' }, '/api/settings/lang'],
  [
    'proxy.json',
    '{"enabled": true, "mode": "manual", "http_proxy": "http://127.0.0.1:9"}',
    { mode: 'manual' },
    '/api/settings/proxy',
  ],
  [
    'policy.json',
    '{"enabled": true, "blocked_patterns": ["rm -rf"]}',
    { blocked_patterns: ['rm -rf'] },
    '/api/settings/policy',
  ],
  ['recording.json', '{"retain_days": 9}', { retain_days: 9 }, '/api/settings/recording'],
  [
    'themes/mine.json',
    '{"title": "Mine", "background": "#123456"}',
    { themes: expect.arrayContaining([expect.objectContaining({ name: 'mine' })]) as unknown },
    '/api/themes',
  ],
];

test.each(edits)('R-RPC-017: %s edited by hand counts within 2 s', async (name, text, answer, path) => {
  const { makeDirectorySync } = await import('../../../src/system/files/directories.ts');
  makeDirectorySync(join(file(name), '..'), 0o700);
  writeFileSync(file(name), text);
  await expect
    .poll(async () => (await ask('GET', path)).json as object, { timeout: 2000, interval: 50 })
    .toMatchObject(answer);
  expect(existsSync(file(name))).toBe(true);
});

test('R-RPC-142: a theme of one’s own is listed with its colours, and can be switched to', async () => {
  writeFileSync(file('themes/mine.json'), '{"title": "Mine", "background": "#123456"}');
  const { json: listed } = await ask('GET', '/api/themes');
  expect(listed.themes.map(({ name }: { name: string }) => name)).toEqual([
    'standard',
    'midnight',
    'daylight',
    'classic',
    'mine',
  ]);
  expect(await ask('PUT', '/api/settings/theme', { name: 'mine' })).toMatchObject({ status: 200 });
  expect((await ask('GET', '/api/settings/theme')).json).toMatchObject({
    theme: 'mine',
    color_scheme: 'Mine',
    palette: { background: '#123456', foreground: '#cdd6f4', custom: true },
  });
});

/** A broken file, the line that is wrong, where it is told, and a write that must not cost the person their edits. */
const broken: readonly [string, string, string, string, unknown][] = [
  ['theme.json', '{\n  "theme": "classic",\n}\n', 'line 3', '/api/settings/theme', { name: 'classic' }],
  ['scrollback.json', '{\n\n  "lines": "many"\n}\n', 'line 3: lines', '/api/settings/scrollback', { lines: 500 }],
  ['compat.json', 'term_program = x\n', 'line 1', '/api/settings/compat', { term_program: 'x' }],
  ['lang.json', '{"lang":\n 7}', 'line 2: lang', '/api/settings/lang', { lang: 'en' }],
  ['proxy.json', '{\n "enabled": 1\n}', 'line 2: enabled', '/api/settings/proxy', { enabled: false }],
  ['recording.json', '{\n "keep_raw": 1\n}', 'line 2: keep_raw', '/api/settings/recording', { keep_raw: true }],
  ['policy.json', '{\n "enabled": tru\n}', 'line 2', '/api/settings/policy', { enabled: false }],
];

test.each(broken)(
  'R-RPC-017: a broken %s is told of with its line and left as it is',
  async (name, text, line, path, body) => {
    writeFileSync(file(name), text);
    const told = async (): Promise<string> => String((await ask('GET', path)).json.error);
    await expect.poll(told, { timeout: 2000, interval: 50 }).toContain(`${name} cannot be understood (${line}`);
    const { json: health } = await ask('GET', '/api/health');
    expect(health.settings_problems.join('\n')).toContain(`${name} cannot be understood (${line}`);
    const { json: state } = await ask('GET', '/api/state');
    expect(state.problems.join('\n')).toContain(line);
    expect(served.err).toContain(`${name} cannot be understood (${line}`);
    const write = await ask('PUT', path, body);
    expect(write).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
    expect(readFileSync(file(name), 'utf8')).toBe(text);
    writeFileSync(file(name), '{}');
    await expect.poll(told, { timeout: 2000, interval: 50 }).toBe('undefined');
  },
);

test('R-RPC-142: a name that means no theme is the standard one, and told of', async () => {
  writeFileSync(file('theme.json'), '{"theme": "gone"}');
  await expect
    .poll(async () => (await ask('GET', '/api/settings/theme')).json as object, { timeout: 2000, interval: 50 })
    .toMatchObject({ theme: 'standard', error: expect.stringContaining('"gone"') as string });
});
