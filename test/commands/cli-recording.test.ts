import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, Served } from '../support/served.ts';

let served: Served;
let cwd: string;
const secret = ['Zx81', 'kQ0pLmn4T99'].join('');

beforeAll(async () => {
  served = await Served.start(['--port', '0', '--rpc-port', '0']);
  cwd = mkdtempSync(join(tmpdir(), 'fl-here-'));
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  rmSync(cwd, { recursive: true, force: true });
});

const fairlead = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: served.home, LANG: 'C.UTF-8', DEPLOY_TOKEN: secret };
    execFile(process.execPath, [program, ...args], { env, cwd }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
    });
  });
const answer = async (...args: string[]) => JSON.parse((await fairlead(...args, '--json')).stdout);

test('session record start, status, trace and stop; sessions list and read (R-RPC-150)', async () => {
  const project = join(served.home, 'app');
  mkdirSync(project);
  const { id } = await answer('session', 'create', '--cwd', project, '--name', 'build');
  const started = await answer('session', 'record', 'start', 'build');
  expect(started.log_path).toContain(join(project, '.fairlead', 'sessions'));
  await fairlead('exec', 'wait', String(id), 'echo from-the-cli');
  expect(await answer('session', 'record', 'status', String(id))).toMatchObject({ recording: true, block_count: 1 });
  expect(await answer('session', 'record', 'trace', String(id), 'build-77')).toEqual({ trace_ids: ['build-77'] });
  expect(await fairlead('session', 'record', 'start', String(id))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Recording already active for pane ${id}`),
  });
  const stopped = await answer('session', 'record', 'stop', '--session', 'build');
  expect(stopped).toMatchObject({ recording_id: started.recording_id, exit_reason: 'recording_stopped' });
  expect((await fairlead('session', 'record', 'stop', String(id))).code).toBe(4);

  const listed = await fairlead('sessions', 'list', '--project', project);
  expect(listed.stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(`^${started.recording_id} .+ recording_stopped +1 blocks`),
  ]);
  expect(await answer('sessions', 'list')).toMatchObject([{ unterm_session_id: started.recording_id }]);
  const read = await fairlead('sessions', 'read', started.recording_id);
  expect(read.stdout).toBe(readFileSync(stopped.md_path, 'utf8'));
  expect(read.stdout).toContain('## Block 1 — `echo from-the-cli`');
  expect((await fairlead('sessions', 'read', 'nonsense')).code).toBe(4);
});

test('session export -o leaves the file where the command was given (R-RPC-152)', async () => {
  const { id } = await answer('session', 'create');
  await fairlead('exec', 'wait', String(id), 'echo exported');
  const { path } = await answer('session', 'export', String(id), '-o', 'out.md');
  expect(path).toBe(join(cwd, 'out.md'));
  expect(readFileSync(path, 'utf8')).toContain('## Block 1 — `echo exported`');
  await fairlead('session', 'export', String(id), '--path', join(cwd, 'again.md'));
  expect(readFileSync(join(cwd, 'again.md'), 'utf8')).toContain('exported');
  await answer('session', 'export', String(id), '-o', 'out.md', '--max-blocks', '1');
  expect((await fairlead('session', 'export', String(id), '-x', 'out.md')).code).toBe(2);
  const before = await fairlead('session', 'export', '--help');
  expect(before.stdout).toMatch(/-o, --path <file>/);
});

test('what is exported from a log is without the secrets of the environment (R-RPC-080)', async () => {
  const { id } = await answer('session', 'create');
  const { recording_id } = await answer('session', 'record', 'start', String(id));
  await fairlead('exec', 'wait', String(id), `echo plain-${secret}-word`);
  await answer('session', 'record', 'stop', String(id));
  for (const format of ['md', 'txt']) {
    const { path } = await answer('recordings', 'export', recording_id, '--format', format);
    const text = readFileSync(join(cwd, path), 'utf8');
    expect(text).toMatch(/plain-<redacted:[0-9a-f]{8}>-word/);
    expect(text).not.toContain(secret);
  }
});

test('what is missing or unknown behind two words is said', async () => {
  expect(await fairlead('session', 'record')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('session --help'),
  });
  expect(await fairlead('session', 'record', 'begin')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no session record begin.'),
  });
  expect((await fairlead('session', '--help')).stdout).toMatch(/record start \[session\]/);
});
