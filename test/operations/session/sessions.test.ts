import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { followTerminal } from '../../../src/operations/person/index.ts';
import { call as callOperation } from '../../../src/engine/call/call.ts';
import { open } from '../../../src/operations/core/lifecycle.ts';
import { create } from '../../../src/operations/terminal/shell.ts';
import { localTransport } from '../../../src/transports/local/transport.ts';
import { isAlive } from '../../support/keeper/keeper.ts';
import { patientClock } from '../../support/clocks/patient.ts';
import { shortest } from '../../support/shortest.ts';
import type { RpcAnswer } from '../../support/rpc.ts';
import { RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

const call = (method: string, params?: unknown) => place.client.call(method, params);
const textOf = ({ text }: { text: string }): string => text;
const failure = async (method: string, params?: unknown) => (await place.client.ask(method, params)).error;

test('session.create, session.list and session.get have the documented shapes', async () => {
  const made = await call('session.create', { cols: 100, rows: 20, cwd: place.home });
  expect(made).toEqual({ id: made.id, session_id: String(made.id), title: 'bash', cols: 100, rows: 20 });
  const { sessions } = await call('session.list');
  const listed = sessions.find(({ id }: { id: number }) => id === made.id);
  expect(listed).toMatchObject({
    id: made.id,
    title: 'bash',
    cols: 100,
    rows: 20,
    cursor: { x: expect.any(Number), y: 0, visible: true },
    is_dead: false,
    domain_id: 0,
    shell: { shell_type: 'bash', process_name: '/bin/bash', cwd: `file://${hostname()}${realpathSync(place.home)}` },
  });
  for (const method of ['session.get', 'session.status']) {
    expect(await call(method, { session_id: String(made.id) })).toMatchObject({ id: made.id, scrollback_rows: 0 });
  }
});

test('a session is named by a number or a string, and errors are those of the reference (R-RPC-020)', async () => {
  expect((await failure('session.get', {}))?.message).toBe("Missing 'id' or 'session_id' parameter");
  expect((await failure('session.get', { id: null }))?.message).toBe("Missing 'id' or 'session_id' parameter");
  for (const id of ['abc', true, [], {}, -1, '1e0']) {
    const shown = typeof id === 'string' ? id : JSON.stringify(id);
    expect((await failure('session.get', { id }))?.message).toBe(`Invalid session_id: ${shown}`);
  }
  expect(await failure('session.get', { id: 777 })).toMatchObject({
    code: -32603,
    message: 'Session 777 not found',
    data: { code: 'SESSION_NOT_FOUND' },
  });
  const id = await place.create();
  expect((await failure('session.get', { id, session_id: '777' }))?.message).toBe('Invalid session_id: 777');
  expect((await call('session.get', { id, session_id: String(id) })).id).toBe(id);
  expect(await failure('exec.run', { id })).toMatchObject({
    message: "Missing 'command'",
    data: { code: 'INVALID_PARAMS' },
  });
});

test('programs in a session can name it as FAIRLEAD_SESSION does (R-RPC-013)', async () => {
  const id = await place.create();
  const { output: own } = await call('exec.run_wait', { id, command: 'echo "$FAIRLEAD_SESSION"' });
  for (const params of [{ session_id: own }, { id: own }]) expect((await call('session.get', params)).id).toBe(id);
  expect(await call('session.input', { id: own, input: 'x' })).toEqual({ status: 'ok' });
  const { results } = await call('orchestrate.broadcast', { command: 'true', sessions: [own] });
  expect(results).toEqual([{ session_id: own, sent: true }]);
  const seen = async (session_id: unknown) =>
    (await call('session.audit_log', { session_id })).map(({ method }: { method: string }) => method);
  expect(await seen(own)).toEqual(['orchestrate.broadcast', 'session.input', 'exec.run_wait', 'session.create']);
  expect(await seen(id)).toEqual(await seen(own));
  expect(await call('session.destroy', { session_id: own })).toEqual({ status: 'ok', destroyed: true });
  expect((await failure('session.get', { session_id: 'fffff' }))?.message).toBe('Session fffff not found');
});

test('numbers are never used again (R-RPC-020)', async () => {
  const first = await place.create();
  await call('session.destroy', { id: first });
  expect(await place.create()).toBeGreaterThan(first);
});

test('session.create takes argv, command, env and a directory that must be there (R-RPC-023)', async () => {
  const direct = await place.create({ argv: ['printf', '%s', 'direct'] });
  await call('orchestrate.wait', { id: direct, exit: true });
  expect((await call('screen.text', { id: direct })).lines[0]).toBe('direct');
  const through = await place.create({ command: 'echo "$WORD" | tr a-z A-Z; sleep 60', env: { WORD: 'loud' } });
  expect(await call('orchestrate.wait', { id: through, pattern: 'LOUD' })).toMatchObject({ matched: true });
  expect((await failure('session.create', { cwd: '/no/such/folder' }))?.message).toContain('/no/such/folder');
  for (const beside of [{ shell: 'bash' }, { command: 'true' }]) {
    const refused = await failure('session.create', { argv: ['true'], ...beside });
    expect(refused?.message).toBe("Give one of 'argv' and 'command'");
  }
});

test('a command goes through the shell: yours, or the one that is asked for (R-RPC-023)', async () => {
  const command = 'echo "<${BASH_VERSION:-none}>"';
  const yours = await place.create({ command });
  const other = await place.create({ command, shell: 'dash' });
  for (const id of [yours, other]) await call('orchestrate.wait', { id, exit: true });
  expect((await call('screen.text', { id: yours })).lines[0]).toMatch(/^<\d/);
  expect((await call('screen.text', { id: other })).lines[0]).toBe('<none>');
});

test('a session begins at home where nobody says where, one of the terminal tools where the server was started (R-RPC-023)', async () => {
  const caller = { name: 'test', principal: 'owner', origin: 'mcp', may: () => true } as const;
  const env = { PATH: process.env['PATH'], HOME: '/usr', SHELL: '/bin/sh' };
  const options = {
    root: join(place.home, 'own'),
    shell: undefined,
    cwd: '/tmp',
    env,
    extraEnv: {},
    integration: false,
  };
  for (const [home, begins] of [
    ['/usr', '/usr'],
    ['/no/such/home', '/tmp'],
  ]) {
    await using own = await RpcPlace.open(undefined, { transports: [localTransport({ ...options, home })] });
    for (const method of ['session.create', 'orchestrate.launch']) {
      const { id } = await own.client.call(method);
      expect((await own.client.call('session.cwd', { id })).path).toBe(begins);
    }
    const asked = await own.create({ cwd: '~' });
    expect((await own.client.call('session.cwd', { id: asked })).path).toBe('/usr');
    const context = { engine: own.engine, caller, signal: AbortSignal.timeout(20_000) };
    expect((await callOperation(create, {}, context)).cwd).toBe('/tmp');
  }
});

test('session.input types, session.resize tells the program, session.destroy ends it', async () => {
  const id = await place.create();
  expect(await call('session.input', { id, input: 'echo ty' })).toEqual({ status: 'ok' });
  expect(await call('exec.send', { id, input: 'ped\r' })).toEqual({ status: 'ok' });
  await call('orchestrate.wait', { id, pattern: '^typed$', regex: true });
  expect(await call('session.resize', { id, cols: 90, rows: 25 })).toEqual({ status: 'ok' });
  expect(await call('exec.run_wait', { id, command: 'stty size' })).toMatchObject({ output: '25 90', exit_code: 0 });
  expect((await failure('session.resize', { id, cols: 1, rows: 25 }))?.data?.['code']).toBe('INVALID_PARAMS');
  expect(await call('session.destroy', { id })).toEqual({ status: 'ok', destroyed: true });
  expect((await failure('session.get', { id }))?.message).toBe(`Session ${id} not found`);
});

test('session.destroy lets a program save its work, and kills it after 3 s (R-RPC-026)', async () => {
  const busy = 'echo up; while :; do sleep 0.05; done';
  const saved = join(place.home, 'saved');
  const inShell = join(place.home, 'saved-in-shell');
  const direct = await place.create({
    argv: ['bash', '-c', `trap 'sleep 0.5; touch ${saved}; exit' HUP TERM; ${busy}`],
  });
  writeFileSync(join(place.home, 'save.sh'), `trap '' HUP; trap 'sleep 0.5; touch ${inShell}; exit' TERM; ${busy}`);
  const shell = await place.create();
  await call('exec.run', { id: shell, command: `bash save.sh` });
  const deaf = await place.create({ argv: ['bash', '-c', `trap '' HUP TERM; ${busy}`] });
  for (const id of [direct, shell, deaf]) await call('orchestrate.wait', { id, pattern: '^up$', regex: true });
  const ms = await Promise.all(
    [direct, shell, deaf].map(async (id) => {
      using client = await place.another();
      const from = performance.now();
      await client.call('session.destroy', { id });
      return performance.now() - from;
    }),
  );
  expect([existsSync(saved), existsSync(inShell)]).toEqual([true, true]);
  // Whoever is done is not waited for: the third is, for all the time there is.
  expect(ms[2]).toBeGreaterThan(2990);
  expect(ms[0]).toBeLessThan(ms[2] ?? 0);
  expect(ms[1]).toBeLessThan(ms[2] ?? 0);
});

test('several session.destroy behind each other end together, and are answered in their order (R-RPC-011)', async () => {
  const argv = ['bash', '-c', `trap '' HUP TERM; echo up; while :; do sleep 0.05; done`];
  const ids = [await place.create({ argv }), await place.create({ argv }), await place.create({ argv })];
  for (const id of ids) await call('orchestrate.wait', { id, pattern: 'up' });
  const quick = await place.create({ argv: ['sleep', '600'] });
  using client = await place.another();
  const line = (method: string, params: object, id: string): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const ends = [...ids, quick, quick].map((id, at) => line('session.destroy', { id }, `end ${at}`));
  const from = performance.now();
  client.send([line('session.list', {}, 'before'), ...ends, line('session.list', {}, 'after')].join(''));
  const answers: RpcAnswer[] = [];
  for (let count = 0; count < ends.length + 2; count += 1) answers.push(await client.next());
  const tookMs = performance.now() - from;
  expect(answers.map(({ id }) => id)).toEqual(['before', 'end 0', 'end 1', 'end 2', 'end 3', 'end 4', 'after']);
  expect(answers.map(({ error }) => error?.message)).toEqual([
    ...Array.from({ length: 5 }, () => undefined),
    `Session ${quick} not found`,
    undefined,
  ]);
  const listed = (at: number): number[] => answers[at]?.result.sessions.map(({ id }: { id: number }) => id);
  expect(listed(0)).toEqual(expect.arrayContaining([...ids, quick]));
  for (const id of [...ids, quick]) expect(listed(6)).not.toContain(id);
  expect(tookMs).toBeGreaterThan(2990);
  // One after the other they take almost ten seconds.
  expect(tookMs).toBeLessThan(9000);
});

test('the end of the server does not wait for a session that is being destroyed (R-TERM-140)', async () => {
  const end = async (): Promise<number> => {
    const own = await RpcPlace.open();
    const id = await own.create({ argv: ['bash', '-c', `trap '' HUP TERM; echo up; while :; do sleep 1; done`] });
    await own.client.call('orchestrate.wait', { id, pattern: 'up' });
    const { pid } = await own.client.call('session.get', { id });
    using other = await own.another();
    other.send(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.destroy', params: { id } })}\n`);
    await expect.poll(async () => (await own.client.call('session.list')).sessions).toEqual([]);
    const from = performance.now();
    await own[Symbol.asyncDispose]();
    const took = performance.now() - from;
    expect(isAlive(pid)).toBe(false);
    return took;
  };
  expect(await shortest(1500, end)).toBeLessThan(1500);
});

test('a session that has exited is listed, can be read, and takes no input (R-RPC-024)', async () => {
  const id = await place.create({ argv: ['sh', '-c', 'echo last words; exit 3'] });
  await call('orchestrate.wait', { id, exit: true });
  expect(await call('session.get', { id })).toMatchObject({ is_dead: true, exit_code: 3 });
  expect((await call('screen.text', { id })).lines[0]).toBe('last words');
  expect(await failure('session.input', { id, input: 'x' })).toMatchObject({
    message: `Session ${id} has exited`,
    data: { code: 'SESSION_EXITED' },
  });
});

test('idle or running, by marks, and both methods agree (R-RPC-027)', async () => {
  const id = await place.create();
  expect(await call('session.idle', { id })).toMatchObject({
    idle: true,
    foreground_process: 'bash',
    source: 'osc133',
  });
  await call('exec.run_wait', { id, command: 'sh -c "exit 4"' });
  expect(await call('exec.status', { id })).toMatchObject({ status: 'idle', last_exit_code: 4 });
  await call('exec.run', { id, command: 'sleep 30' });
  await place.running(id, 'sleep');
  expect(await call('exec.status', { id })).toMatchObject({
    status: 'running',
    foreground_process: 'sleep',
    command: 'sleep 30',
  });
  expect(await call('session.idle', { id })).toMatchObject({ idle: false, foreground_process: 'sleep' });
  expect(await call('exec.cancel', { id })).toEqual({
    cancelled: true,
    was_running: true,
    foreground_process: 'sleep',
  });
});

test('in a session that has ended nothing runs, and its exit code is the last one (R-RPC-024, R-RPC-027)', async () => {
  const failed = await place.create({ argv: ['sh', '-c', 'exit 3'] });
  const shell = await place.create();
  await call('exec.run_wait', { id: shell, command: '(exit 4)' });
  await call('exec.run', { id: shell, command: 'exit 5' });
  const killed = await place.create({ argv: ['sleep', '60'] });
  await call('signal.send', { id: killed, signal: 'KILL', mode: 'process' });
  for (const [id, code] of [
    [failed, 3],
    [shell, 5],
    [killed, null],
  ]) {
    await call('orchestrate.wait', { id, exit: true });
    const truth = { is_dead: true, last_exit_code: code, source: 'exit' };
    expect(await call('exec.status', { id })).toMatchObject({ status: 'idle', ...truth });
    expect(await call('session.idle', { id })).toMatchObject({ idle: true, ...truth });
  }
});

test('a program without marks whose name only looks like a shell is not one (R-RPC-027)', async () => {
  const id = await place.create({ argv: ['sleep', '60'] });
  expect(await call('session.idle', { id })).toMatchObject({ idle: false, source: 'process_group' });
});

test.each([{ command: 'read line; true' }, { argv: ['bash', '-c', 'read line; true'] }])(
  'a shell that works off what it was started with is not idle: %j (R-RPC-027)',
  async (params) => {
    const id = await place.create(params);
    await place.running(id, 'bash');
    expect(await call('session.idle', { id })).toMatchObject({ idle: false, source: 'process_group' });
    expect((await call('exec.status', { id })).status).toBe('running');
    await call('session.destroy', { id });
  },
);

test.each(['bash --norc', 'bash -i', 'dash'])('%s, started as a program, takes commands (R-RPC-027)', async (line) => {
  const argv = line.split(' ');
  const id = await place.create({ argv });
  await place.running(id, argv[0] ?? '');
  expect(await call('session.idle', { id })).toMatchObject({ idle: true, source: 'process_group' });
  expect(await call('exec.run_wait', { id, command: 'echo 4$((1+1))' })).toMatchObject({ output: '42', exit_code: 0 });
});

test('a session is idle since its newest output or input, however often somebody looks (R-RPC-027)', async () => {
  const id = await place.create();
  await call('exec.run_wait', { id, command: 'true' });
  await place.prompted(id);
  const idle = async (): Promise<number> => (await call('session.idle', { id })).idle_ms;
  await expect.poll(idle).toBeGreaterThan(300);
  for (const method of ['exec.status', 'session.get']) {
    expect((await call(method, { id })).idle_ms).toBeGreaterThan(300);
  }
  // From the key on, or from its echo: longer than since before it was pressed it cannot be.
  const before = performance.now();
  await call('session.input', { id, input: 'x' });
  expect(await idle()).toBeLessThanOrEqual(Math.ceil(performance.now() - before));
});

test('a title is shown until the program has one of its own; a name is another thing (R-RPC-022, R-RPC-023)', async () => {
  const made = await call('session.create', { title: 'My work', name: 'builder' });
  expect(made.title).toBe('My work');
  expect(await call('session.get', { id: made.id })).toMatchObject({ title: 'My work', name: 'builder' });
  await call('exec.run_wait', { id: made.id, command: 'printf "\\033]0;of the program\\007"' });
  expect((await call('session.get', { id: made.id })).title).toBe('of the program');
  const alone = await call('session.get', { id: await place.create({ title: 'Alone' }) });
  expect([alone.title, alone.name]).toEqual(['Alone', undefined]);
});

test('a name that is a whole number is refused: nobody could call the session by it', async () => {
  const before = (await place.client.call('session.list')).sessions.length;
  for (const method of ['session.create', 'orchestrate.launch']) {
    const { error } = await place.client.ask(method, { name: ' 7 ', command: 'true' });
    expect(error?.message).toBe('A session cannot be called 7: that would be the number of one.');
  }
  const caller = { name: 'test', principal: 'owner', origin: 'mcp', may: () => true } as const;
  const context = { engine: place.engine, caller, signal: AbortSignal.timeout(20_000) };
  const refused = { code: 'invalid_input' };
  await expect(callOperation(open, { name: '7' }, context)).rejects.toMatchObject(refused);
  await expect(callOperation(create, { name: '7' }, context)).rejects.toMatchObject(refused);
  expect((await place.client.call('session.list')).sessions).toHaveLength(before);
  await place.create({ name: '7th' });
});

test('one size for every session nobody wants another for', async () => {
  await using own = await RpcPlace.open(undefined, { size: { cols: 99, rows: 21 } });
  await own.create();
  await own.engine.sessions.default(AbortSignal.timeout(10_000));
  const { sessions } = await own.client.call('session.list');
  for (const session of sessions) expect(session).toMatchObject({ cols: 99, rows: 21 });
  expect((await own.client.call('server.health')).terminal).toMatchObject({ initial_cols: 99, initial_rows: 21 });
});

test('session.cwd is a file URI with every strange letter encoded, and a path (R-RPC-028)', async () => {
  const id = await place.create();
  await call('exec.run_wait', { id, command: "mkdir -p 'a b#ü' && cd 'a b#ü'" });
  await place.prompted(id);
  const path = `${realpathSync(place.home)}/a b#ü`;
  expect(await call('session.cwd', { id })).toEqual({
    cwd: `file://${hostname()}${path.split('/').map(encodeURIComponent).join('/')}`,
    path,
  });
});

test('a directory on another machine keeps its host and is no path of this one (R-RPC-028)', async () => {
  const telling = "printf '\\033]7;file://far.example/srv/a%%20b\\007there'; sleep 60";
  const id = await place.create({ argv: ['sh', '-c', telling] });
  await call('orchestrate.wait', { id, pattern: 'there' });
  const far = 'file://far.example/srv/a%20b';
  expect(await call('session.cwd', { id })).toEqual({ cwd: far });
  expect((await call('session.get', { id })).shell.cwd).toBe(far);
  // What is done on this machine is done where the program itself is.
  await call('workspace.save', { name: 'far' });
  const { workspace } = await call('workspace.restore', { name: 'far', dry_run: true });
  const saved = workspace.sessions.find((one: { id: number }) => one.id === id);
  expect(saved.cwd).toBe(realpathSync(place.home));
});

test('session.history has the visible rows, or the commands with their exit codes (R-RPC-029)', async () => {
  const id = await place.create();
  await call('exec.run_wait', { id, command: 'echo seen; false' });
  // What is compared below is read twice.
  await place.prompted(id);
  const { entries, count } = await call('session.history', { id });
  expect(entries.map(textOf)).toContain('seen');
  expect(count).toBe(entries.length);
  // The empty rows below the prompt are not among the newest.
  const few = await call('session.history', { id, limit: 3 });
  expect(few.entries.map(textOf)).toEqual(entries.slice(-3).map(textOf));
  const commands = await call('session.history', { id, source: 'commands' });
  expect(commands.entries).toMatchObject([{ text: 'echo seen; false', exit_code: 1 }]);
});

test('an ended session is listed and readable for ten minutes, however short the idle limit is (R-RPC-024)', async () => {
  const clock = patientClock();
  // Of this clock's long waits none ends by itself: what would close the session earlier would be seen among them.
  await using place = await RpcPlace.open(undefined, { clock, sessions: { maxSessions: 200, idleTimeout: 130 } });
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  const id = await place.create({ command: 'echo last words; exit 7' });
  await call('orchestrate.wait', { id, exit: true });
  expect((await call('session.list')).sessions).toMatchObject([{ id, is_dead: true, exit_code: 7 }]);
  expect((await call('screen.text', { id })).lines[0]).toBe('last words');
  expect([...clock.long.values()].map((ms) => Math.ceil(ms / 60_000))).toEqual([10]);
  for (const run of clock.long.keys()) run();
  expect((await call('session.list')).sessions).toEqual([]);
  expect((await place.client.ask('screen.text', { id })).error?.message).toBe(`Session ${id} not found`);
});

test('a session in which somebody sits or waits is not idle; of one that was closed for it later calls tell (R-RPC-024)', async () => {
  const clock = patientClock();
  await using place = await RpcPlace.open(undefined, { clock, sessions: { maxSessions: 200, idleTimeout: 600 } });
  const [forgotten, waited, watched] = [await place.create(), await place.create(), await place.create()];
  const terminal = (id: number) => place.engine.terminals.find(({ identity: { number } }) => number === id);
  const begun = async (id: number, begin: () => void): Promise<void> => {
    const before = terminal(id)?.state.changed.size ?? 0;
    begin();
    await expect.poll(() => terminal(id)?.state.changed.size).toBeGreaterThan(before);
  };
  using other = await place.another();
  const pattern = { id: waited, pattern: 'never', timeout_ms: 60_000 };
  await begun(waited, () => other.send(`${JSON.stringify({ id: 1, method: 'orchestrate.wait', params: pattern })}\n`));
  using leaving = disposableSignal();
  const context = { engine: place.engine, caller: localPerson, signal: leaving.signal };
  const following = callStream(followTerminal, { session: watched }, context);
  await begun(watched, () => void following.next());
  clock.jump(700_000);
  // Whoever is not idle waits again.
  const due = [...clock.long.keys()];
  for (const run of due) run();
  const { sessions } = await place.client.call('session.list');
  expect(sessions.map(({ id }: { id: number }) => id)).toEqual([waited, watched]);
  const { error } = await place.client.ask('screen.text', { id: forgotten });
  expect(error?.message).toBe(`Session ${forgotten} not found`);
  expect(error?.data).toMatchObject({ hint: expect.stringMatching(/was closed after 7\d\d s idle$/) as string });
});

function disposableSignal(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  return { signal: controller.signal, [Symbol.dispose]: () => controller.abort() };
}

test('a default session that has ended is let go, too, and comes back for whoever types (R-RPC-024, R-TERM-034)', async () => {
  const clock = patientClock();
  await using place = await RpcPlace.open(undefined, { clock });
  const { signal } = new AbortController();
  const first = await place.engine.sessions.default(signal);
  await place.client.call('exec.run', { id: first.identity.number, command: 'exit 7' });
  await first.whenEnded;
  expect((await place.client.call('session.list')).sessions).toMatchObject([
    { id: first.identity.number, is_dead: true },
  ]);
  for (const run of clock.long.keys()) run();
  expect((await place.client.call('session.list')).sessions).toEqual([]);
  const { terminal, restarted } = await place.engine.sessions.forInput(undefined, { principal: 'owner' }, signal);
  expect([terminal.identity.number > first.identity.number, restarted]).toEqual([true, true]);
});

test('an ended session gives way when the limit is reached, a live one does not (R-RPC-024)', async () => {
  await using place = await RpcPlace.open(undefined, { sessions: { maxSessions: 3, idleTimeout: 0 } });
  const ended = await place.create({ command: 'exit 1' });
  await place.client.call('orchestrate.wait', { id: ended, exit: true });
  const alive = await place.create();
  const next = await place.create();
  const { sessions } = await place.client.call('session.list');
  expect(sessions.map(({ id }: { id: number }) => id)).toEqual([alive, next]);
  expect((await place.client.ask('session.create', {})).error?.data?.['code']).toBe('LIMIT_REACHED');
});
