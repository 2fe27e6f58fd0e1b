import { describe, expect, test } from 'vitest';
import { close, open, read, waitFor, write } from '../../../src/operations/remote/shells.ts';
import { plain, Remote } from '../../support/ssh/remote.ts';
import { session, withSession } from '../../support/ssh/login.ts';
import { type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
let at: Remote;
let session_id: string;
withSession((made) => ({ sshd, at, session_id } = made), 'test');

describe('ssh_shell_open', () => {
  test('OK: the reply, its facts, and what the shell said at once', async () => {
    await using slow = new Remote({ connector: sshd.connector(), settings: { initialPeekMs: 10_000 } });
    const on = await session(slow, sshd, { agent_id: 'claude' });
    const { text, facts } = await slow.ask(open, { session_id: on, term: 'vt100', cols: 100, rows: 30 });
    const [, said = ''] = /^INITIAL_BUFFER: (.*)$/m.exec(text) ?? [];
    expect(said).not.toBe('');
    expect(plain(text.replace(said, '<prompt>'))).toBe(
      [
        'SSH_SHELL_OPEN: OK',
        'SHELL_ID: <id1>',
        'SESSION_ID: <id2>',
        'TERM: vt100 100x30',
        'AGENT_ID: claude',
        'INITIAL_BUFFER: <prompt>',
        'HINT: subscribe to shell://<id1>/output for realtime output (preferred over polling)',
        'NEXT: sub_open uri=shell://<id1>/output (PREFERRED — push-first) | ssh_shell_write | ssh_shell_press',
      ].join('\n'),
    );
    const { shell_id: id, initial_buffer: first } = facts as { shell_id: string; initial_buffer: string };
    expect(facts).toEqual({
      tool: 'ssh_shell_open',
      status: 'ok',
      session_id: on,
      shell_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      term: 'vt100',
      cols: 100,
      rows: 30,
      agent_id: 'claude',
      initial_buffer: expect.any(String),
      hint: `subscribe to shell://${id}/output for realtime output (preferred over polling)`,
      next: `sub_open uri=shell://${id}/output (PREFERRED — push-first) | ssh_shell_write | ssh_shell_press`,
    });
    // What was shown is still unread (row 12).
    const { stdout } = await slow.run(read, { shell_id: id });
    expect(stdout?.startsWith(first)).toBe(true);
    await slow.run(write, { shell_id: id, input: 'echo $TERM; stty size\n' });
    expect(await slow.run(waitFor, { shell_id: id, patterns: ['30 100'], timeout_secs: 20 })).toMatchObject({
      stdout: expect.stringContaining('vt100\n'),
      status: 'matched',
    });
  });

  test('without output in time, and without an agent, the lines are left out', async () => {
    await using silent = await startSshd({ config: ['ForceCommand sleep 600'] });
    await using hasty = new Remote({ connector: silent.connector(), settings: { initialPeekMs: 50 } });
    const { text, facts } = await hasty.ask(open, { session_id: await session(hasty, silent) });
    expect(text).not.toMatch(/INITIAL_BUFFER|AGENT_ID/);
    expect(text).toContain('\nTERM: xterm 80x24\nHINT: ');
    expect(facts).not.toHaveProperty('initial_buffer');
  });

  test('the initial buffer keeps the head, and no half of a character (10.7)', async () => {
    // The eight bytes with which bash turns on bracketed paste are not shown.
    const settings = { initialPeekMs: 10_000, initialBufferBytes: 8 + 3 };
    await using tiny = new Remote({ connector: sshd.connector(), settings });
    const { initial_buffer: first = '', shell_id = '' } = await tiny.run(open, {
      session_id: await session(tiny, sshd),
    });
    expect(first).toHaveLength(3);
    expect((await tiny.run(read, { shell_id })).stdout?.startsWith(first)).toBe(true);
  });

  test('errors: no such session, sizes, buffer size, terminal type', async () => {
    const gone = '01900000-0000-7000-8000-000000000000';
    expect(plain((await at.ask(open, { session_id: gone })).text)).toBe(
      [
        'SSH_SHELL_OPEN: ERROR',
        'REASON: [SESSION_NOT_FOUND] no session with id <id1>',
        'DETAIL: List sessions with ssh_sessions or open one with ssh_connect; <id1>; closest matches: <id2>',
      ].join('\n'),
    );
    const wrong = async (input: object): Promise<unknown> =>
      (await at.ask(open, { session_id, ...input })).facts['code'];
    expect(await wrong({ cols: 0 })).toBe('INVALID_ARGUMENT');
    expect(await wrong({ rows: 65_536 })).toBe('INVALID_ARGUMENT');
    expect(await wrong({ cols: 2.5 })).toBe('INVALID_ARGUMENT');
    expect(await wrong({ term: 'x; rm' })).toBe('INVALID_ARGUMENT');
    const size = await at.ask(open, { session_id, max_buffer_size: '10 apples' });
    expect(size.text).toBe(
      [
        'SSH_SHELL_OPEN: ERROR',
        'REASON: [INVALID_ARGUMENT] max_buffer_size: "10 apples" is not a size',
        'DETAIL: Correct the argument and call again; a number with b, k, m, g or t, such as 512k',
      ].join('\n'),
    );
    expect(at.ssh.shells.all('me')).toEqual([]);
  });

  test('MAX_SHELLS_EXCEEDED: ten per session, also when they are opened at once (section 7)', async () => {
    const opened = await Promise.all(Array.from({ length: 11 }, () => at.ask(open, { session_id })));
    const refused = opened.filter(({ facts }) => facts['status'] === 'error');
    expect(refused).toHaveLength(1);
    expect(plain(refused[0]?.text ?? '')).toBe(
      [
        'SSH_SHELL_OPEN: ERROR',
        'REASON: [MAX_SHELLS_EXCEEDED] session <id1> has 10 shells',
        'DETAIL: Close a shell with ssh_shell_close; limit=10',
      ].join('\n'),
    );
    expect(refused[0]?.facts).toMatchObject({ category: 'POLICY', retryable: true });
    // Another session has ten of its own, and one that was closed makes room.
    expect((await at.ask(open, { session_id: await session(at, sshd) })).facts['status']).toBe('ok');
    const [first] = opened.filter(({ facts }) => facts['status'] === 'ok');
    await at.run(close, { shell_id: String(first?.facts['shell_id']) });
    expect((await at.ask(open, { session_id })).facts['status']).toBe('ok');
  });

  test('CHANNEL_FAILED: a server that gives no terminals', async () => {
    await using strict = await startSshd({ config: ['PermitTTY no'] });
    await using there = new Remote({ connector: strict.connector() });
    const { text, facts } = await there.ask(open, { session_id: await session(there, strict) });
    expect(text).toMatch(/^SSH_SHELL_OPEN: ERROR\nREASON: \[CHANNEL_FAILED\] The server refused the channel: /);
    expect(facts).toMatchObject({ category: 'TRANSPORT', retryable: true });
    expect(there.ssh.shells.all('me')).toEqual([]);
    expect(there.ssh.sessions.all('me').map((session) => session.count('shell'))).toEqual([0]);
  });

  test('a size nobody has: the far side is told, our screen stays sane (10.24)', async () => {
    const { shell_id = '' } = await at.run(open, { session_id, cols: 65_535, rows: 65_535 });
    await at.run(write, { shell_id, input: 'stty size\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['65535 65535'], timeout_secs: 20 })).status).toBe('matched');
    expect(at.ssh.shells.find(shell_id, 'me').terminal.screen.size).toEqual({ cols: 1000, rows: 1000 });
  });

  test('a caller that hangs up before it hears the id leaves no shell', async () => {
    await using slow = new Remote({ connector: sshd.connector(), settings: { initialPeekMs: 60_000 } });
    const on = await session(slow, sshd);
    const leaving = new AbortController();
    const opening = slow.ask(open, { session_id: on }, { signal: leaving.signal });
    slow.engine.events.on(() => leaving.abort());
    expect((await opening).facts['status']).toBe('error');
    expect(slow.ssh.shells.all('me')).toEqual([]);
    expect(slow.engine.terminals).toEqual([]);
  });

  test('the lifecycle arguments of subscriptions are kept', async () => {
    const { shell_id = '' } = await at.run(open, {
      session_id,
      release_when_no_subs: true,
      grace_ms: 500,
      max_buffer_size: '64k',
      inactivity_ttl: 9,
    });
    expect(at.ssh.shells.find(shell_id, 'me').request).toMatchObject({
      releaseWhenNoSubs: true,
      graceMs: 500,
      bufferBytes: 65_536,
      inactivityMs: 9000,
    });
  });
});
