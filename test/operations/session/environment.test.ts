import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { slowClock } from '../../support/clocks/slow.ts';
import { type RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
// A shell has half a second to look when it is woken: here that is half a second of a machine that is busy with other things.
withPlace((opened) => (place = opened), { clock: slowClock });

const call = (method: string, params?: unknown) => place.client.call(method, params);
const run = async (id: number, command: string): Promise<string> =>
  (await call('exec.run_wait', { id, command })).output;

test.each(['bash', 'zsh', 'fish', 'dash'])(
  '%s: a variable is set and unset without typing (R-RPC-031)',
  async (shell) => {
    const id = await place.create({ shell });
    const value = `it's "x" $HOME`;
    const { status, applied } = await call('session.set_env', { id, name: 'FL_WORD', value });
    expect(status).toBe('ok');
    expect(applied).toMatch(/^next_(command|prompt)$/);
    // What counts from the next prompt on needs one to pass.
    if (applied === 'next_prompt') await run(id, 'true');
    expect(await run(id, 'printenv FL_WORD')).toBe(value);
    await call('session.set_env', { id, name: 'FL_WORD', value: null });
    await run(id, 'true');
    expect((await call('exec.run_wait', { id, command: 'printenv FL_WORD' })).exit_code).toBe(1);
    expect(await run(id, shell === 'fish' ? 'history' : 'fc -l -20 2>/dev/null || true')).not.toContain('FL_WORD=');
  },
);

const value = async (id: number, name: string): Promise<unknown> => (await call('session.env', { id, name })).value;

test.each(['bash', 'zsh', 'fish', 'dash', 'sh'])(
  '%s: apply now is in effect when it says so (R-RPC-031)',
  async (shell) => {
    const id = await place.create({ shell });
    expect(await call('session.set_env', { id, name: 'FL_NOW', value: '1', apply: 'now' })).toEqual({
      status: 'ok',
      applied: 'now',
    });
    expect(await run(id, 'printenv FL_NOW')).toBe('1');
  },
);

test.each(['bash', 'zsh', 'fish', 'dash', 'sh'])(
  '%s: what is set while a command runs is there after it',
  async (shell) => {
    const id = await place.create({ shell });
    const gate = join(place.home, `gate-${shell}`);
    await call('exec.run', { id, command: `sh -c 'until [ -e ${gate} ]; do sleep 0.02; done'` });
    await expect.poll(async () => (await call('exec.status', { id })).status).toBe('running');
    const { applied } = await call('session.set_env', { id, name: 'FL_BUSY', value: '4' });
    expect(applied).toMatch(/^next_(command|prompt)$/);
    writeFileSync(gate, '');
    expect((await call('exec.run_wait', { id, command: 'printenv FL_BUSY', queue: true })).output).toBe('4');
  },
);

test.each(['bash', 'zsh', 'fish'])(
  '%s: the first look shows what the shell has, also what its files set, and types nothing (R-RPC-030, R-RPC-032)',
  async (shell) => {
    const rc = { bash: '.bashrc', zsh: '.zshrc', fish: '.config/fish/config.fish' }[shell] ?? '';
    mkdirSync(dirname(join(place.home, rc)), { recursive: true });
    writeFileSync(join(place.home, rc), 'export FL_RC=file\n');
    const first = await place.create({ shell });
    expect(await call('session.env', { id: first, name: 'FL_RC' })).toMatchObject({ value: 'file', source: 'shell' });
    const id = await place.create({ shell });
    await run(id, 'export FL_B=2');
    expect(await call('session.env', { id, name: 'FL_B' })).toMatchObject({ value: '2', source: 'shell' });
    await call('session.set_env', { id, name: 'FL_B', value: '3' });
    expect(await value(id, 'FL_B')).toBe('3');
    const shown = (await call('screen.text', { id })).lines;
    // Half a line stays as it is, and is run as it was typed.
    await call('session.input', { id, input: 'echo ha' });
    await call('orchestrate.wait', { id, pattern: 'echo ha' });
    expect((await call('session.set_env', { id, name: 'FL_B', value: '4', apply: 'now' })).applied).toBe('now');
    expect(await value(id, 'FL_B')).toBe('4');
    await call('session.input', { id, input: 'lf$FL_B\r' });
    await call('orchestrate.wait', { id, pattern: '^half4', regex: true });
    expect(shown.filter((line: string) => line.includes('FL_B'))).toHaveLength(1);
  },
);

test('a plain shell cannot be asked at its prompt: it tells from its next command on (R-RPC-032)', async () => {
  const id = await place.create({ shell: 'dash' });
  await run(id, 'export FL_B=2');
  expect(await call('session.env', { id, name: 'FL_B' })).toMatchObject({
    value: null,
    source: 'process',
    note: expect.stringContaining('As the shell began'),
  });
  await run(id, 'export FL_C=3');
  expect(await call('session.env', { id, name: 'FL_B' })).toMatchObject({ value: '2', source: 'shell' });
  expect(await value(id, 'FL_C')).toBe('3');
  expect((await call('exec.run_wait', { id, command: '(exit 5)' })).exit_code).toBe(5);
  expect(await run(id, 'echo $?')).toBe('5');
});

test('a shell whose user traps the signals is left alone, and no claim is made of it', async () => {
  writeFileSync(join(place.home, 'shrc'), 'trap "echo mine" USR1 WINCH\n');
  const id = await place.create({ shell: 'dash', env: { ENV: join(place.home, 'shrc') } });
  expect(await call('session.set_env', { id, name: 'FL_NONE', value: '1' })).toMatchObject({
    applied: 'later_sessions',
    warning: expect.any(String),
  });
});

test.each(['bash', 'zsh'])(
  '%s: a trap that its user puts in place of ours is not set off at every call',
  async (shell) => {
    const id = await place.create({ shell });
    await run(id, 'export FL_TRAP=1');
    expect(await call('session.env', { id, name: 'FL_TRAP' })).not.toHaveProperty('note');
    await run(id, `trap 'echo x >>${join(place.home, `${shell}.winched`)}' WINCH; export FL_TRAP=2`);
    const earlier = { value: '2', source: 'shell', note: expect.stringContaining('told earlier') };
    expect(await call('session.env', { id, name: 'FL_TRAP' })).toMatchObject(earlier);
    expect(await call('session.env', { id, name: 'FL_TRAP' })).toMatchObject(earlier);
    expect(await call('session.set_env', { id, name: 'FL_TRAP', value: '3' })).toMatchObject({
      applied: 'next_command',
    });
    expect(await run(id, 'echo $FL_TRAP')).toBe('3');
    expect(await call('session.env', { id, name: 'FL_TRAP' })).toMatchObject({ ...earlier, value: '3' });
    // Once, or twice where the first one might have come too early.
    expect(readFileSync(join(place.home, `${shell}.winched`), 'utf8').length).toBeLessThanOrEqual('x\nx\n'.length);
  },
);

test.each(['bash', 'dash'])('%s: a session that has exited has no environment any more (R-RPC-024)', async (shell) => {
  const id = await place.create({ shell });
  await call('session.input', { id, input: 'exit 3\r' });
  await expect.poll(async () => (await call('session.get', { id })).is_dead).toBe(true);
  for (const params of [{ id }, { id, name: 'HOME' }]) {
    expect((await place.client.ask('session.env', params)).error).toMatchObject({
      message: `Session ${id} has exited`,
      data: { code: 'SESSION_EXITED' },
    });
  }
});

test('$? and $_ of a shell are as they were after it was asked', async () => {
  const id = await place.create({ shell: 'bash' });
  await run(id, 'sh -c "exit 3" under_score');
  await call('session.env', { id });
  expect(await run(id, 'echo $? $_')).toBe('3 under_score');
});

test('secrets stay hidden (R-RPC-032)', async () => {
  const id = await place.create({ env: { FL_TOKEN: 'hush-hush-hush', FL_PLAIN: 'seen' } });
  expect(await call('session.env', { id, name: 'FL_PLAIN' })).toMatchObject({ value: 'seen', source: 'shell' });
  await run(id, 'export FL_PLAIN=changed');
  expect(await call('session.env', { id, name: 'FL_TOKEN' })).toMatchObject({ value: null, redacted: true });
  expect(await call('session.env', { id, name: 'FL_TOKEN', reveal: true })).toMatchObject({ value: 'hush-hush-hush' });
  expect(await call('session.env', { id, name: 'NOT_THERE' })).toMatchObject({ value: null });
  const { variables } = await call('session.env', { id });
  expect(variables).toContainEqual({ name: 'FL_PLAIN', value: 'changed' });
  expect(variables).toContainEqual({ name: 'FL_TOKEN', value: null, redacted: true });
});

test('without integration only later sessions have it, and a bad name is refused (R-RPC-031)', async () => {
  const id = await place.create({ argv: ['sleep', '600'] });
  expect(await call('session.set_env', { id, name: 'FL_LATER', value: 'yes' })).toMatchObject({
    applied: 'later_sessions',
    warning: expect.any(String),
  });
  expect(await run(await place.create(), 'printenv FL_LATER')).toBe('yes');
  const bad = await place.client.ask('session.set_env', { id, name: 'A=B', value: 'x' });
  expect(bad.error?.message).toBe('Invalid variable name: A=B');
});

test('passwords in addresses are masked unless they are asked for (R-RPC-094)', async () => {
  const env = {
    HTTP_PROXY: 'http://u:pw/x@h:1',
    https_proxy: 'u:pw@h:1',
    DB: 'a=postgres://u:pw@db/x b',
    PLAIN: 'u:p@h',
  };
  const id = await place.create({ env });
  const shown = async (name: string) => (await call('session.env', { id, name })) as Record<string, unknown>;
  expect(await shown('HTTP_PROXY')).toMatchObject({ value: 'http://u:•••@h:1', redacted: true });
  expect(await shown('https_proxy')).toMatchObject({ value: 'u:•••@h:1', redacted: true });
  expect(await shown('DB')).toMatchObject({ value: 'a=postgres://u:•••@db/x b', redacted: true });
  expect(await shown('PLAIN')).toMatchObject({ value: 'u:p@h' });
  expect(JSON.stringify(await call('session.env', { id }))).not.toContain(':pw');
  expect(await call('session.env', { id, name: 'DB', reveal: true })).toMatchObject({ value: env.DB });
});
