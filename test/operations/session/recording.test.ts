import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { call as callOperation } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import { logsOf, recording_stop } from '../../../src/operations/session/recording.ts';
import { type RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

const call = (method: string, params?: unknown) => place.client.call(method, params);
const failure = async (method: string, params?: unknown) => (await place.client.ask(method, params)).error;
const root = (): string => join(place.home, '.fairlead');
const text = (path: string): string => readFileSync(path, 'utf8');

let projects = 0;
function project(): string {
  const path = join(place.home, `project ${++projects}`);
  mkdirSync(path);
  return path;
}

const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

/** Starts a recording of a new session, runs these commands and stops it. */
async function recorded(commands: readonly string[], params: object = {}) {
  const id = await place.create({ cwd: project(), ...params });
  const started = await call('session.recording_start', { id });
  for (const command of commands) await call('exec.run_wait', { id, command });
  return { id, started, stopped: await call('session.recording_stop', { id }) };
}

test('a recording is a raw log and markdown without secrets, in the project (R-RPC-060, 062, 070…072)', async () => {
  const cwd = project();
  const { id, started, stopped } = await recorded(['echo hello', `export GITHUB_TOKEN=${secret}`, '(exit 3)'], { cwd });
  const folder = join(cwd, '.fairlead', 'sessions', started.started_at.slice(0, 10));
  const time = started.started_at.slice(11, 19).replaceAll(':', '');
  expect(started).toEqual({
    session_id: expect.any(String),
    recording_id: started.session_id,
    log_path: join(folder, `tab-${id}-${time}.log`),
    md_path_when_done: join(folder, `tab-${id}-${time}.md`),
    started_at: expect.any(String),
  });
  expect(stopped).toMatchObject({ session_id: started.session_id, block_count: 3, exit_reason: 'recording_stopped' });
  expect(text(join(cwd, '.fairlead', '.gitignore'))).toBe('*\n');
  for (const path of [started.log_path, stopped.md_path]) expect(statSync(path).mode & 0o777).toBe(0o600);
  const markdown = text(stopped.md_path);
  expect(markdown).toMatch(/^---\nunterm_session_id: "[0-9a-f-]{36}"\ntab_id: \d+\nproject_path: /);
  expect(markdown).toContain('## Block 1 — `echo hello`\n\n> exit: 0 · ');
  expect(markdown).toMatch(/> exit: 3 · \d+\.\d\ds · \d\d:\d\d:\d\d\n/);
  expect(markdown).toContain('```text\nhello\n```');
  expect(markdown).not.toContain(secret);
  expect(markdown).toMatch(/## Block 2 — `export GITHUB_TOKEN=<redacted:[0-9a-f]{8}>`/);
  const lines = text(started.log_path).split('\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) expect(line).toMatch(/^\d{16}\t[a-z_]+\t[A-Za-z0-9+/]*={0,2}$/);
  const times = lines.map((line) => Number(line.split('\t')[0]));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  // Programs in the terminal can read the file: its marks must not tell them the nonce.
  const raw = lines.map((line) => Buffer.from(line.split('\t')[2] ?? '', 'base64').toString()).join('');
  expect(raw).toContain(secret);
  expect(new Set([...raw.matchAll(/;fl=([0-9a-f]+)/g)].map(([, nonce]) => nonce))).toEqual(new Set(['0'.repeat(16)]));
});

test('output reads as it was seen: carriage returns, wraps, full-screen programs (R-RPC-071)', async () => {
  const long = 'x'.repeat(300);
  const { stopped } = await recorded([
    'printf "10%%\\r55%%\\r100%%\\n"',
    `echo ${long}`,
    'printf "before\\n\\033[?1049hdrawn\\033[?1049lafter\\n"',
    'printf "\\140\\140\\140\\140\\n"',
  ]);
  const markdown = text(stopped.md_path);
  expect(markdown).toContain('```text\n100%\n```');
  expect(markdown).toContain(`\n${long}\n`);
  expect(markdown).toMatch(/before\n\[full-screen program, \d+\.\d s\]\nafter\n/);
  expect(markdown).not.toContain('\ndrawn');
  expect(markdown).toContain('`````text\n````\n`````');
});

test('a shell without marks gives one notice and one fence, and no blocks (R-RPC-068)', async () => {
  const id = await place.create({ argv: ['sh', '-c', 'read x; echo got-$x; cat'], cwd: project() });
  await call('session.recording_start', { id });
  await call('session.input', { id, input: 'meow\r' });
  await call('orchestrate.wait', { id, pattern: 'got-meow' });
  expect(await call('session.recording_status', { id })).toMatchObject({ recording: true, block_count: 0 });
  const stopped = await call('session.recording_stop', { id });
  expect(stopped.block_count).toBe(0);
  const [, body = ''] = text(stopped.md_path).split('\n---\n');
  expect(body).toMatch(/^\n# Session .+\n\nThe shell did not mark .+\n\n```text\nmeow\ngot-meow\n```\n$/);
  await call('session.destroy', { id });
});

test('status, list and read tell the same of one recording, live and after (R-RPC-063, 067, 068)', async () => {
  const cwd = project();
  const id = await place.create({ cwd });
  expect(await call('session.recording_status', { id })).toEqual({ recording: false, enabled: false });
  const { session_id, log_path, started_at } = await call('session.recording_start', { id });
  await call('exec.run_wait', { id, command: 'echo one' });
  const status = await call('session.recording_status', { id });
  expect(status).toMatchObject({ recording: true, enabled: true, session_id, started_at, log_path, block_count: 1 });
  const [live] = await call('session.recording_list', { project: cwd });
  expect(live).toMatchObject({
    unterm_session_id: session_id,
    ended_at: null,
    block_count: 1,
    bytes_raw: status.bytes,
  });
  expect((await call('session.recording_read', { session_id })).markdown).toContain('`echo one`');
  expect((await failure('session.recording_start', { id }))?.message).toBe(`Recording already active for pane ${id}`);
  const stopped = await call('session.recording_stop', { id });
  expect((await failure('session.recording_stop', { id }))?.message).toBe(`No active recording for pane ${id}`);
  const [entry, ...others] = await call('session.recording_list', { project: cwd });
  expect(others).toEqual([]);
  expect(entry).toEqual({
    unterm_session_id: session_id,
    recording_id: session_id,
    tab_id: id,
    project_path: cwd,
    project_slug: expect.stringMatching(/^project-\d+$/),
    started_at,
    ended_at: stopped.ended_at,
    block_count: 1,
    bytes_raw: expect.any(Number),
    log_path,
    md_path: stopped.md_path,
    total_lines: 1,
    exit_reason: 'recording_stopped',
    parent_session_id: null,
    osc133_active: true,
    redaction_active: true,
    redaction_count: 0,
    trace_ids: [],
  });
  expect(JSON.parse(text(join(root(), 'sessions', 'index.json')))).toContainEqual(entry);
  expect(text(stopped.md_path)).toContain('\nblock_count: 1\n');
  expect(await call('session.recording_list', { project: join(cwd, 'other') })).toEqual([]);
  expect(await call('session.recording_list', { project: `${cwd}/` })).toEqual([entry]);
});

test('trace ids are kept in order, once, escaped and masked (R-RPC-072)', async () => {
  const id = await place.create({ cwd: project() });
  const attach = (trace_id: string) => call('session.recording_attach_trace', { id, trace_id });
  expect((await failure('session.recording_attach_trace', { id, trace_id: 'x' }))?.message).toBe(
    `No active recording for pane ${id}`,
  );
  await call('session.recording_start', { id });
  await attach('a: "b"]');
  await attach('two');
  expect(await attach('a: "b"]')).toEqual({ trace_ids: ['a: "b"]', 'two'] });
  await attach(secret);
  const { md_path } = await call('session.recording_stop', { id });
  expect(text(md_path)).toMatch(/\ntrace_ids: \["a: \\"b\\"\]", "two", "<redacted:[0-9a-f]{8}>"\]\n/);
  expect(text(join(root(), 'sessions', 'index.json'))).not.toContain(secret);
});

test('typed text is recorded only when asked for, and never without echo (R-RPC-060)', async () => {
  const typed = async (input: boolean): Promise<string> => {
    const id = await place.create({ cwd: project() });
    const { log_path } = await call('session.recording_start', { id, with_input: input });
    await call('exec.run', { id, command: 'read -s pw; echo done' });
    await place.running(id, 'bash');
    await call('session.input', { id, input: 'hunter2-hidden\r' });
    await call('orchestrate.wait', { id, pattern: 'done' });
    await call('session.recording_stop', { id });
    const ins = text(log_path)
      .split('\n')
      .flatMap((line) => (line.split('\t')[1] === 'in' ? [line.split('\t')[2] ?? ''] : []));
    return ins.map((data) => Buffer.from(data, 'base64').toString()).join('');
  };
  expect(await typed(false)).toBe('');
  const all = await typed(true);
  expect(all).toContain('read -s pw');
  expect(all).not.toContain('hunter2');
});

test('export writes markdown of what is there, found by its id; the path is checked (R-RPC-069)', async () => {
  const id = await place.create({ cwd: project() });
  for (const word of ['one', 'two', 'three']) await call('exec.run_wait', { id, command: `echo ${word}` });
  const path = join(place.home, 'out.md');
  const exported = await call('session.export_markdown', { id, path, max_blocks: 2, inline: true });
  expect(exported).toMatchObject({ path, block_count: 3, bytes: statSync(path).size, markdown: text(path) });
  expect(text(path)).toContain('`echo three`');
  expect(text(path)).not.toContain('`echo one`');
  const { session_id } = exported;
  expect((await call('session.recording_read', { session_id })).markdown).toBe(text(path));
  const [entry] = await call('session.recording_list');
  expect(entry).toMatchObject({ unterm_session_id: session_id, exit_reason: 'user_export', log_path: null });
  const usual = await call('session.export_markdown', { id });
  expect(usual.path).toMatch(/\.fairlead\/sessions\/.+\/tab-\d+-\d{6}\.md$/);
  expect(usual).not.toHaveProperty('markdown');

  writeFileSync(join(place.home, 'precious.txt'), 'precious');
  writeFileSync(join(place.home, 'plain.md'), 'old');
  symlinkSync(join(place.home, 'precious.txt'), join(place.home, 'link.md'));
  const refused: Record<string, RegExp> = {
    'relative.md': /not absolute/,
    [join(place.home, 'a\0b.md')]: /NUL character/,
    [join(place.home, 'none', 'x.md')]: /directory does not exist/,
    [join(root(), 'x.md')]: /server's own state/,
    [join(root(), '..', '.fairlead', 'sessions', 'x.md')]: /server's own state/,
    [join(place.home, 'precious.txt')]: /no markdown file/,
    [join(place.home, 'link.md')]: /no markdown file/,
  };
  for (const [bad, why] of Object.entries(refused)) {
    expect((await failure('session.export_markdown', { id, path: bad }))?.message).toMatch(why);
  }
  expect(text(join(place.home, 'precious.txt'))).toBe('precious');
  expect(readdirSync(root())).not.toContain('x.md');
  await call('session.export_markdown', { id, path: join(place.home, 'plain.md') });
  expect(text(join(place.home, 'plain.md'))).toContain('`echo one`');
});

test('home and / are no projects, nor is a directory that cannot hold one (R-RPC-062)', async () => {
  const where = async (cwd: string): Promise<{ log: string; project: string | null }> => {
    const id = await place.create({ cwd });
    const { log_path, session_id } = await call('session.recording_start', { id });
    await call('session.recording_stop', { id });
    const all = await call('session.recording_list');
    const { project_path } = all.find((one: { recording_id: string }) => one.recording_id === session_id);
    return { log: log_path, project: project_path };
  };
  const orphan = join(root(), 'sessions', '_orphan');
  expect(await where(place.home)).toEqual({ log: expect.stringContaining(orphan), project: null });
  expect(await where('/')).toEqual({ log: expect.stringContaining(orphan), project: null });
  const linked = project();
  const elsewhere = project();
  symlinkSync(elsewhere, join(linked, '.fairlead'));
  const fallen = await where(linked);
  expect(fallen.log).toContain(join(root(), 'sessions', 'project-'));
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('bad input is refused with what to do next', async () => {
  const id = await place.create();
  const mixed = await failure('session.recording_read', { session_id: String(id) });
  expect(mixed).toMatchObject({
    message: `Invalid session_id: ${id} is the number of a session, not of a recording`,
    data: { code: 'INVALID_PARAMS', hint: expect.stringContaining('recording_list') },
  });
  expect((await failure('session.recording_read', {}))?.message).toBe("Missing 'session_id'");
  expect((await failure('session.recording_read', { session_id: '../../etc/passwd' }))?.message).toBe(
    'Recording not found: ../../etc/passwd',
  );
  for (const method of ['start', 'stop', 'status', 'attach_trace']) {
    const more = method === 'attach_trace' ? { trace_id: 'x' } : {};
    expect((await failure(`session.recording_${method}`, { id: 999, ...more }))?.message).toBe('Session 999 not found');
    expect((await failure(`session.recording_${method}`, more))?.message).toBe(
      "Missing 'id' or 'session_id' parameter",
    );
  }
  expect((await failure('session.recording_attach_trace', { id }))?.message).toBe("Missing 'trace_id'");
  expect((await failure('session.recording_attach_trace', { id, trace_id: '' }))?.message).toMatch(/trace_id/);
  expect((await failure('session.export_markdown', { id: 999 }))?.message).toBe('Session 999 not found');
  const ended = await place.create({ argv: ['true'] });
  expect((await failure('session.recording_start', { id: ended }))?.message).toBe(`Session ${ended} has exited`);
});

test('a caller that leaves does not wait for the markdown, which is rendered all the same (R-RPC-015)', async () => {
  const id = await place.create();
  const { recording_id } = await call('session.recording_start', { id });
  const { engine } = place;
  const { index, documents } = logsOf(engine).library;
  const slow = deferred();
  const close = documents.close.bind(documents);
  vi.spyOn(documents, 'close').mockImplementationOnce(async (entry, pause) => {
    await slow.promise;
    return await close(entry, pause);
  });
  const leaving = new AbortController();
  const stopping = callOperation(recording_stop, { id }, { engine, caller: localPerson, signal: leaving.signal });
  await vi.waitUntil(() => logsOf(engine).entryOf(place.terminal(id).id) === undefined);
  leaving.abort();
  await expect(stopping).rejects.toMatchObject({ code: 'cancelled' });
  slow.resolve();
  const isOpen = async () => (await index.open()).some((one) => one.recording_id === recording_id);
  await vi.waitUntil(async () => !(await isOpen()), { timeout: 20_000 });
  expect(index.find(recording_id)).toMatchObject({ exit_reason: 'recording_stopped' });
});
