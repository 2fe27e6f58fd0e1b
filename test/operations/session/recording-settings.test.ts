import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RpcPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
beforeEach(async () => {
  place = await RpcPlace.open();
});

const call = (method: string, params?: unknown) => place.client.call(method, params);
const failure = async (method: string, params?: unknown) => (await place.client.ask(method, params)).error;
const root = (): string => join(place.home, '.fairlead');
const text = (path: string): string => readFileSync(path, 'utf8');

afterEach(() => place[Symbol.asyncDispose]());

/** As a person's editor would. */
const edit = (settings: object): void => writeFileSync(join(root(), 'recording.json'), JSON.stringify(settings));

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

test('read renders with the redaction of today, and falls back to the stored markdown (R-RPC-064, 073)', async () => {
  const { stopped } = await recorded(['echo badge-4711']);
  const read = async (): Promise<string> =>
    (await call('session.recording_read', { recording_id: stopped.recording_id })).markdown;
  expect(await read()).toBe(text(stopped.md_path));
  edit({ redaction: { custom_patterns: ['badge-\\d+'] } });
  await expect.poll(read).not.toContain('4711');
  expect(text(stopped.md_path)).toContain('badge-4711');
  rmSync(stopped.log_path);
  expect(await read()).toContain('badge-4711');
  rmSync(stopped.md_path);
  const gone = await failure('session.recording_read', { session_id: stopped.recording_id });
  expect(gone?.message).toBe(`The files of recording ${stopped.recording_id} are gone`);
});

test('redaction can be turned off, raw logs thrown away, and faults in the file are told (R-RPC-064, 070, 080)', async () => {
  edit({ redaction: { enabled: false, custom_patterns: ['('] }, keep_raw: false });
  const id = await place.create({ cwd: project() });
  const isOff = async (): Promise<boolean> => {
    const exported = await call('session.export_markdown', { id, inline: true });
    return exported.markdown.includes('redaction_active: false');
  };
  await expect.poll(isOff).toBe(true);
  const { started, stopped } = await recorded([`echo ${secret}`]);
  expect(text(stopped.md_path)).toContain(secret);
  expect(stopped.log_path).toBeNull();
  expect(existsSync(started.log_path)).toBe(false);
  edit({ redaction: { custom_patterns: ['('] } });
  const problems = async (): Promise<string[]> => (await call('session.recording_status', { id })).problems ?? [];
  await expect.poll(problems).toEqual([expect.stringContaining('(')]);
  writeFileSync(join(root(), 'recording.json'), '{\n"keep_raw": yes\n}');
  await expect.poll(problems).toEqual([expect.stringMatching(/recording\.json .*line 2/)]);
  expect(text(join(root(), 'recording.json'))).toContain('yes');
});

test('new sessions are recorded where the person wants it (R-RPC-064)', async () => {
  edit({ recording: { enabled: true } });
  const isRecorded = async (): Promise<boolean> => {
    const id = await place.create({ cwd: project() });
    const { recording } = await call('session.recording_status', { id });
    await call('session.destroy', { id });
    return recording;
  };
  await expect.poll(isRecorded).toBe(true);
  const [newest] = await call('session.recording_list');
  // R-RPC-026: the answer to destroy comes with the recording complete.
  expect(newest).toMatchObject({ exit_reason: 'session_exit', ended_at: expect.any(String) });
  expect(existsSync(newest.md_path)).toBe(true);
});
