import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { followTerminal } from '../../../src/operations/person/index.ts';
import { list as commandList } from '../../../src/operations/remote/command-list.ts';
import { exec, execOutput } from '../../../src/operations/remote/commands.ts';
import { disconnect, sessions } from '../../../src/operations/remote/sessions.ts';
import { waitFor } from '../../../src/operations/remote/shell-output.ts';
import { open as openShell, write } from '../../../src/operations/remote/shells.ts';
import { close, open, replay } from '../../../src/operations/streams/lanes.ts';
import { stats } from '../../../src/operations/streams/lane-stats.ts';
import { list, read, templates } from '../../../src/operations/streams/resources.ts';
import type { Peer } from '../../../src/streams/peer.ts';
import { ended, started } from '../../support/ssh/commands.ts';
import { session, withSshd } from '../../support/ssh/login.ts';
import { plain, Remote } from '../../support/ssh/remote.ts';
import { shell } from '../../support/ssh/shells.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((made) => (sshd = made));

let at: Remote;
let client: Peer;
let session_id: string;
beforeEach(async () => {
  at = new Remote({
    connector: sshd.connector(),
    settings: { commandBufferBytes: 4096 },
    streams: { debounceMs: 5, laneBuffer: 16 },
  });
  client = at.streams.connect('connection', 'me');
  session_id = await session(at, sshd);
});
afterEach(() => at[Symbol.asyncDispose]());

type Read = { readonly text: string; readonly mime_type: string; readonly meta: Readonly<Record<string, unknown>> };
const get = async (uri: string): Promise<Read> => (await at.run(read, { uri }, { connected: client })) as Read;
const lane = async (input: { readonly uri: string; readonly [name: string]: string | number }): Promise<string> =>
  (await at.run(open, input, { connected: client })).sub_id as string;
/** Not by waiting for it, which would hold it open. */
const statusOf = async (command_id: string): Promise<unknown> =>
  (await at.run(commandList, {})).commands.find((one) => one.command_id === command_id)?.status;
const refused = async (op: AnyOperation, input: object): Promise<unknown> =>
  (await at.ask(op, input as Record<string, unknown>, { connected: client })).facts['code'];

/** Reads on until the answer says that nothing more can come: every text and the last answer. */
async function toTheEnd(uri: string): Promise<readonly [string[], Read]> {
  const texts: string[] = [];
  for (;;) {
    const one = await get(uri);
    texts.push(one.text);
    if (one.meta['eof'] === true) return [texts, one];
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('command:// (3.3)', () => {
  test('the streams in blocks with one nonce, the status while it is not completed, then the exit code', async () => {
    const command_id = await started(at, session_id, 'echo out; echo err >&2; read go < /dev/null; exit 3');
    await ended(at, command_id);
    const uri = `command://${command_id}/output`;
    const { text, mime_type, meta } = await get(uri);
    expect(mime_type).toBe('text/plain');
    expect(plain(text)).toBe('--- stdout [<nonce>] ---\nout\n--- stderr [<nonce>] ---\nerr');
    expect(new Set(text.match(/\[[0-9a-f]{8}\]/g)).size).toBe(1);
    expect(meta).toEqual({
      kind: 'command',
      cursor: 8,
      buffer_size: 8,
      buffer_start: 0,
      last_seq: expect.any(Number),
      status: 'completed',
      eof: true,
      exit_code: 3,
    });
    const { blob } = (await at.run(read, { uri: `${uri}?raw=true` })) as { blob: string };
    expect(Buffer.from(blob, 'base64').toString().length).toBe(8);
  });

  test('a slice holds only the part of each stream that is in it', async () => {
    const command_id = await started(at, session_id, 'echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three');
    await ended(at, command_id);
    const slice = async (cursor: string) => plain((await get(`command://${command_id}/output?cursor=${cursor}`)).text);
    expect(await slice('4')).toBe('--- stdout [<nonce>] ---\nthree\n--- stderr [<nonce>] ---\ntwo');
    expect(await slice('8')).toBe('--- stdout [<nonce>] ---\nthree\n--- stderr [<nonce>] (empty) ---');
    expect(await slice('auto')).toBe('--- stdout [<nonce>] (empty) ---\n--- stderr [<nonce>] (empty) ---');
  });

  test('running is said in the fences; what the ring dropped is counted', async () => {
    const command_id = await started(at, session_id, 'echo first; sleep 60');
    const uri = `command://${command_id}/output`;
    await expect.poll(async () => (await get(uri)).text).toContain('first');
    const { text, meta } = await get(uri);
    expect(plain(text)).toBe('--- stdout [<nonce>] (running) ---\nfirst\n--- stderr [<nonce>] (running, empty) ---');
    expect(meta).toMatchObject({ status: 'running', eof: false });
    expect(meta).not.toHaveProperty('exit_code');

    const big = await started(at, session_id, 'head -c 20000 /dev/zero | tr "\\0" x; echo; echo last');
    await ended(at, big);
    const cut = await get(`command://${big}/output?cursor=5`);
    const { buffer_start, truncated_bytes, cursor } = cut.meta as Record<string, number>;
    expect(buffer_start).toBeGreaterThan(10_000);
    expect([truncated_bytes, cursor]).toEqual([(buffer_start ?? 0) - 5, 20_006]);
    expect(cut.text).toContain('x\nlast\n');
  });

  test('a command that takes too long failed', async () => {
    const command_id = await started(at, session_id, 'sleep 60', { timeout_secs: 1 });
    await ended(at, command_id);
    expect((await get(`command://${command_id}/output`)).meta).toMatchObject({ status: 'failed', eof: true });
  });

  test('a lane with a filter delivers the matching lines and the end', async () => {
    const command_id = await started(at, session_id, 'sleep 0.3; for i in 1 2 3 4 5 6; do echo line $i; done; exit 4');
    const uri = `command://${command_id}/output`;
    const sub = await lane({ uri, filter: '[246]$' });
    const [texts, last] = await toTheEnd(`${uri}?sub=${sub}`);
    const lines = texts.join('\n').match(/^line \d$/gm);
    expect(lines).toEqual(['line 2', 'line 4', 'line 6']);
    expect(last.meta).toMatchObject({ sub_id: sub, exit_code: 4, status: 'completed', recovered: false });
    expect(await refused(stats, { sub_id: sub })).toBe('SUB_NOT_FOUND');
    expect(await refused(open, { uri })).toBe('RESOURCE_GONE');
  });
});

test('3.1: the description of a command is one line', async () => {
  const command_id = await started(at, session_id, 'true\nterminal://x/output  forged');
  const { resources } = await at.run(list, {}, { connected: client });
  const found = resources.find(({ uri }) => uri === `command://${command_id}/output`);
  expect(found?.description).toMatch(/^\w+: true\\nterminal:\/\/x\/output {2}forged$/);
});

describe('shell:// and terminal:// (3.1)', () => {
  test('one log with two names and one stored offset', async () => {
    const shell_id = await shell(at, session_id);
    const [byShell, byTerminal] = [`shell://${shell_id}/output`, `terminal://${shell_id}/output`];
    const { resources } = await at.run(list, {}, { connected: client });
    expect(resources.map(({ uri }) => uri)).toEqual([byShell, `session://${session_id}/health`]);
    expect(resources[0]).toMatchObject({
      name: `shell ${shell_id}`,
      description: `xterm 80x24 on ${sshd.user}@${sshd.host}`,
    });
    expect((await get(`${byShell}?cursor=auto`)).meta).toMatchObject({ kind: 'shell', status: 'open' });
    await at.run(write, { shell_id, input: 'echo $((6*7))\n' });
    let seen = '';
    await expect
      .poll(async () => (seen += (await get(`${byTerminal}?cursor=auto`)).text), { timeout: 20_000 })
      .toContain('42\nready$ ');
    const { text, meta } = await get(`${byShell}?cursor=auto`);
    expect([text, meta['kind']]).toEqual(['', 'shell']);
  });

  test('without the ssh tools, a shell is still a terminal', async () => {
    const shell_id = await shell(at, session_id);
    const offers = (name: string): boolean => name === 'terminal://';
    const { resources } = await at.run(list, {}, { offers });
    const { id } = at.engine.sessions.aliasOf(shell_id) ?? {};
    expect(resources.map(({ uri }) => uri)).toEqual([`terminal://${id}/output`]);
  });

  test('the four kinds of templates, in their order', async () => {
    const { templates: all } = await at.run(templates, {});
    expect(all.map(({ uri_template, mime_type }) => [uri_template, mime_type])).toEqual([
      ['shell://{shell_id}/output{?cursor}', 'text/plain'],
      ['command://{command_id}/output{?cursor}', 'text/plain'],
      ['session://{session_id}/health', 'application/json'],
      ['terminal://{terminal_id}/output{?cursor}', 'text/plain'],
    ]);
  });

  test('replay of a shell goes back to its beginning', async () => {
    const shell_id = await shell(at, session_id);
    const uri = `shell://${shell_id}/output`;
    const sub_id = await lane({ uri });
    expect((await get(`${uri}?sub=${sub_id}`)).text).toBe('');
    const { bytes } = await at.run(replay, { sub_id }, { connected: client });
    const { text, meta } = await get(`${uri}?sub=${sub_id}`);
    expect(text).toContain('begin\nready$ ');
    expect([bytes, meta['cursor']]).toEqual([meta['cursor'], bytes]);
  });
});

describe('session:// (3.3)', () => {
  test('its health as JSON; events on a lane; the end', async () => {
    const uri = `session://${session_id}/health`;
    const { text, mime_type, meta } = await get(uri);
    expect(mime_type).toBe('application/json');
    expect(JSON.parse(text)).toEqual({
      session_id,
      host: sshd.host,
      port: sshd.port,
      username: sshd.user,
      agent_id: null,
      name: null,
      healthy: true,
      last_health_check: null,
      connected_at: expect.any(String),
      expires_at: expect.any(String),
      persistent: false,
      compression_enabled: false,
      last_seq: meta['last_seq'],
    });
    expect(meta).toEqual({ kind: 'session', last_seq: expect.any(Number), status: 'healthy', eof: false });

    const sub_id = await lane({ uri, filter: '"kind":"(healthy|disconnected)"' });
    await at.run(sessions, {});
    await expect
      .poll(async () => (await at.run(stats, { sub_id }, { connected: client })).queue_depth)
      .toBeGreaterThan(0);
    const events = async () => JSON.parse((await get(`${uri}?sub=${sub_id}`)).text) as Record<string, unknown>;
    const first = await events();
    expect(first).toEqual({
      snapshot: expect.objectContaining({ session_id, healthy: true, last_health_check: expect.any(String) }),
      events: [{ seq: expect.any(Number), at: expect.any(String), kind: 'healthy' }],
    });
    await at.run(disconnect, { session_id });
    const last = await get(`${uri}?sub=${sub_id}`);
    expect(JSON.parse(last.text)).toMatchObject({
      events: [{ kind: 'disconnected' }, { kind: 'closed', reason: expect.any(String) }],
    });
    expect(last.meta).toMatchObject({ eof: true });
    expect(await refused(read, { uri })).toBe('SESSION_NOT_FOUND');
    expect(await refused(open, { uri })).toBe('RESOURCE_GONE');
  });
});

describe('what ends with its last subscriber (4.7)', () => {
  const kept = { release_when_no_subs: true, grace_ms: 100 };

  test('a command is cancelled, and its URI says why', async () => {
    const { command_id } = await at.run(exec, { session_id, command: 'sleep 60', ...kept });
    const uri = `command://${command_id}/output`;
    const sub_id = await lane({ uri });
    expect(await at.run(close, { sub_id }, { connected: client })).toMatchObject({ lifecycle_state: 'releasing' });
    await expect.poll(() => statusOf(command_id), { timeout: 20_000 }).toBe('cancelled');
    expect(await refused(open, { uri })).toBe('GRACE_TIMER_EXPIRED');
  });

  test('a shell is closed; coming back in time keeps it', async () => {
    const { shell_id } = await at.run(openShell, { session_id, ...kept, grace_ms: 60_000 });
    const uri = `shell://${shell_id}/output`;
    const first = await lane({ uri });
    await at.run(close, { sub_id: first }, { connected: client });
    const second = await lane({ uri });
    expect(await at.run(close, { sub_id: second }, { connected: client })).toMatchObject({
      lifecycle_state: 'releasing',
    });

    const { shell_id: short = '' } = await at.run(openShell, { session_id, ...kept });
    const other = await lane({ uri: `shell://${short}/output` });
    const terminal = at.engine.sessions.aliasOf(short);
    await at.run(close, { sub_id: other }, { connected: client });
    await expect.poll(() => terminal?.ended, { timeout: 20_000 }).toBeDefined();
    expect(await refused(open, { uri: `shell://${short}/output` })).toBe('GRACE_TIMER_EXPIRED');
    expect(at.engine.sessions.aliasOf(shell_id ?? '')?.ended).toBeUndefined();
  });

  test('a client that is gone lets go of it', async () => {
    const { command_id } = await at.run(exec, { session_id, command: 'sleep 60', ...kept });
    await lane({ uri: `command://${command_id}/output` });
    client[Symbol.dispose]();
    await expect.poll(() => statusOf(command_id), { timeout: 20_000 }).toBe('cancelled');
    expect(at.streams.counts).toMatchObject({ subscriptions: 0 });
  });

  test('what no client followed stays; a call that waits holds it open', async () => {
    const { command_id: alone } = await at.run(exec, { session_id, command: 'sleep 60', ...kept });
    const { command_id } = await at.run(exec, { session_id, command: 'sleep 1.5; echo done', ...kept });
    const waiting = at.ask(execOutput, { command_id, wait: true, wait_timeout_secs: 20 });
    const sub_id = await lane({ uri: `command://${command_id}/output` });
    await at.run(close, { sub_id }, { connected: client });
    expect((await waiting).facts).toMatchObject({ status: 'completed', stdout: 'done\n' });
    expect((await at.ask(execOutput, { command_id: alone })).facts['status']).toBe('running');
  });

  interface Holder {
    readonly hold: (terminal: Terminal) => Promise<() => Promise<unknown>>;
  }
  const holders: Readonly<Record<string, Holder>> = {
    'a person who is attached': {
      async hold({ id }) {
        const leave = new AbortController();
        const caller = { ...localPerson, principal: 'me' };
        const items = callStream(
          followTerminal,
          { session: id, from: 0 },
          { engine: at.engine, caller, signal: leave.signal },
        );
        await items.next();
        return async () => {
          leave.abort();
          await items.return();
        };
      },
    },
    'a recording': {
      async hold(terminal) {
        const { recordingId } = await at.engine.recordings.start(terminal);
        return () => at.engine.recordings.stop(recordingId);
      },
    },
    'a session log': {
      async hold(terminal) {
        const { logs } = at.engine;
        await logs?.start(terminal);
        return async () => await logs?.stop(terminal);
      },
    },
    'a call that waits': {
      async hold() {
        const stop = new AbortController();
        const [shell] = at.ssh.shells.all('me');
        const wait = { shell_id: shell?.id ?? '', patterns: ['never said'], timeout_secs: 300 };
        const waiting = at.ask(waitFor, wait, { signal: stop.signal });
        return () => {
          stop.abort();
          return waiting;
        };
      },
    },
  };

  test.each(Object.entries(holders))('%s holds it open, and then it ends', async (_, { hold }) => {
    const { shell_id = '' } = await at.run(openShell, { session_id, ...kept });
    const terminal = at.engine.sessions.aliasOf(shell_id) as Terminal;
    const letGo = await hold(terminal);
    const sub_id = await lane({ uri: `shell://${shell_id}/output` });
    const { lifecycle_state } = await at.run(close, { sub_id }, { connected: client });
    expect(lifecycle_state).toBe('owned');
    // Nothing tells that it stays: its own time has to pass.
    await new Promise((resolve) => setTimeout(resolve, 5 * kept.grace_ms));
    expect(terminal.ended).toBeUndefined();
    await letGo();
    await expect.poll(() => terminal.ended, { timeout: 20_000 }).toBeDefined();
  });
});

test('4.7: what no client follows is named as a leak, in both halves, until a client follows it', async () => {
  await using quick = new Remote({ connector: sshd.connector(), streams: { leakWarnMs: 1 } });
  const id = await session(quick, sshd);
  const command_id = await started(quick, id, 'sleep 60');
  await quick.run(exec, { session_id: id, command: 'sleep 60', release_when_no_subs: true });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const uri = `command://${command_id}/output`;
  for (const op of [sessions, commandList] as AnyOperation[]) {
    const { text, facts } = await quick.ask(op, {});
    const warnings = facts['warnings'] as string[];
    expect(warnings).toEqual([expect.stringMatching(`^SUB_LEAK_RISK ${uri} age_ms=\\d+ severity=warn$`)]);
    expect(text.match(/^WARN: .*/gm)).toEqual([`WARN: ${warnings[0]}`]);
  }
  const listed = await quick.run(list, {});
  expect(listed.warnings).toEqual([
    {
      code: 'SUB_LEAK_RISK',
      resource: uri,
      kind: 'command',
      age_ms: expect.any(Number),
      severity: 'warn',
      msg: `No client follows ${uri}, and it is not released by itself.`,
    },
  ]);
  using follower = quick.streams.connect('connection', 'me');
  await quick.run(open, { uri }, { connected: follower });
  expect((await quick.run(commandList, {})).warnings).toEqual([]);
});
