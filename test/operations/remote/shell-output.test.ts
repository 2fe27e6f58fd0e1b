import { describe, expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import { close, read, waitFor, write } from '../../../src/operations/remote/shells.ts';
import { callerOf, plain, Remote } from '../../support/ssh/remote.ts';
import { session, withSession } from '../../support/ssh/login.ts';
import { shell } from '../../support/ssh/shells.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';
import { StoppableClock } from '../../support/clocks/stoppable.ts';

let sshd: Sshd;
let at: Remote;
let session_id: string;
withSession((made) => ({ sshd, at, session_id } = made), 'test');

describe('ssh_shell_read', () => {
  test('OPEN: what is unread, once (10.8)', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo one\n' });
    // The prompt after it, so that no more comes.
    await at.run(waitFor, { shell_id, patterns: ['ready$ '], clear: false });
    const kept = await at.ask(read, { shell_id, clear: false });
    expect(plain(kept.text)).toBe('SSH_SHELL_READ: OPEN\nSHELL_ID: <id1>\n--- data [<nonce>] ---\none\nready$ ');
    expect(kept.facts).toEqual({
      tool: 'ssh_shell_read',
      status: 'open',
      shell_id,
      stdout: 'one\nready$ ',
      bytes_returned: 12,
      buffer_size_at_snapshot: 12,
      cleared: false,
      truncated: false,
    });
    expect((await at.run(read, { shell_id })).stdout).toBe('one\nready$ ');
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
      'SSH_SHELL_READ: OPEN\nSHELL_ID: <id1>\n--- data [<nonce>] (truncated: showing 13B of 5.9KB) ---\n1999\nready$ ',
    );
    expect(facts).toMatchObject({ bytes_returned: 13, buffer_size_at_snapshot: 6007, truncated: true });
    expect((await at.run(read, { shell_id })).stdout).toBe('');
  });

  test('wait: for output, for so many bytes, and TIMEOUT', async () => {
    const shell_id = await shell(at, session_id);
    const waiting = at.run(read, { shell_id, wait: true, wait_timeout_secs: 20 });
    await at.run(write, { shell_id, input: 'printf x; read n; printf y; read n; printf z; read n\n' });
    expect(await waiting).toMatchObject({ status: 'open', stdout: 'x' });
    const more = at.run(read, { shell_id, wait: true, min_bytes: 2, wait_timeout_secs: 20 });
    await at.run(write, { shell_id, input: '\n' });
    expect(await at.run(waitFor, { shell_id, patterns: ['y'], clear: false })).toMatchObject({ stdout: 'y' });
    await at.run(write, { shell_id, input: '\n' });
    expect(await more).toMatchObject({ status: 'open', stdout: 'yz' });
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
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '] })).stdout).toBe('éb\nready$ ');
  });

  test('CLOSED: the rest is read, and then nothing; SHELL_NOT_FOUND after the close', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'echo last; exit 3\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['never'] })).status).toBe('closed');
    const { text, facts } = await at.ask(read, { shell_id });
    expect(facts).toMatchObject({ status: 'closed', stdout: expect.stringContaining('last\n') });
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
        'some output',
        'the end.',
        'NEXT: ssh_shell_write(shell_id=<id1>, ...) | ssh_shell_press(shell_id=<id1>, ...) | ssh_shell_close(shell_id=<id1>)',
      ].join('\n'),
    );
    expect(facts).toEqual({
      tool: 'ssh_shell_wait_for',
      status: 'matched',
      shell_id,
      matched_pattern: 'end.',
      stdout: 'some output\nthe end.',
      bytes_returned: 21,
      next: `ssh_shell_write(shell_id=${shell_id}, ...) | ssh_shell_press(shell_id=${shell_id}, ...) | ssh_shell_close(shell_id=${shell_id})`,
    });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '], clear: false })).stdout).toBe(
      ' and more\nready$ ',
    );
    expect((await at.run(read, { shell_id })).stdout).toBe(' and more\nready$ ');
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
    expect(facts).toMatchObject({ stdout: '1499\n1500', bytes_returned: 10, bytes_total: 3004 });
    expect(plain(text)).toContain('--- data [<nonce>] (truncated: showing 10B of 2.9KB) ---\n1499\n1500\nNEXT: ');
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
    const clock = new StoppableClock();
    await using own = new Remote({ connector: sshd.connector(), clock });
    const shell_id = await shell(own, await session(own, sshd));
    clock.stop();
    const told: unknown[] = [];
    const waiting = call(
      waitFor,
      { shell_id, patterns: ['never'], timeout_secs: 3 },
      {
        engine: own.engine,
        caller: callerOf('me'),
        signal: AbortSignal.timeout(20_000),
        progress: (message, amount) => told.push([message, amount]),
      },
    );
    // Its timer is set in a moment.
    const passing = (): number => {
      clock.advance(500);
      return told.length;
    };
    await expect.poll(passing, { timeout: 20_000 }).toBe(2);
    expect(told).toEqual([
      ['Waiting for 1 s', { done: 1, total: 3 }],
      ['Waiting for 2 s', { done: 2, total: 3 }],
    ]);
    clock.advance(1000);
    expect(await waiting).toMatchObject({ status: 'timeout' });
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
