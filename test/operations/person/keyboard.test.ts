import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, type Caller } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { coreBook } from '../../../src/operations/core/index.ts';
import { give, take, type } from '../../../src/operations/person/index.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { engineWith, limit } from '../../support/engine.ts';

const { run, send, read } = coreBook.nouns['terminal'] as Record<string, AnyOperation>;

test('a person takes over in mid-command and hands back; the agent is kept out, goes on reading, and reads the note (R-HUB-087)', async () => {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-keyboard-'));
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', SHELL: '/bin/bash', PS1: '$ ' };
  const options = { root: join(home, 'state'), shell: undefined, cwd: home, env, extraEnv: {}, integration: true };
  try {
    await using engine = engineWith(home, { local: localTransport(options) });
    const notices: string[] = [];
    const agent: Caller = {
      name: 'claude',
      principal: 'owner',
      origin: 'mcp',
      may: () => true,
      tell: (notice) => notices.push(notice),
    };
    const ask = (op: AnyOperation | undefined, input: object, caller: Caller): Promise<Record<string, unknown>> =>
      call(op as AnyOperation, input, { engine, caller, signal: limit() });
    const { id } = await engine.sessions.create({}, localPerson, limit());
    await ask(run, { terminal: id, command: 'sleep 60', timeoutMs: 500 }, agent);

    const { epoch, running } = await ask(take, { session: id }, localPerson);
    expect(running).toBe('sleep 60');
    await expect(ask(send, { terminal: id, text: 'rm -rf /' }, agent)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('The keyboard is taken: person has it'),
      data: { keyboard_taken: { by: 'person' } },
    });
    await expect(ask(type, { session: id, text: 'x', epoch: 99 }, localPerson)).rejects.toMatchObject({
      code: 'conflict',
    });
    await ask(read, { terminal: id }, agent);
    // Ctrl+C always passes.
    await ask(send, { terminal: id, keys: ['Ctrl+C'] }, agent);
    await ask(type, { session: id, text: 'echo by-the-person\r', epoch }, localPerson);
    await expect
      .poll(async () => JSON.stringify(await ask(read, { terminal: id }, agent)), { timeout: 15_000 })
      .toContain('by-the-person');
    await ask(give, { session: id, epoch, note: 'restarted it' }, localPerson);
    await expect(ask(give, { session: id, epoch }, localPerson)).rejects.toMatchObject({ code: 'conflict' });

    notices.length = 0;
    const done = await ask(run, { terminal: id, command: 'echo again' }, agent);
    expect(done).toMatchObject({ exitCode: 0 });
    expect(notices.join('\n')).toMatch(
      /person had the keyboard for \d+ s and ran 1 command; it exited 0\. .*They say: "restarted it"/,
    );
    expect(JSON.stringify(await ask(read, { terminal: id }, agent))).not.toContain('rm -rf');
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
