import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { answerPrompt } from '../../../src/engine/person/answer.ts';
import { close as terminalClose, list as terminalList } from '../../../src/operations/core/lifecycle.ts';
import { record, screenshot } from '../../../src/operations/core/pictures.ts';
import { read as terminalRead } from '../../../src/operations/core/read.ts';
import { disconnect } from '../../../src/operations/remote/sessions.ts';
import { close, open, press, read, waitFor, write } from '../../../src/operations/remote/shells.ts';
import { watchAttention } from '../../support/attention.ts';
import { plain, Remote } from '../../support/ssh/remote.ts';
import { session, withSession } from '../../support/ssh/login.ts';
import { shell } from '../../support/ssh/shells.ts';
import { StoppableClock } from '../../support/clocks/stoppable.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
let at: Remote;
let session_id: string;
withSession((made) => ({ sshd, at, session_id } = made), 'test');

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
    expect(at.ssh.shells.find(shell_id, 'me').terminal.state.current).toBe('lost');
    expect((await at.ask(open, { session_id })).facts['code']).toBe('SESSION_NOT_FOUND');
  });

  test('no input and no output for the time given: it is closed', async () => {
    const clock = new StoppableClock();
    await using own = new Remote({ connector: sshd.connector(), clock });
    const shell_id = await shell(own, await session(own, sshd), { inactivity_ttl: 100 });
    clock.stop();
    // With something to do all the time it lives on past its limit.
    for (let times = 0; times < 3; times += 1) {
      clock.advance(90_000);
      await own.run(write, { shell_id, input: 'echo here\n' });
      // With its prompt, so that no more comes.
      expect((await own.run(waitFor, { shell_id, patterns: ['here\r\nready$ '] })).status).toBe('matched');
    }
    const { terminal } = own.ssh.shells.find(shell_id, 'me');
    clock.advance(99_000);
    expect(terminal.ended).toBeUndefined();
    clock.advance(1_000);
    await terminal.whenEnded;
    expect((await own.run(read, { shell_id })).status).toBe('closed');
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
    expect(await at.run(terminalList, {}, other)).toEqual({ terminals: [], total: 0 });
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
    await expect.poll(() => at.ssh.shells.all('them').length, { timeout: 20_000 }).toBe(32);
    expect((await at.run(read, { shell_id: mine })).status).toBe('closed');
  }, 120_000);

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
    const { prompt } = await watchAttention(terminal, AbortSignal.timeout(20_000));
    const secret = { text: 'hunter2-hunter2', prompt, secret: true, submit: true };
    await answerPrompt(terminal, secret, 'person', AbortSignal.timeout(10_000));
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
    await expect
      .poll(async () => (await at.run(terminalRead, { terminal: shell_id })).text, { timeout: 20_000 })
      .toMatch(/^hello from vim\n~/);
    await at.run(write, { shell_id, input: ':wq' });
    await at.run(press, { shell_id, key: 'enter' });
    await at.run(waitFor, { shell_id, patterns: ['ready$ '], timeout_secs: 20 });
    await at.run(write, { shell_id, input: 'cat note.txt; rm note.txt\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '] })).stdout).toBe('hello from vim\nready$ ');
  });
});
