import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

describe('sessions', () => {
  test('R-TERM-030, 031: create and list', async () => {
    await using mcp = await Mcp.start();
    const made = await mcp.facts<{ sessionId: string; rpcId: number }>('createSession', {
      cols: 90,
      rows: 30,
      cwd: '/',
      env: { COLOUR: 'teal' },
      name: 'build',
    });
    expect(made).toMatchObject({
      sessionId: expect.stringMatching(/^[0-9a-f]{5}$/),
      shell: '/bin/bash',
      cols: 90,
      rows: 30,
      isDefault: false,
      name: 'build',
      cwd: '/',
      pid: expect.any(Number),
      createdAt: expect.any(String),
      lastActivityAt: expect.any(String),
    });
    const { sessionId, rpcId } = made;
    const before = performance.now();
    expect(await mcp.run('echo $COLOUR; stty size', { sessionId })).toMatchObject({ content: 'teal\n30 90' });
    expect(await mcp.run('echo by number', { sessionId: rpcId })).toMatchObject({ content: 'by number' });
    expect(await mcp.run('echo by digits', { sessionId: String(rpcId) })).toMatchObject({ content: 'by digits' });
    const { sessions, maxSessions, sessionIdleTimeout } = await mcp.facts<{
      sessions: { idleSeconds: number }[];
      maxSessions: number;
      sessionIdleTimeout: number;
    }>('listSessions');
    expect({ maxSessions, sessionIdleTimeout }).toEqual({ maxSessions: 5, sessionIdleTimeout: 600 });
    expect(sessions).toMatchObject([
      { isDefault: true, status: 'running' },
      { sessionId, name: 'build', status: 'running' },
    ]);
    // It was used just now, by whichever clock.
    expect(sessions[1]?.idleSeconds).toBeLessThanOrEqual(Math.round((performance.now() - before) / 1000));
  });

  test('R-TERM-032: the limit counts the default session and names the option; destroy says what happened', async () => {
    await using mcp = await Mcp.start({ args: ['--max-sessions=2'] });
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    const refused = await mcp.call('createSession');
    expect(refused.isError).toBe(true);
    expect(refused.content[0]?.text).toMatch(/^Error: The limit of 2 sessions is reached\. .*--max-sessions/);
    const { sessions } = await mcp.facts<{ sessions: { sessionId: string }[] }>('listSessions');
    const main = sessions[0]?.sessionId;
    expect((await mcp.call('destroySession', { sessionId: main })).content[0]?.text).toBe(
      `Error: Session '${main}' is the default session and cannot be destroyed`,
    );
    expect((await mcp.call('destroySession', { sessionId: 'fffff' })).content[0]?.text).toBe(
      "Error: Session 'fffff' not found",
    );
    expect(await mcp.text('destroySession', { sessionId })).toBe(`Session '${sessionId}' destroyed`);
    const late = await mcp.call('type', { sessionId, text: 'x' });
    expect(late).toMatchObject({ isError: true, content: [{ text: 'Error: Terminal session has been disposed' }] });
    await mcp.facts('createSession');
  });

  test('R-TERM-033: a forgotten session is closed, a busy one is not', async () => {
    // Long enough to type a line into the busy one before its time is over.
    await using mcp = await Mcp.start({ args: ['--session-idle-timeout', '4'] });
    const idle = await mcp.facts<{ sessionId: string; pid: number }>('createSession');
    const busy = await mcp.facts<{ sessionId: string }>('createSession');
    await mcp.call('type', { sessionId: busy.sessionId, text: 'sleep 300', submit: true });
    const gone = `Error: Session '${idle.sessionId}' was closed after 4 s idle`;
    await expect
      .poll(async () => {
        const { sessions } = await mcp.facts<{ sessions: { sessionId: string }[] }>('listSessions');
        return sessions.map(({ sessionId }) => sessionId).includes(idle.sessionId);
      })
      .toBe(false);
    expect((await mcp.call('getContent', { sessionId: idle.sessionId })).content[0]?.text).toBe(gone);
    expect((await mcp.call('getContent', { sessionId: busy.sessionId })).isError).toBeFalsy();
    await expect.poll(() => alive(idle.pid)).toBe(false);
  });

  test('R-TERM-034: one default session under concurrent first calls; it starts again when its shell has exited', async () => {
    await using mcp = await Mcp.start();
    const answers = await Promise.all(Array.from({ length: 8 }, () => mcp.facts<{ sessionId: string }>('getContent')));
    expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(1);
    await mcp.call('type', { text: 'echo last words; exit 7', submit: true });
    await expect.poll(async () => (await mcp.facts<{ status: string }>('getContent')).status).toBe('exited');
    expect(await mcp.text('getContent')).toContain('last words');
    const { sessions } = await mcp.facts<{ sessions: object[] }>('listSessions');
    expect(sessions).toMatchObject([{ status: 'exited', exitCode: 7 }]);
    expect(await mcp.text('type', { text: 'echo again', submit: true })).toBe(
      'Typed 10 character(s) to terminal (its shell had exited and was started again)',
    );
    await mcp.prompt();
    expect(await mcp.text('getContent', { lastCommand: true })).toBe('(exit code 0)\nagain');
    expect(await mcp.text('sendKey', { key: 'Ctrl+D' })).toBe('Sent key: Ctrl+D');
    await expect.poll(async () => (await mcp.facts<{ status: string }>('getContent')).status).toBe('exited');
    expect(await mcp.text('sendKey', { key: 'Enter', repeat: 2 })).toBe(
      'Sent key: Enter (2 times) (its shell had exited and was started again)',
    );
  });

  test.each([
    ['terminal_list', 'terminals'],
    ['listSessions', 'sessions'],
    ['session_list', 'sessions'],
  ])('the default session is there when the first call is: %s', async (tool, key) => {
    await using mcp = await Mcp.raw({ args: ['--toolsets', 'all'] });
    const clientInfo = { name: 'test', version: '1' };
    const hello = mcp.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    expect((await mcp.facts<Record<string, unknown[]>>(tool))[key]).toHaveLength(1);
    await hello;
  });

  test('a session that exited says so, and its last screen stays', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    await mcp.call('type', { sessionId, text: 'echo bye; kill -9 $$', submit: true });
    await expect
      .poll(async () => (await mcp.facts<{ status: string }>('getContent', { sessionId })).status)
      .toBe('exited');
    const result = await mcp.call('type', { sessionId, text: 'x' });
    expect(result.content[0]?.text).toMatch(new RegExp(`^Error: Session '${sessionId}' was ended by SIGKILL\\.`));
    expect(await mcp.text('getContent', { sessionId })).toContain('bye');
  });

  test('R-TERM-032: sessions that are still starting count once', async () => {
    await using mcp = await Mcp.start({ env: { ENV: '' } });
    await mcp.call('type', { text: "echo 'sleep 0.5' >> ~/.bashrc", submit: true });
    await mcp.text('getContent');
    const made = await Promise.all(Array.from({ length: 4 }, () => mcp.call('createSession')));
    expect(made.map(({ isError }) => isError ?? false)).toEqual([false, false, false, false]);
    expect((await mcp.call('createSession')).isError).toBe(true);
  });

  test('R-TERM-034: a wait ends with an error when its session is destroyed', async () => {
    await using mcp = await Mcp.start();
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession');
    const waiting = mcp.call('getContent', { sessionId, waitFor: 'never', timeoutMs: 20_000 });
    await mcp.call('destroySession', { sessionId });
    expect(await waiting).toMatchObject({
      isError: true,
      content: [{ text: 'Error: Terminal session has been disposed' }],
    });
  });

  test('a shell or directory that is not there is named', async () => {
    await using mcp = await Mcp.start();
    expect((await mcp.call('createSession', { shell: '/no/such/shell' })).content[0]?.text).toMatch(
      /^Error: Program not found: \/no\/such\/shell\./,
    );
    expect((await mcp.call('createSession', { cwd: '/no/such/dir' })).content[0]?.text).toMatch(
      /^Error: The working directory \/no\/such\/dir does not exist\./,
    );
    expect((await mcp.call('createSession', { shell: '/etc/passwd' })).content[0]?.text).toMatch(
      /^Error: \/etc\/passwd is not an executable file\./,
    );
    await using broken = await Mcp.start({ args: ['--shell', '/no/such/shell'] });
    expect((await broken.call('type', { text: 'x' })).content[0]?.text).toMatch(
      /^Error: Program not found: \/no\/such\/shell\./,
    );
  });
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
