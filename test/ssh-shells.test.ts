import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answerWaiting } from '../src/engine/attention/answer.ts';
import { watchAttention } from './support/attention.ts';
import { call } from '../src/engine/call.ts';
import { record, screenshot } from '../src/operations/core/pictures.ts';
import { read as terminalRead } from '../src/operations/core/read.ts';
import { close as terminalClose, list as terminalList } from '../src/operations/core/lifecycle.ts';
import { disconnect } from '../src/operations/remote/sessions.ts';
import { close, open, press, read, waitFor, write } from '../src/operations/remote/shells.ts';
import { callerOf, plain, Remote } from './support/remote.ts';
import { session, withSession } from './support/ssh-login.ts';
import { shell } from './support/ssh-shells.ts';
import { type Sshd, startSshd } from './support/sshd.ts';

let sshd: Sshd;
let at: Remote;
let session_id: string;
withSession((made) => ({ sshd, at, session_id } = made), 'test');

const next = 'NEXT: resources/read shell://<id1>/output?cursor=auto | ssh_shell_wait_for | ssh_shell_read';

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
      next: `sub_open uri=shell://${id}/output (PREFERRED — push-first) | ssh_shell_write | ssh_shell_press`,
    });
    // What was shown is still unread (row 12).
    const { stdout } = await slow.run(read, { shell_id: id });
    expect(stdout?.startsWith(first)).toBe(true);
    await slow.run(write, { shell_id: id, input: 'echo $TERM; stty size\n' });
    expect(await slow.run(waitFor, { shell_id: id, patterns: ['30 100'], timeout_secs: 20 })).toMatchObject({
      stdout: expect.stringContaining('vt100\r\n'),
      status: 'matched',
    });
  });

  test('without output in time, and without an agent, the lines are left out', async () => {
    await using hasty = new Remote({ connector: sshd.connector(), settings: { initialPeekMs: 0 } });
    const { text, facts } = await hasty.ask(open, { session_id: await session(hasty, sshd) });
    expect(text).not.toMatch(/INITIAL_BUFFER|AGENT_ID/);
    expect(text).toContain('\nTERM: xterm 80x24\nHINT: ');
    expect(facts).not.toHaveProperty('initial_buffer');
  });

  test('the initial buffer keeps the head, and no half of a character (10.7)', async () => {
    const settings = { initialPeekMs: 10_000, initialBufferBytes: 3 };
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
    expect(at.ssh.shells.find(shell_id, 'me').terminal.size).toEqual({ cols: 1000, rows: 1000 });
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

describe('ssh_shell_write and ssh_shell_press', () => {
  test('OK: bytes as they are, counted as UTF-8 (row 13)', async () => {
    const shell_id = await shell(at, session_id);
    const { text, facts } = await at.ask(write, { shell_id, input: `echo 'é\\n'\n` });
    expect(plain(text)).toBe(['SSH_SHELL_WRITE: OK', 'SHELL_ID: <id1>', 'BYTES_SENT: 12', next].join('\n'));
    expect(facts).toEqual({
      tool: 'ssh_shell_write',
      status: 'ok',
      shell_id,
      bytes_sent: 12,
      next: `resources/read shell://${shell_id}/output?cursor=auto | ssh_shell_wait_for | ssh_shell_read`,
    });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '] })).stdout).toBe('é\\n\r\nready$ ');
  });

  test('OK: a key, and one with modifiers', async () => {
    const shell_id = await shell(at, session_id);
    expect(plain((await at.ask(press, { shell_id, key: 'ctrl_c' })).text)).toBe(
      ['SSH_SHELL_PRESS: OK', 'SHELL_ID: <id1>', 'KEY: ctrl_c', 'REPEAT: 1', 'BYTES_SENT: 1', next].join('\n'),
    );
    const shifted = await at.ask(press, { shell_id, key: 'arrow_up', ctrl: true, shift: true, repeat: 3 });
    expect(plain(shifted.text)).toBe(
      [
        'SSH_SHELL_PRESS: OK',
        'SHELL_ID: <id1>',
        'KEY: arrow_up',
        'MODIFIERS: shift+ctrl',
        'REPEAT: 3',
        'BYTES_SENT: 18',
        next,
      ].join('\n'),
    );
    expect(shifted.facts).toEqual({
      tool: 'ssh_shell_press',
      status: 'ok',
      shell_id,
      key: 'arrow_up',
      modifiers: ['shift', 'ctrl'],
      repeat: 3,
      bytes_sent: 18,
      next: `resources/read shell://${shell_id}/output?cursor=auto | ssh_shell_wait_for | ssh_shell_read`,
    });
  });

  test('the bytes of every key, as the far side gets them (1.2)', async () => {
    const shell_id = await shell(at, session_id);
    const keys: readonly (readonly [string, string, object?])[] = [
      ['ctrl_a', '01'],
      ['ctrl_z', '1a'],
      ['enter', '0d'],
      ['tab', '09'],
      ['tab', '1b5b5a', { shift: true }],
      ['escape', '1b'],
      ['backspace', '7f'],
      ['space', '20'],
      ['arrow_up', '1b5b41'],
      ['arrow_down', '1b5b42'],
      ['arrow_left', '1b5b44'],
      ['arrow_right', '1b5b43'],
      ['home', '1b4f48'],
      ['end', '1b4f46'],
      ['home', '1b5b313b3248', { shift: true }],
      ['insert', '1b5b327e'],
      ['delete', '1b5b337e'],
      ['page_up', '1b5b357e'],
      ['page_down', '1b5b367e'],
      ['delete', '1b5b333b387e', { shift: true, alt: true, ctrl: true }],
      ['f1', '1b4f50'],
      ['f4', '1b4f53'],
      ['f1', '1b5b313b3550', { ctrl: true }],
      ['f5', '1b5b31357e'],
      ['f12', '1b5b32347e'],
      ['f12', '1b5b32343b337e', { alt: true }],
    ];
    const bytes = keys.map(([, hex]) => hex).join('');
    const count = bytes.length / 2;
    const input = `stty raw; echo on; head -c ${count} | od -An -v -tx1 | tr -d ' \\n'; stty -raw; echo .\n`;
    await at.run(write, { shell_id, input });
    await at.run(waitFor, { shell_id, patterns: ['on'] });
    for (const [key, hex, modifiers = {}] of keys) {
      const sent = await at.run(press, { shell_id, key: key as 'tab', ...modifiers });
      expect(sent.bytes_sent).toBe(hex.length / 2);
    }
    const { stdout } = await at.run(waitFor, { shell_id, patterns: ['.\r\n'], timeout_secs: 20 });
    expect(stdout?.replaceAll(/\s/g, '')).toBe(`${bytes}.`);
  });

  test('errors: MODIFIER_NOT_ALLOWED, INVALID_REPEAT, no such key', async () => {
    const shell_id = await shell(at, session_id);
    const refused = await at.ask(press, { shell_id, key: 'ctrl_c', ctrl: true });
    expect(refused.text).toBe(
      [
        'SSH_SHELL_PRESS: ERROR',
        'REASON: [MODIFIER_NOT_ALLOWED] ctrl_c does not take ctrl',
        'DETAIL: Press the key without this modifier; ctrl_c takes none',
      ].join('\n'),
    );
    const code = async (input: object): Promise<unknown> => (await at.ask(press, { shell_id, ...input })).facts['code'];
    for (const key of ['enter', 'escape', 'backspace', 'space', 'ctrl_a']) {
      expect(await code({ key, shift: true })).toBe('MODIFIER_NOT_ALLOWED');
    }
    expect(await code({ key: 'tab', alt: true })).toBe('MODIFIER_NOT_ALLOWED');
    for (const repeat of [0, 65, -1, 1.5, '3', null, [3]])
      expect(await code({ key: 'enter', repeat })).toBe('INVALID_REPEAT');
    for (const key of ['ctrl_b', 'Enter', 'f13']) expect(await code({ key })).toBe('INVALID_ARGUMENT');
    expect((await at.run(press, { shell_id, key: 'space', repeat: 64 })).bytes_sent).toBe(64);
  });

  test('WRITE_FAILED once the shell has ended', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'exit\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['never'] })).status).toBe('closed');
    for (const [op, input] of [
      [write, { input: 'x' }],
      [press, { key: 'enter' }],
    ] as const) {
      const { text, facts } = await at.ask(op, { shell_id, ...input });
      expect(plain(text)).toContain('REASON: [WRITE_FAILED] shell <id1> takes no input: the shell has ended\n');
      expect(facts).toMatchObject({ category: 'TRANSPORT', retryable: true });
    }
  });
});

describe('ssh_shell_read', () => {
  test('OPEN: what is unread, once (10.8)', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo one\n' });
    // The prompt after it, so that no more comes.
    await at.run(waitFor, { shell_id, patterns: ['ready$ '], clear: false });
    const kept = await at.ask(read, { shell_id, clear: false });
    expect(plain(kept.text)).toBe('SSH_SHELL_READ: OPEN\nSHELL_ID: <id1>\n--- data [<nonce>] ---\none\r\nready$ ');
    expect(kept.facts).toEqual({
      tool: 'ssh_shell_read',
      status: 'open',
      shell_id,
      stdout: 'one\r\nready$ ',
      bytes_returned: 12,
      buffer_size_at_snapshot: 12,
      cleared: false,
      truncated: false,
    });
    expect((await at.run(read, { shell_id })).stdout).toBe('one\r\nready$ ');
    const empty = await at.ask(read, { shell_id });
    expect(plain(empty.text)).toBe('SSH_SHELL_READ: OPEN\nSHELL_ID: <id1>\n--- data [<nonce>] (empty) ---');
    expect(empty.facts).toMatchObject({ stdout: '', bytes_returned: 0, cleared: true });
  });

  test('too long: the tail, and it says so; what was left out counts as shown', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'seq 1000 1999\n' });
    await at.run(waitFor, { shell_id, patterns: ['1999\r\nready$ '], clear: false, timeout_secs: 20 });
    const { text, facts } = await at.ask(read, { shell_id, max_output_bytes: 13 });
    expect(plain(text)).toBe(
      'SSH_SHELL_READ: OPEN\nSHELL_ID: <id1>\n--- data [<nonce>] (truncated: showing 13B of 5.9KB) ---\n1999\r\nready$ ',
    );
    expect(facts).toMatchObject({ bytes_returned: 13, buffer_size_at_snapshot: 6007, truncated: true });
    expect((await at.run(read, { shell_id })).stdout).toBe('');
  });

  test('wait: for output, for so many bytes, and TIMEOUT', async () => {
    const shell_id = await shell(at, session_id);
    const waiting = at.run(read, { shell_id, wait: true, wait_timeout_secs: 20 });
    await at.run(write, { shell_id, input: 'printf x; sleep 0.3; printf yz\n' });
    expect(await waiting).toMatchObject({ status: 'open', stdout: expect.stringMatching(/^x/) });
    const more = await at.run(read, { shell_id, wait: true, min_bytes: 2, wait_timeout_secs: 20 });
    expect(more.status).toBe('open');
    expect(more.stdout?.length).toBeGreaterThanOrEqual(2);
    await at.run(waitFor, { shell_id, patterns: ['$ '], timeout_secs: 1 });
    const { text, facts } = await at.ask(read, { shell_id, wait: true, min_bytes: 5, wait_timeout_secs: 0 });
    expect(plain(text)).toBe('SSH_SHELL_READ: TIMEOUT\nSHELL_ID: <id1>\n--- data [<nonce>] (empty) ---');
    expect(facts['status']).toBe('timeout');
  });

  test('limits are brought into range, as everywhere', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo one-$((1+1))\n' });
    expect(await at.run(waitFor, { shell_id, patterns: ['one-2'], max_output_bytes: 0, clear: false })).toMatchObject({
      status: 'matched',
      stdout: '2',
      bytes_returned: 1,
    });
    expect(await at.run(read, { shell_id, max_output_bytes: 0, wait_timeout_secs: 0 })).toMatchObject({
      bytes_returned: 1,
      truncated: true,
    });
  });

  test('a character that has arrived in part is not shown in halves', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: `printf 'a\\303'; read x; printf '\\251b\\n'\n` });
    expect((await at.run(read, { shell_id, wait: true, wait_timeout_secs: 20 })).stdout).toBe('a');
    await at.run(write, { shell_id, input: '\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '] })).stdout).toBe('éb\r\nready$ ');
  });

  test('CLOSED: the rest is read, and then nothing; SHELL_NOT_FOUND after the close', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo last; exit 3\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['never'] })).status).toBe('closed');
    const { text, facts } = await at.ask(read, { shell_id });
    expect(facts).toMatchObject({ status: 'closed', stdout: expect.stringContaining('last\r\n') });
    expect(plain(text)).toMatch(/^SSH_SHELL_READ: CLOSED\nSHELL_ID: <id1>\n--- data \[<nonce>\] ---\nlast/);
    expect(await at.run(read, { shell_id, wait: true })).toMatchObject({ status: 'closed', stdout: '' });
    await at.run(close, { shell_id });
    expect(plain((await at.ask(read, { shell_id })).text)).toBe(
      [
        'SSH_SHELL_READ: ERROR',
        'REASON: [SHELL_NOT_FOUND] no shell with id <id1>',
        'DETAIL: Open a shell with ssh_shell_open; <id1>',
      ].join('\n'),
    );
  });
});

describe('ssh_shell_wait_for', () => {
  test('MATCHED: up to the end of the match, which is where the next read goes on', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: `printf 'some output\\nthe end. and more\\n'\n` });
    const { text, facts } = await at.ask(waitFor, { shell_id, patterns: ['nothing', 'end.'] });
    expect(plain(text)).toBe(
      [
        'SSH_SHELL_WAIT_FOR: MATCHED',
        'SHELL_ID: <id1>',
        'MATCHED_PATTERN: end.',
        'BYTES_RETURNED: 21',
        '--- data [<nonce>] ---',
        'some output\r',
        'the end.',
        'NEXT: ssh_shell_write(shell_id=<id1>, ...) | ssh_shell_press(shell_id=<id1>, ...) | ssh_shell_close(shell_id=<id1>)',
      ].join('\n'),
    );
    expect(facts).toEqual({
      tool: 'ssh_shell_wait_for',
      status: 'matched',
      shell_id,
      matched_pattern: 'end.',
      stdout: 'some output\r\nthe end.',
      bytes_returned: 21,
      next: `ssh_shell_write(shell_id=${shell_id}, ...) | ssh_shell_press(shell_id=${shell_id}, ...) | ssh_shell_close(shell_id=${shell_id})`,
    });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '], clear: false })).stdout).toBe(
      ' and more\r\nready$ ',
    );
    expect((await at.run(read, { shell_id })).stdout).toBe(' and more\r\nready$ ');
  });

  test('the earliest position wins, then the order of the list', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo aXbYc\n' });
    await at.run(waitFor, { shell_id, patterns: ['ready$ '], clear: false });
    const first = async (patterns: string[]): Promise<unknown> =>
      (await at.run(waitFor, { shell_id, patterns, clear: false })).matched_pattern;
    expect(await first(['Y', 'X'])).toBe('X');
    expect(await first(['aXb', 'a'])).toBe('aXb');
    expect(await first(['a', 'aXb'])).toBe('a');
    // Substrings, not patterns: nothing stands for anything else (10.25).
    expect((await at.run(waitFor, { shell_id, patterns: ['a.b'], timeout_secs: 0, clear: false })).status).toBe(
      'timeout',
    );
    const sixteen = Array.from({ length: 15 }, (_, n) => `no ${n}`).concat('Yc');
    expect(await first(sixteen)).toBe('Yc');
  });

  test('a match across chunks', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: `for c in s p l i t; do printf $c; sleep 0.05; done; read x\n` });
    expect(await at.run(waitFor, { shell_id, patterns: ['split'], timeout_secs: 20 })).toMatchObject({
      status: 'matched',
      stdout: 'split',
    });
  });

  test('TIMEOUT: what came so far, and it stays unread', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: `printf 'so far'; read x\n` });
    await at.run(waitFor, { shell_id, patterns: ['far'], clear: false });
    const { text, facts } = await at.ask(waitFor, { shell_id, patterns: ['never'], timeout_secs: 0 });
    expect(plain(text)).toBe(
      [
        'SSH_SHELL_WAIT_FOR: TIMEOUT',
        'SHELL_ID: <id1>',
        'BYTES_RETURNED: 6',
        '--- data [<nonce>] ---',
        'so far',
        'NEXT: ssh_shell_wait_for(shell_id=<id1>, ...) | ssh_shell_read(shell_id=<id1>) | ssh_shell_close(shell_id=<id1>)',
      ].join('\n'),
    );
    expect(facts).toMatchObject({ status: 'timeout', bytes_returned: 6 });
    expect((await at.run(read, { shell_id })).stdout).toBe('so far');
  });

  test('too long: the tail up to the match', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'seq 1000 1999\n' });
    const { text, facts } = await at.ask(waitFor, { shell_id, patterns: ['1500'], max_output_bytes: 10 });
    expect(facts).toMatchObject({ stdout: '1499\r\n1500', bytes_returned: 10, bytes_total: 3004 });
    expect(plain(text)).toContain('--- data [<nonce>] (truncated: showing 10B of 2.9KB) ---\n1499\r\n1500\nNEXT: ');
  });

  test('CLOSED while waiting: no NEXT', async () => {
    const shell_id = await shell(at, session_id);
    const waiting = at.ask(waitFor, { shell_id, patterns: ['never'], timeout_secs: 60 });
    await at.run(write, { shell_id, input: 'printf bye; exit\n' });
    const { text, facts } = await waiting;
    expect(plain(text)).toMatch(
      /^SSH_SHELL_WAIT_FOR: CLOSED\nSHELL_ID: <id1>\nBYTES_RETURNED: \d+\n--- data \[<nonce>\] ---\nbye/,
    );
    expect(text).not.toContain('NEXT:');
    expect(facts).toMatchObject({ status: 'closed' });
    expect(facts).not.toHaveProperty('next');
    // A closed shell still has what it printed.
    expect((await at.run(waitFor, { shell_id, patterns: ['bye'] })).status).toBe('matched');
  });

  test('errors of the list', async () => {
    const shell_id = await shell(at, session_id);
    const ask = async (patterns: string[]) => await at.ask(waitFor, { shell_id, patterns });
    expect((await ask([])).text).toBe(
      'SSH_SHELL_WAIT_FOR: ERROR\nREASON: [EMPTY_PATTERNS] patterns is empty\nDETAIL: Give at least one pattern',
    );
    expect((await ask(Array.from({ length: 17 }, String))).text).toBe(
      'SSH_SHELL_WAIT_FOR: ERROR\nREASON: [TOO_MANY_PATTERNS] 17 patterns\nDETAIL: Give at most 16 patterns; limit=16',
    );
    expect((await ask(['a', 'é'.repeat(513)])).text).toBe(
      'SSH_SHELL_WAIT_FOR: ERROR\nREASON: [PATTERN_TOO_LONG] patterns.1: 1026 bytes\nDETAIL: Shorten the pattern to 1024 bytes; limit=1024',
    );
    expect((await ask([''])).facts['code']).toBe('INVALID_ARGUMENT');
    expect((await at.ask(waitFor, { shell_id })).text).toBe(
      'SSH_SHELL_WAIT_FOR: ERROR\nREASON: [EMPTY_PATTERNS] patterns: is required (array)\nDETAIL: Give at least one pattern',
    );
    expect((await at.ask(waitFor, { shell_id, patterns: null })).facts['code']).toBe('EMPTY_PATTERNS');
    for (const patterns of ['x', [7], { 0: 'x' }]) {
      expect((await at.ask(waitFor, { shell_id, patterns })).facts['code']).toBe('INVALID_ARGUMENT');
    }
    expect((await at.ask(waitFor, { shell_id: 'no such', patterns: ['x'] })).facts['code']).toBe('INVALID_ARGUMENT');
    expect((await at.ask(waitFor, { shell_id: 'nosuch', patterns: ['x'] })).facts['code']).toBe('SHELL_NOT_FOUND');
  });

  test('progress every second: elapsed, and of how much (3.4)', async () => {
    const shell_id = await shell(at, session_id);
    const told: unknown[] = [];
    await call(
      waitFor,
      { shell_id, patterns: ['never'], timeout_secs: 2 },
      {
        engine: at.engine,
        caller: callerOf('me'),
        signal: AbortSignal.timeout(20_000),
        progress: (message, amount) => told.push([message, amount]),
      },
    );
    expect(told[0]).toEqual(['Waiting for 1 s', { done: 1, total: 2 }]);
    expect(told.length).toBeLessThanOrEqual(2);
  });

  test('a caller that hangs up ends its wait, and nothing else', async () => {
    const shell_id = await shell(at, session_id);
    const leaving = new AbortController();
    const waiting = at.ask(waitFor, { shell_id, patterns: ['never'] }, { signal: leaving.signal });
    leaving.abort();
    expect((await waiting).facts['status']).toBe('error');
    await at.run(write, { shell_id, input: 'echo alive\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['alive\r\n'] })).status).toBe('matched');
  });
});

describe('life of a shell', () => {
  test('ssh_shell_close: OK, and then it is not there', async () => {
    const shell_id = await shell(at, session_id);
    const { text, facts } = await at.ask(close, { shell_id });
    expect(plain(text)).toBe('SSH_SHELL_CLOSE: OK\nSHELL_ID: <id1>');
    expect(facts).toEqual({ tool: 'ssh_shell_close', status: 'ok', shell_id });
    expect((await at.ask(close, { shell_id })).facts['code']).toBe('SHELL_NOT_FOUND');
    expect(at.engine.terminals).toEqual([]);
  });

  test('the end of its session closes it, and what it printed stays (9.4)', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo kept\n' });
    await at.run(waitFor, { shell_id, patterns: ['kept\r\n'], clear: false });
    const waiting = at.ask(waitFor, { shell_id, patterns: ['never'], timeout_secs: 60 });
    expect(await at.run(disconnect, { session_id })).toMatchObject({ shells_closed: 1 });
    expect((await waiting).facts['status']).toBe('closed');
    expect(await at.run(read, { shell_id })).toMatchObject({
      status: 'closed',
      stdout: expect.stringMatching(/^kept/),
    });
  });

  test('so does a link that breaks', async () => {
    const shell_id = await shell(at, session_id);
    const waiting = at.ask(waitFor, { shell_id, patterns: ['never'], timeout_secs: 60 });
    sshd.cut();
    expect((await waiting).facts['status']).toBe('closed');
    expect(at.ssh.shells.find(shell_id, 'me').terminal.state).toBe('lost');
    expect((await at.ask(open, { session_id })).facts['code']).toBe('SESSION_NOT_FOUND');
  });

  test('no input and no output for the time given: it is closed', async () => {
    const { shell_id = '' } = await at.run(open, { session_id, inactivity_ttl: 1 });
    const { terminal } = at.ssh.shells.find(shell_id, 'me');
    await terminal.whenEnded;
    expect((await at.run(read, { shell_id })).status).toBe('closed');
    // With something to do all the time it lives on past its second.
    const { shell_id: busy = '' } = await at.run(open, { session_id, inactivity_ttl: 1 });
    await at.run(write, {
      shell_id: busy,
      input: 'for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.25; done; echo through\n',
    });
    const done = await at.run(waitFor, { shell_id: busy, patterns: ['8\r\nthrough'], timeout_secs: 20 });
    expect(done.status).toBe('matched');
  });

  test('two principals do not know of each other (10.30)', async () => {
    const shell_id = await shell(at, session_id);
    const other = { principal: 'somebody else' };
    for (const [op, input] of [
      [read, {}],
      [write, { input: 'x' }],
      [press, { key: 'enter' }],
      [waitFor, { patterns: ['x'] }],
      [close, {}],
    ] as const) {
      const { text, facts } = await at.ask(op, { shell_id, ...input }, other);
      expect(facts['code']).toBe('SHELL_NOT_FOUND');
      expect(text).not.toContain('closest');
    }
    expect((await at.ask(open, { session_id }, other)).facts['code']).toBe('SESSION_NOT_FOUND');
    expect(await at.run(terminalList, {}, other)).toEqual({ terminals: [] });
    await expect(at.run(terminalRead, { terminal: shell_id }, other)).rejects.toMatchObject({
      code: 'terminal_not_found',
    });
    expect(at.ssh.shells.find(shell_id, 'me').closed).toBe(false);
  });

  test('of those that have ended 32 are kept for each principal: nobody pushes out another (10.30)', async () => {
    const ended = async (id: string, principal: string): Promise<string> => {
      const { shell_id = '' } = await at.run(open, { session_id: id }, { principal });
      await at.run(write, { shell_id, input: 'exec true\n' }, { principal });
      await at.ssh.shells.find(shell_id, principal).terminal.whenEnded;
      return shell_id;
    };
    const mine = await ended(session_id, 'me');
    const other = await session(at, sshd, {}, { principal: 'them' });
    for (let count = 0; count < 33; count += 1) await ended(other, 'them');
    await expect.poll(() => at.ssh.shells.all('them').length).toBe(32);
    expect((await at.run(read, { shell_id: mine })).status).toBe('closed');
  });

  test('the closest ids of one own', async () => {
    const shell_id = await shell(at, session_id);
    const near = `${shell_id.slice(0, -1)}${shell_id.endsWith('0') ? '1' : '0'}`;
    expect((await at.ask(read, { shell_id: near })).facts['detail']).toBe(
      `Open a shell with ssh_shell_open; ${near}; closest matches: ${shell_id}`,
    );
  });

  test('the ring keeps its size; a reader that comes late is told how much it missed', async () => {
    const shell_id = await shell(at, session_id, { max_buffer_size: '4k' });
    await at.run(write, { shell_id, input: 'seq 10000 19999; echo en""d\n' });
    await at.run(waitFor, { shell_id, patterns: ['end\r\n'], clear: false, timeout_secs: 20 });
    const { facts } = await at.ask(read, { shell_id, max_output_bytes: 1_048_576 });
    expect(facts).toMatchObject({ bytes_returned: 4096, truncated: true });
    expect(facts['buffer_size_at_snapshot']).toBeGreaterThan(70_000);
  });
});

describe('a shell is a terminal like any other', () => {
  test('by its SHELL_ID: screen, picture, list and close', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: `clear; printf '\\033[31mred\\033[0m text\\n'\n` });
    await at.run(waitFor, { shell_id, patterns: ['text\r\nready$ '] });
    expect(await at.run(terminalRead, { terminal: shell_id })).toMatchObject({ text: 'red text\nready$' });
    const { bytes } = await at.run(screenshot, { terminal: shell_id });
    expect(Buffer.from(bytes.subarray(1, 4)).toString()).toBe('PNG');
    const { terminals } = await at.run(terminalList, {});
    expect(terminals).toMatchObject([{ target: `ssh:${sshd.user}@${sshd.address}`, program: 'login shell' }]);
    await at.run(terminalClose, { terminal: shell_id });
    expect((await at.ask(read, { shell_id })).facts['code']).toBe('SHELL_NOT_FOUND');
  });

  test('by its SHELL_ID: a recording', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(record, { action: 'start', terminal: shell_id });
    await at.run(write, { shell_id, input: 'echo on ta""pe\n' });
    await at.run(waitFor, { shell_id, patterns: ['on tape\r\n'] });
    const { recordings } = await at.run(record, { action: 'stop', terminal: shell_id });
    expect(readFileSync(recordings[0]?.path ?? '', 'utf8')).toContain('on tape');
  });

  test('what a person typed as a secret is not shown, though the far side repeats it', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'read -p "Password: " x; echo "you said $x"\n' });
    await at.run(waitFor, { shell_id, patterns: ['Password: '] });
    const { terminal } = at.ssh.shells.find(shell_id, 'me');
    const { prompt } = await watchAttention(terminal, AbortSignal.timeout(10_000));
    const secret = { terminal: terminal.id, text: 'hunter2-hunter2', prompt, secret: true, submit: true };
    await answerWaiting(at.engine, secret, callerOf('person'), AbortSignal.timeout(10_000));
    const { stdout = '' } = await at.run(waitFor, { shell_id, patterns: ['ready$ '], timeout_secs: 20 });
    expect(stdout).toContain('you said');
    expect(stdout).not.toContain('hunter2');
  });

  test('vim: its screen, its keys, its file', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'vim -u NONE -N note.txt\n' });
    await at.run(waitFor, { shell_id, patterns: ['note.txt"'], timeout_secs: 20 });
    await at.run(write, { shell_id, input: 'ihello from vim' });
    await at.run(press, { shell_id, key: 'escape' });
    await at.run(waitFor, { shell_id, patterns: ['hello from vim'], timeout_secs: 20 });
    await expect
      .poll(async () => (await at.run(terminalRead, { terminal: shell_id })).text, { timeout: 10_000 })
      .toMatch(/^hello from vim\n~/);
    await at.run(write, { shell_id, input: ':wq' });
    await at.run(press, { shell_id, key: 'enter' });
    await at.run(waitFor, { shell_id, patterns: ['ready$ '], timeout_secs: 20 });
    await at.run(write, { shell_id, input: 'cat note.txt; rm note.txt\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '] })).stdout).toBe('hello from vim\r\nready$ ');
  });
});
