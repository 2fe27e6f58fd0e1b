import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Surroundings } from '../../../src/commands/command.ts';
import { drive } from '../../../src/commands/drive/drive.ts';
import { verbsOf } from '../../../src/faces/cli/verbs.ts';
import { sessionBook } from '../../../src/operations/session/index.ts';
import { type RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

/** The index of the reference page, literally, without `auth.login`. */
const index = `
capture.clipboard capture.screen capture.select capture.window exec.cancel exec.run exec.run_wait exec.send exec.status instance.focus
instance.info instance.list instance.set_title orchestrate.broadcast orchestrate.launch orchestrate.wait policy.check policy.set
proxy.configure proxy.disable proxy.env proxy.nodes proxy.speedtest proxy.status proxy.switch screen.cursor screen.detect_errors
screen.read screen.scroll screen.search screen.text selftest.run server.capabilities server.health server.info session.audit_log
session.create session.cwd session.destroy session.env session.export_markdown session.get session.history session.idle session.input
session.list session.recording_attach_trace session.recording_list session.recording_read session.recording_start
session.recording_status session.recording_stop session.resize session.set_env session.status signal.send system.info
system.launch_admin workspace.list workspace.restore workspace.save`
  .trim()
  .split(/\s+/);

/** Ours, beyond the page. */
const ours = ['policy.get', 'workspace.delete'];

/** What an answer told that later calls need. */
const told: Record<string, unknown> = {};

interface Row {
  readonly method: string;
  readonly params?: () => object;
  /** Keys of the answer, as the page documents them; of the first element where it is a list. */
  readonly keys: string;
  /** The same call on the command line. */
  readonly cli: () => readonly string[];
  /** Where the answer is an error by its documentation. */
  readonly error?: string;
  readonly keep?: (answer: Record<string, unknown>) => void;
}

const about = () => ({ id: 0 });
const row = (method: string, keys: string, more: Partial<Row> & { readonly words?: readonly string[] } = {}): Row => {
  const [noun = '', verb = ''] = method.split('.');
  const { words = [], ...rest } = more;
  return { method, keys, cli: () => [noun, verb.replaceAll('_', '-'), ...words], ...rest };
};
const ofSession = (
  method: string,
  keys: string,
  more: Partial<Row> & { readonly words?: readonly string[] } = {},
): Row => row(method, keys, { params: about, words: ['0'], ...more });

const recording = () => String(told['recording']);

/** In an order in which each finds what it needs. */
const rows: readonly Row[] = [
  row('session.create', 'id session_id title cols rows', { params: () => ({ cols: 100, rows: 30 }) }),
  row('session.list', 'sessions'),
  ofSession('session.get', 'id title cols rows scrollback_rows cursor is_dead domain_id shell'),
  ofSession('session.status', 'id title cols rows scrollback_rows cursor is_dead domain_id shell'),
  ofSession('exec.run_wait', 'output exit_status timed_out marker', {
    params: () => ({ id: 0, command: 'echo error: hello' }),
    words: ['0', 'echo error: hello'],
  }),
  ofSession('session.idle', 'idle foreground_process'),
  ofSession('session.cwd', 'cwd'),
  ofSession('session.env', 'value', { params: () => ({ id: 0, name: 'HOME' }), words: ['0', 'HOME'] }),
  ofSession('session.set_env', 'status', {
    params: () => ({ id: 0, name: 'FOO', value: 'bar' }),
    words: ['0', 'FOO', 'bar'],
  }),
  ofSession('session.history', 'entries count'),
  ofSession('session.resize', 'status', { params: () => ({ id: 0, cols: 90, rows: 20 }), words: ['0', '90', '20'] }),
  ofSession('exec.status', 'status foreground_process'),
  ofSession('screen.read', 'cells cursor cols rows scrollback_rows'),
  ofSession('screen.text', 'lines cursor cols rows'),
  ofSession('screen.cursor', 'x y visible shape'),
  ofSession('screen.scroll', 'lines offset count'),
  ofSession('screen.search', 'matches total', { params: () => ({ id: 0, pattern: 'hello' }), words: ['0', 'hello'] }),
  ofSession('screen.detect_errors', 'has_errors errors'),
  row('capture.screen', 'captures image type text_snapshot'),
  row('capture.window', 'session_id title screen image type text_snapshot'),
  row('capture.select', 'image type mode message'),
  row('capture.clipboard', 'type content', { params: () => ({ set: 'copied' }), words: ['copied'] }),
  ofSession('session.recording_start', 'session_id log_path md_path_when_done', {
    keep: ({ session_id }) => (told['recording'] = session_id),
  }),
  ofSession('session.recording_status', 'recording session_id started_at block_count'),
  ofSession('session.recording_attach_trace', 'trace_ids', {
    params: () => ({ id: 0, trace_id: 'trace-1' }),
    words: ['0', 'trace-1'],
  }),
  ofSession('session.recording_stop', 'session_id ended_at block_count exit_reason md_path'),
  row(
    'session.recording_list',
    'unterm_session_id tab_id project_path project_slug started_at ended_at block_count bytes_raw log_path md_path',
  ),
  row('session.recording_read', 'markdown', {
    params: () => ({ session_id: recording() }),
    cli: () => ['sessions', 'read', recording()],
  }),
  ofSession('session.export_markdown', 'session_id path bytes block_count'),
  ofSession('session.input', 'status', {
    params: () => ({ id: 0, input: 'echo typed\r' }),
    words: ['0', 'echo typed\r'],
  }),
  ofSession('exec.send', 'status', { params: () => ({ id: 0, input: 'echo sent\r' }), words: ['0', 'echo sent\r'] }),
  ofSession('exec.run', 'sent', { params: () => ({ id: 0, command: 'sleep 600' }), words: ['0', 'sleep 600'] }),
  ofSession('exec.cancel', 'cancelled'),
  ofSession('signal.send', 'sent signal', { params: () => ({ id: 0, signal: 'SIGINT' }), words: ['0', 'SIGINT'] }),
  ofSession('orchestrate.wait', 'matched pattern', {
    params: () => ({ id: 0, pattern: 'hello' }),
    words: ['0', 'hello'],
  }),
  row('orchestrate.launch', 'id session_id title cols rows', {
    params: () => ({ command: 'echo launched' }),
    words: ['--command', 'echo launched'],
    keep: ({ session_id }) => (told['launched'] = session_id),
  }),
  row('orchestrate.broadcast', 'results', {
    params: () => ({ command: 'true', sessions: [String(told['launched'])] }),
    cli: () => ['orchestrate', 'broadcast', '--command', 'true', '--sessions', String(told['launched'])],
  }),
  row('session.destroy', 'status destroyed', {
    params: () => ({ id: told['launched'] }),
    cli: () => ['session', 'destroy', String(told['launched'])],
  }),
  row('workspace.save', 'saved name sessions', { params: () => ({ name: 'walk' }), words: ['walk'] }),
  row('workspace.list', 'workspaces'),
  row('workspace.restore', 'restored name workspace message', {
    params: () => ({ name: 'walk', dry_run: true }),
    words: ['walk', '--dry-run'],
  }),
  row('proxy.configure', 'configured status', {
    params: () => ({ nodes: [{ name: 'near', url: 'http://127.0.0.1:9' }] }),
    words: ['--nodes', '[{"name":"near","url":"http://127.0.0.1:9"}]'],
  }),
  row('proxy.status', 'enabled mode http_proxy socks_proxy no_proxy current_node node_count health'),
  row('proxy.nodes', 'current_node nodes'),
  row('proxy.switch', 'switched current_node http_proxy', { params: () => ({ node_name: 'near' }), words: ['near'] }),
  row('proxy.speedtest', 'results'),
  row('proxy.env', 'enabled env'),
  row('proxy.disable', 'disabled'),
  row('instance.list', 'instances'),
  row('instance.info', 'id pid started_at mcp_port http_port auth_token title cwd version platform'),
  row('instance.set_title', 'ok title', { params: () => ({ title: 'walked' }), words: ['walked'] }),
  row('instance.focus', 'ok'),
  row('server.info', 'name version engine protocol'),
  row('server.health', 'status engine mcp mux terminal'),
  row('server.capabilities', 'session exec screen workspace capture proxy governance system instance'),
  row('system.info', 'name version engine platform arch active_sessions hostname'),
  row('system.launch_admin', '', { error: 'Administrator launch is only supported on Windows' }),
  row('policy.set', 'set', {
    params: () => ({ enabled: false, blocked_patterns: [], allowed_patterns: [] }),
    words: ['--enabled=false', '--blocked-patterns', '', '--allowed-patterns', ''],
  }),
  row('policy.check', 'allowed reason', { params: () => ({ command: 'ls' }), words: ['ls'] }),
  row('session.audit_log', 'timestamp method session_id detail allowed'),
  row('selftest.run', 'ok checks'),
];

test('the page has 61 methods besides auth.login, and each has a row here (R-RPC-016)', () => {
  expect(index).toHaveLength(61);
  expect(rows.map(({ method }) => method).toSorted()).toEqual(index.toSorted());
});

test('server.capabilities lists them all, and says which methods are ours (R-RPC-016)', async () => {
  const { extension, ...groups } = await place.client.call('server.capabilities');
  const listed = Object.values<string[]>(groups).flat();
  expect(listed.toSorted()).toEqual([...rows.map(({ method }) => method), ...ours].toSorted());
  expect(extension.toSorted()).toEqual(ours);
  expect(groups.exec).toContain('signal.send');
  expect(groups.governance).toEqual(
    expect.arrayContaining(['policy.set', 'policy.check', 'server.info', 'selftest.run']),
  );
});

test('every method is a verb of the command line (R-RPC-016)', () => {
  const methods = [...verbsOf(sessionBook).values()].flatMap((verbs) =>
    [...verbs.values()].map(({ method }) => method),
  );
  expect(rows.filter(({ method }) => !methods.includes(method))).toEqual([]);
});

/** The answer, or the first of a list of them. */
const firstOf = (answer: unknown): Record<string, unknown> =>
  (Array.isArray(answer) ? answer[0] : answer) as Record<string, unknown>;

function expectKeys({ method, keys }: Row, answer: unknown): void {
  const first = firstOf(answer);
  expect(Object.keys(first ?? {}), method).toEqual(expect.arrayContaining(keys.split(' ')));
}

test('every method answers as documented over the bare line protocol', async () => {
  for (const { method, params = () => ({}), error, keep, ...rest } of rows) {
    const answer = await place.client.ask(method, params());
    expect(answer.error?.message, method).toBe(error);
    if (error !== undefined) continue;
    expectKeys({ method, ...rest }, answer.result);
    keep?.(firstOf(answer.result));
  }
}, 60_000);

/** What a verb prints with --json. */
async function onCommandLine([noun = '', ...argv]: readonly string[]): Promise<unknown> {
  const stdout = new PassThrough();
  const printed: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  const env = { FAIRLEAD_HOME: `${place.home}/.fairlead`, NO_COLOR: '1' };
  const around = { stdout, stderr: stdout, env, cwd: () => place.home, version: '9.9.9' } as unknown as Surroundings;
  const code = await drive(noun, [...argv, '--json'], around);
  expect(code, `${noun} ${argv.join(' ')}`).toBe(0);
  return JSON.parse(Buffer.concat(printed).toString());
}

test('and on the command line', async () => {
  for (const { cli, error, keep, ...rest } of rows) {
    if (error !== undefined) {
      await expect(onCommandLine(cli())).rejects.toThrow(error);
      continue;
    }
    const answer = await onCommandLine(cli());
    expectKeys({ cli, ...rest }, answer);
    keep?.(firstOf(answer));
  }
}, 60_000);
