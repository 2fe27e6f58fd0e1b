import { expect, test } from 'vitest';
import { type RpcPlace, withPlace } from './place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

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

test('apply now presses Enter at an empty prompt only (R-RPC-031)', async () => {
  const id = await place.create();
  expect(await call('session.set_env', { id, name: 'FL_NOW', value: '1', apply: 'now' })).toEqual({
    status: 'ok',
    applied: 'now',
  });
  expect(await run(id, 'printenv FL_NOW')).toBe('1');
  await call('session.input', { id, input: 'half a li' });
  expect((await call('session.set_env', { id, name: 'FL_NOW', value: '2', apply: 'now' })).applied).not.toBe('now');
});

test('session.env: first as the process began, then as the shell has it; secrets stay hidden (R-RPC-032)', async () => {
  const id = await place.create({ env: { FL_TOKEN: 'hush-hush-hush', FL_PLAIN: 'seen' } });
  expect(await call('session.env', { id, name: 'FL_PLAIN' })).toMatchObject({ value: 'seen', source: 'process' });
  await run(id, 'export FL_PLAIN=changed');
  expect(await call('session.env', { id, name: 'FL_PLAIN' })).toMatchObject({ value: 'changed', source: 'shell' });
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
