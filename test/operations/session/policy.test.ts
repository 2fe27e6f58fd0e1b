import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { call as callOperation } from '../../../src/engine/call/call.ts';
import { verifyTrail } from '../../../src/engine/call/audit/verify.ts';
import { Policies } from '../../../src/policy/policies.ts';
import { submit } from '../../../src/engine/input/submit.ts';
import { typeText } from '../../../src/engine/input/typing.ts';
import { workspaces } from '../../../src/engine/sessions/workspaces.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { open } from '../../../src/operations/core/lifecycle.ts';
import { run } from '../../../src/operations/core/run.ts';
import { send } from '../../../src/operations/core/send.ts';
import { set } from '../../../src/operations/session/policy.ts';
import { press, type } from '../../../src/operations/terminal/keyboard.ts';
import { create } from '../../../src/operations/terminal/shell.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const strict = { enabled: true, blocked_patterns: ['rm -rf /', 'sudo '], allowed_patterns: [] };

test('policy.set, policy.get and policy.check answer as documented, and the file holds it (R-RPC-101, R-RPC-102)', async () => {
  await using place = await RpcPlace.open();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  expect(await call('policy.check', { command: 'rm -rf /' })).toEqual({ allowed: true, reason: 'Policy disabled' });
  expect(await call('policy.set', strict)).toMatchObject({ set: true });
  expect(await call('policy.check', { command: "bash -c 'rm -rf /'" })).toEqual({
    allowed: false,
    reason: 'Blocked by pattern: rm -rf /',
    pattern: 'rm -rf /',
    list: 'blocked',
  });
  expect(await call('policy.get')).toMatchObject(strict);
  expect(JSON.parse(readFileSync(join(place.home, '.fairlead', 'policy.json'), 'utf8'))).toMatchObject(strict);
  const bad = await place.client.ask('policy.set', { ...strict, blocked_patterns: ['re:('] });
  expect(bad.error?.code).toBe(-32603);
  expect(await call('policy.get')).toMatchObject(strict);
});

test('every way to run a command asks it: exec, orchestrate, create, and the tools of other books (R-RPC-100)', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  await place.client.call('policy.set', strict);
  const blocked = { code: -32603, message: 'Command blocked by policy: sudo ', data: { code: 'BLOCKED_BY_POLICY' } };
  const command = 'sudo id';
  for (const [method, params] of [
    ['exec.run', { id, command }],
    ['exec.run_wait', { id, command }],
    ['orchestrate.launch', { command }],
    ['orchestrate.broadcast', { command, sessions: [id] }],
    ['session.create', { command }],
  ] as const) {
    expect((await place.client.ask(method, params)).error, method).toMatchObject(blocked);
  }
  const caller = { name: 'test', principal: 'owner', origin: 'mcp', may: () => true } as const;
  const context = { engine: place.engine, caller, signal: AbortSignal.timeout(10_000) };
  await expect(callOperation(run, { command }, context)).rejects.toMatchObject({ code: 'not_permitted' });
  // Nothing of it was typed.
  expect((await place.client.call('screen.text', { id })).lines.join('\n')).not.toContain('sudo');
  expect(await place.client.call('exec.run_wait', { id, command: 'echo fine' })).toMatchObject({ output: 'fine' });
});

test('programs, variables and saved commands are judged like command lines (R-RPC-100)', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  const before = (await place.client.call('session.list')).sessions.length;
  await place.client.call('policy.set', strict);
  const argv = ['bash', '-c', 'sudo id'];
  const env = { PROMPT_COMMAND: 'sudo id' };
  const sessions = [{ id: 1, title: '', cwd: '', command: 'sudo id' }];
  place.engine.service(workspaces).save({ name: 'bad', saved_at: '', sessions });
  for (const [method, params] of [
    ['session.create', { argv }],
    ['session.create', { argv: ['/usr/bin/sudo', 'id'] }],
    ['session.create', { shell: '/bin/bash', command: 'true; sudo id' }],
    ['session.create', { shell: 'python3', command: 'import os; os.system("sudo id")' }],
    ['session.create', { env }],
    ['session.create', { env: { PS1: '$(sudo id)' } }],
    ['orchestrate.launch', { argv }],
    ['orchestrate.launch', { command: 'true', env }],
    ['session.set_env', { id, name: 'PROMPT_COMMAND', value: 'sudo id' }],
    ['workspace.restore', { name: 'bad', run_commands: true, replace: true }],
  ] as const) {
    expect((await place.client.ask(method, params)).error, method).toMatchObject({
      message: 'Command blocked by policy: sudo ',
      data: { code: 'BLOCKED_BY_POLICY' },
    });
  }
  const caller = { name: 'test', principal: 'owner', origin: 'mcp', may: () => true } as const;
  const context = { engine: place.engine, caller, signal: AbortSignal.timeout(10_000) };
  const programs = { ...strict, blocked_patterns: ['sudo ', 'cmd:sudo'] };
  await place.client.call('policy.set', programs);
  const refused = { code: 'not_permitted' };
  await expect(callOperation(open, { argv }, context)).rejects.toMatchObject(refused);
  await expect(callOperation(open, { env }, context)).rejects.toMatchObject(refused);
  await expect(callOperation(create, { shell: '/usr/bin/sudo' }, context)).rejects.toMatchObject(refused);
  // What nobody can judge is refused, whatever is blocked; a program with a path is what its path says.
  for (const params of [
    { env: { 'BASH_FUNC_ls%%': '() { id; }' } },
    { env: { ANY: '() { id; }' } },
    { env: { LD_PRELOAD: '/tmp/x.so' } },
    { env: { GIT_PAGER: 'sudo id' } },
    { argv: ['env', 'BASH_FUNC_ls%%=() { id; }', 'bash', '-c', 'ls'] },
  ]) {
    const { error } = await place.client.ask('session.create', params);
    expect(error?.message, JSON.stringify(params)).toContain('Command blocked by policy: ');
  }
  expect((await place.client.ask('session.set_env', { id, name: 'LD_PRELOAD', value: 'x' })).error?.message).toContain(
    'LD_PRELOAD',
  );
  await place.client.call('policy.set', { ...programs, allowed_patterns: ['cmd:sleep', ':'] });
  for (const params of [{ shell: '/tmp/x/bash' }, { argv: ['/tmp/x/sleep'] }, { env: { PATH: '/tmp/x' } }]) {
    const { error } = await place.client.ask('session.create', params);
    expect(error?.message, JSON.stringify(params)).toContain('Command blocked by policy: ');
  }
  // Nothing was closed or opened, and the innocent pass.
  expect((await place.client.call('session.list')).sessions).toHaveLength(before);
  await place.client.call('session.set_env', { id, name: 'PS1', value: '\\w\\$ ' });
  await place.client.call('session.create', { argv: ['sleep', '60'], env: { A: 'sudo id' } });
});

test('while policy.json cannot be understood the last good policy holds, and without one nothing runs', async () => {
  await using place = await RpcPlace.open();
  const file = join(place.home, '.fairlead', 'policy.json');
  await place.client.call('policy.set', strict);
  writeFileSync(file, '{ "enabled": fal');
  let time = 0;
  const clock = { now: () => 0, monotonic: () => time };
  const warnings: string[] = [];
  const root = join(place.home, '.fairlead');
  const fresh = new Policies({ root, clock: { ...systemClock, ...clock }, warn: (text) => warnings.push(text) });
  // This one never saw a good one.
  expect(fresh.check('ls')).toEqual({
    allowed: false,
    reason: expect.stringContaining('policy.json cannot be understood'),
  });
  expect(fresh.check('ls').allowed).toBe(false);
  expect(warnings).toHaveLength(1);
  const guest = { mayLoosen: false };
  expect(() => fresh.set({ ...strict, enabled: false, scope: ['exec'] }, guest)).toThrow('may only tighten');
  writeFileSync(file, JSON.stringify({ enabled: true, blocked_patterns: ['re:('] }));
  time += 2000;
  expect(fresh.check('ls').allowed).toBe(false);
  writeFileSync(file, JSON.stringify({ ...strict, blocked_patterns: ['cmd:rm'] }));
  time += 2000;
  expect([fresh.check('ls').allowed, fresh.check('rm x').allowed]).toEqual([true, false]);
  writeFileSync(file, '');
  time += 2000;
  expect([fresh.check('ls').allowed, fresh.check('rm x').allowed]).toEqual([true, false]);
});

test('typed lines are judged only where the policy says so', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  await place.client.call('policy.set', strict);
  expect(await place.client.call('session.input', { id, input: ': sudo x\r' })).toEqual({ status: 'ok' });
  await place.client.call('policy.set', { ...strict, scope: ['exec', 'input'] });
  expect((await place.client.ask('session.input', { id, input: ': sudo x\r' })).error?.message).toBe(
    'Command blocked by policy: sudo ',
  );
});

test('what is left out of policy.set stays as it is, the scope too: who adds a rule loosens nothing', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  await place.client.call('policy.set', { ...strict, scope: ['exec', 'input'] });
  const { changed } = await place.client.call('policy.set', { enabled: true, blocked_patterns: ['sudo ', 'reboot'] });
  expect(changed).toContain('+ blocked reboot');
  expect((await place.client.call('policy.get')).scope).toEqual(['exec', 'input']);
  expect((await place.client.ask('session.input', { id, input: ': sudo x\r' })).error?.message).toBe(
    'Command blocked by policy: sudo ',
  );
  await place.client.call('policy.set', { enabled: true, scope: ['exec'] });
  expect(await place.client.call('policy.get')).toMatchObject({
    scope: ['exec'],
    blocked_patterns: ['sudo ', 'reboot'],
  });
});

test('a line is judged whole, whichever calls typed it (R-RPC-100)', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  const programs = { enabled: true, blocked_patterns: ['cmd:touch'], allowed_patterns: [], scope: ['exec', 'input'] };
  await place.client.call('policy.set', programs);
  const file = join(place.home, 'touched');
  const caller = { name: 'test', principal: 'owner', origin: 'mcp', may: () => true } as const;
  const context = { engine: place.engine, caller, signal: AbortSignal.timeout(20_000) };
  const terminal = place.engine.terminals.find(({ identity: { number } }) => number === id)?.id;
  const typeKeys = (input: string) => place.client.ask('session.input', { id, input });
  /** Ctrl+C, until the shell has dropped what was typed and shows a new prompt: one that is busy with its prompt may miss it. */
  const dropped = async (): Promise<void> => {
    const { blocks } = place.terminal(id);
    const before = blocks.promptAt ?? 0;
    const isNew = (): boolean => (blocks.promptAt ?? 0) > before;
    while (!isNew()) {
      expect(await typeKeys('\x03')).toHaveProperty('result');
      await vi.waitUntil(isNew, { timeout: 2000, interval: 2 }).catch(() => {});
    }
  };
  writeFileSync(join(place.home, 'only-one'), '');
  /** A Ctrl+C in the middle of completion may leave bash deaf for ever. */
  const completed = () => place.client.call('orchestrate.wait', { id, pattern: 'only-one' });
  const halves: readonly (readonly [string, () => Promise<unknown>])[] = [
    [`touch ${file}`, () => typeKeys('\r')],
    [`touch ${file}`, () => typeKeys('\n')],
    [`touch ${file}`, () => callOperation(press, { sessionId: terminal, key: 'Enter' }, context)],
    [`touch ${file}`, () => callOperation(type, { sessionId: terminal, text: '', submit: true }, context)],
    [`touch ${file}`, () => callOperation(send, { terminal, keys: ['Enter'] }, context)],
    [`touch ${file}`, () => callOperation(send, { terminal, text: '' }, context)],
    ['touch ', () => place.client.ask('exec.run', { id, command: file })],
    ['touch ', () => place.client.ask('exec.run_wait', { id, command: file, timeout_ms: 1000 })],
    ['touch ', () => callOperation(run, { terminal, command: file, timeoutMs: 1000 }, context)],
    ['tou', () => place.client.call('orchestrate.broadcast', { sessions: [id], command: `ch ${file}` })],
    // Keys that change the line, bring back an older one, or run it.
    ['x', () => typeKeys('\x7f\r')],
    ['', () => typeKeys('\x1b[A\r')],
    ['', () => typeKeys('\x10\x0f')],
    ['cat only-o\t', () => completed().then(() => typeKeys('\r'))],
    ['', () => typeKeys('\x18\x05')],
    [`\x1b[200~touch ${file}\x1b[201~`, () => typeKeys('\r')],
  ];
  for (const [first, second] of halves) {
    expect(await typeKeys(first), first).toHaveProperty('result');
    const said = JSON.stringify(await second().catch((error: unknown) => String(error)));
    expect(said, `${first} and ${second.toString()}`).toMatch(/blocked by policy|is busy|Unfinished text/);
    await dropped();
  }
  expect((await place.client.ask('session.input', { id, input: '\x1b[A' })).error).toBeUndefined();
  expect((await place.client.ask('session.input', { id, input: '\r' })).error).toMatchObject({
    message: expect.stringContaining('changed with keys'),
    data: { code: 'BLOCKED_BY_POLICY', hint: expect.stringContaining('Ctrl+C') },
  });
  await dropped();
  // The innocent pass, in pieces too.
  await typeKeys('echo a');
  expect(await typeKeys('b > out\r')).toHaveProperty('result');
  expect(await place.client.call('exec.run_wait', { id, command: 'echo fi\necho ne' })).toMatchObject({
    output: 'fi\nne',
  });
  expect(existsSync(file)).toBe(false);
});

test('a hand edit counts, and whoever may not administer may only tighten (R-RPC-017, R-RPC-102)', async () => {
  await using place = await RpcPlace.open();
  await place.client.call('policy.set', strict);
  const caller = {
    name: 'guest',
    principal: 'g',
    origin: 'rpc',
    may: (access: string) => access !== 'administer',
  } as const;
  const context = { engine: place.engine, caller, signal: AbortSignal.timeout(10_000) };
  await expect(callOperation(set, { ...strict, enabled: false }, context)).rejects.toThrow('may only tighten');
  await expect(callOperation(set, { ...strict, blocked_patterns: ['sudo '] }, context)).rejects.toThrow(
    'may only tighten',
  );
  const tighter = { ...strict, blocked_patterns: [...strict.blocked_patterns, 'curl'] };
  await expect(callOperation(set, tighter, context)).resolves.toMatchObject({ set: true, changed: ['+ blocked curl'] });
  writeFileSync(join(place.home, '.fairlead', 'policy.json'), JSON.stringify({ enabled: false }));
  await expect.poll(() => place.client.call('policy.check', { command: 'sudo x' })).toMatchObject({ allowed: true });
});

test('the audit log: changes and refusals with who and what, reads not; it survives and can be verified (R-RPC-035, 036)', async () => {
  await using place = await RpcPlace.open();
  const call = (method: string, params?: unknown) => place.client.call(method, params);
  const id = await place.create();
  await call('exec.run_wait', { id, command: 'echo one' });
  await call('session.input', { id, input: 'echo two\r' });
  await call('screen.text', { id });
  await call('policy.set', strict);
  await place.client.ask('exec.run', { id, command: 'sudo id' });
  const log = await call('session.audit_log', { limit: 10 });
  expect(log.map(({ method, allowed, detail }: Record<string, unknown>) => [method, allowed, detail])).toEqual([
    ['exec.run', false, 'sudo id'],
    ['policy.set', true, 'enabled true, + blocked rm -rf /, + blocked sudo '],
    ['session.input', true, '9 characters, has_control: echo two\\r'],
    ['exec.run_wait', true, 'echo one'],
    ['session.create', true, '/bin/bash'],
  ]);
  expect(log[0]).toMatchObject({ session_id: String(id), client: 'anonymous', origin: 'rpc', error: 'not_permitted' });
  expect(await call('session.audit_log', { method: 'policy.set' })).toHaveLength(1);
  expect(verifyTrail(join(place.home, '.fairlead'))).toMatchObject({ faults: [], records: 5 });
});

/** Waits for the question, and for the end of the echo: bash asks first. */
async function asksUnseen(place: RpcPlace, id: number): Promise<void> {
  await place.client.call('orchestrate.wait', { id, pattern: '^secret: ', regex: true });
  await expect.poll(() => place.terminal(id).process?.inputMode()).toBe('hidden');
}

test('what is typed while nothing is echoed leaves only its length (R-RPC-036)', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create();
  await place.client.call('exec.run', { id, command: 'read -s -p "secret: " x' });
  await asksUnseen(place, id);
  await place.client.call('session.input', { id, input: 'hunter2-and-more\r' });
  const [entry] = await place.client.call('session.audit_log', { limit: 1 });
  expect(entry.detail).toBe('17 characters, has_control');
});

test.each(['exec.run', 'orchestrate.broadcast', 'terminal_run'])(
  'a command typed while nothing is echoed leaves only its length: %s (R-RPC-036)',
  async (method) => {
    await using place = await RpcPlace.open();
    const id = await place.create();
    const command = 'hunter2-plainword';
    await place.client.call('exec.run', { id, command: 'read -s -p "secret: " x' });
    await asksUnseen(place, id);
    const caller = { name: 'test', principal: 'owner', origin: 'mcp', may: () => true } as const;
    const context = { engine: place.engine, caller, signal: AbortSignal.timeout(10_000) };
    if (method === 'exec.run') await place.client.call(method, { id, command });
    else if (method === 'terminal_run')
      await callOperation(run, { command, terminal: String(id) }, context).catch(() => {});
    else await place.client.call(method, { command, sessions: [id] });
    const [entry] = await place.client.call('session.audit_log', { limit: 1 });
    expect(entry.detail).toBe('17 characters');
  },
);

test('a policy.json with a typo is told of, and is not written over (R-RPC-017)', async () => {
  await using place = await RpcPlace.open();
  const file = join(place.home, '.fairlead', 'policy.json');
  writeFileSync(file, '{\n  "enabled": true,\n}');
  const { error } = await place.client.ask('policy.set', {
    enabled: false,
    blocked_patterns: [],
    allowed_patterns: [],
  });
  expect(error?.message).toMatch(/policy\.json cannot be understood \(line 3: .+\), so it is left as it is/);
  expect(readFileSync(file, 'utf8')).toBe('{\n  "enabled": true,\n}');
  expect((await place.client.call('policy.get')).error).toContain('policy.json cannot be understood (line 3: ');
});

test('a command that was left standing before its Enter is a part of the line that is typed on (R-RPC-100)', async () => {
  await using place = await RpcPlace.open();
  const id = await place.create({ argv: ['sh', '-c', 'stty raw -echo; echo ready; exec cat'] });
  await place.client.call('orchestrate.wait', { id, pattern: 'ready' });
  await place.client.call('policy.set', { enabled: true, blocked_patterns: ['rm -rf'], scope: ['exec', 'input'] });
  const [terminal] = place.engine.terminals;
  if (terminal === undefined) throw new Error('There is no terminal.');
  const hangUp = new AbortController();
  // The program has shown the text, and Enter waits until it is quiet.
  using _shown = terminal.output.on(() => hangUp.abort());
  const options = { by: 'test', paste: true, submit: true, as: 'command' } as const;
  await expect(typeText(terminal, 'echo one\nrm ', options, hangUp.signal)).rejects.toMatchObject({
    code: 'cancelled',
  });
  const { error } = await place.client.ask('session.input', { id, input: '-rf x\r' });
  expect(error?.data).toMatchObject({ code: 'BLOCKED_BY_POLICY' });
});

test.each([
  ['a program that draws its own line', 'stty raw -echo; echo ready; exec cat', 'enter'],
  ['a program that draws its own line, as a paste', 'stty raw -echo; echo ready; exec cat', 'paste'],
  ['a shell without marks', 'echo ready; exec sh', 'enter'],
] as const)('what would be refused with its Enter is not typed at all: %s (R-RPC-100)', async (_who, script, mode) => {
  await using place = await RpcPlace.open();
  const id = await place.create({ argv: ['sh', '-c', script] });
  await place.client.call('orchestrate.wait', { id, pattern: 'ready' });
  await place.client.call('policy.set', { enabled: true, blocked_patterns: ['rm -rf'], scope: ['exec', 'input'] });
  const terminal = place.terminal(id);
  const typed: string[] = [];
  terminal.input.events.on(({ bytes }) => typed.push(Buffer.from(bytes).toString()));
  const signal = AbortSignal.timeout(20_000);
  await expect(submit(terminal, { text: 'rm -rf x', mode, by: 'test' }, signal)).rejects.toThrow('blocked by policy');
  expect(typed).toEqual([]);
  // Nothing stands there, so nothing is judged with what comes next.
  await submit(terminal, { text: 'echo fine', mode, by: 'test' }, signal);
  expect(typed.join('')).toBe('echo fine\r');
});
