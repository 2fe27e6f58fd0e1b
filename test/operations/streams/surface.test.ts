import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { factsOf } from '../../support/both-halves.ts';
import type { ToolResult } from '../../support/mcp-client.ts';
import { type Door, doors, words } from '../../support/ssh/door.ts';
import { withSshd } from '../../support/ssh/login.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
withSshd((started) => (sshd = started));

const nobody = '01900000-0000-7000-8000-000000000000';
const facts = ({ structuredContent }: ToolResult): Readonly<Record<string, string>> =>
  structuredContent as Record<string, string>;

/** The calls that a NEXT line names, with the arguments it gives: `sub_close sub_id=… | ssh_shell_write`. */
function stepsOf(answer: ToolResult): readonly (readonly [string, Record<string, unknown>])[] {
  const line = facts(answer)['next'] ?? '';
  return line
    .split(' | ')
    .filter(Boolean)
    .map((step) => {
      const [, name = '', rest = ''] = /^(\w+)[ (]?(.*?)\)?$/.exec(step.replace(/ \(PREFERRED.*\)$/, '')) ?? [];
      const pairs = [...rest.matchAll(/(\w+)=([^,\s]+)/g)].map(([, key = '', value = '']) => [
        key,
        value === 'true' ? true : value,
      ]);
      return [name, Object.fromEntries(pairs) as Record<string, unknown>] as const;
    });
}

describe.each(['stdio', 'http', 'http of 2026'] as const)('over %s', (kind) => {
  let door: Door;
  beforeAll(async () => {
    door = await doors[kind]({ args: ['--toolsets', 'ssh,sub'] });
  }, 60_000);
  afterAll(async () => {
    await door[Symbol.asyncDispose]();
  });

  test('rows 25–33: every tool answers, well and badly, as its published schema says, in both halves', async () => {
    const validators = new Map(
      (await door.tools())
        .filter(({ name }) => name.startsWith('sub_'))
        .map(({ name, outputSchema }) => {
          expect(outputSchema, name).toMatchObject({ type: 'object', required: ['tool', 'status'] });
          return [name, new AjvJsonSchemaValidator().getValidator(outputSchema as never)] as const;
        }),
    );
    expect([...validators.keys()]).toEqual([
      'sub_open',
      'sub_close',
      'sub_pause',
      'sub_resume',
      'sub_filter',
      'sub_replay',
      'sub_list',
      'sub_stats',
      'sub_stats_all',
    ]);
    const call = async (name: string, input: object): Promise<ToolResult> => {
      const answer = await door.call(name, input);
      const check = validators.get(name)?.(answer.structuredContent);
      expect(check?.valid, `${name}: ${check?.errorMessage}`).toBe(true);
      const { tool, status } = facts(answer);
      expect(tool).toBe(name);
      expect(words(answer).split('\n')[0]).toBe(`${name.toUpperCase()}: ${status?.toUpperCase()}`);
      expect(JSON.stringify(answer.structuredContent)).not.toContain(':null');
      const values = factsOf(answer.structuredContent).map(({ value }) => String(value));
      for (const [, value = ''] of words(answer).matchAll(/^[A-Z_]+: (.*)$/gm)) {
        const bare = value.replace(/^\[\w+\] /, '').toLowerCase();
        expect(
          values.some((one) => one.toLowerCase() === bare),
          `${value} is not in ${JSON.stringify(answer.structuredContent)}`,
        ).toBe(true);
      }
      return answer;
    };

    const { session_id } = facts(await door.call('ssh_connect', { ...sshd.login, reuse: 'force_new' }));
    const shell = await door.call('ssh_shell_open', { session_id });
    const uri = `shell://${facts(shell)['shell_id']}/output`;
    const opened = await call('sub_open', { uri, lifetime: 'lease', filter: 'x' });
    const { sub_id } = facts(opened);
    for (const [name, more] of [
      ['sub_pause', {}],
      ['sub_pause', {}],
      ['sub_resume', {}],
      ['sub_filter', { regex: 'a|b' }],
      ['sub_filter', { regex: '' }],
      ['sub_replay', {}],
      ['sub_stats', {}],
    ] as const)
      expect((await call(name, { sub_id, ...more })).isError, name).not.toBe(true);
    expect(facts(await call('sub_list', {}))).toMatchObject({ subs_total: 1 });
    expect(facts(await call('sub_stats_all', {}))).toMatchObject({ lanes_total: 1 });
    expect(facts(await call('sub_close', { sub_id }))).toMatchObject({ status: 'ok' });
    expect(facts(await call('sub_close', { sub_id }))).toMatchObject({ status: 'not_found' });

    for (const [name, input, code] of [
      ['sub_open', {}, 'INVALID_ARGUMENT'],
      ['sub_open', { uri: 'http://x' }, 'INVALID_ARGUMENT'],
      ['sub_open', { uri, lifetime: 'x' }, 'INVALID_LIFETIME'],
      ['sub_open', { uri, lag_policy: 'x' }, 'INVALID_LAG_POLICY'],
      ['sub_open', { uri, filter: '(?=a)' }, 'FILTER_INVALID'],
      ['sub_open', { uri: `shell://${nobody}/output` }, 'RESOURCE_GONE'],
      ['sub_open', { uri: 'terminal://x/output' }, 'FEATURE_DISABLED'],
      ['sub_close', { sub_id: 'a b' }, 'INVALID_ARGUMENT'],
      ['sub_pause', { sub_id: nobody }, 'SUB_NOT_FOUND'],
      ['sub_resume', { sub_id: nobody }, 'SUB_NOT_FOUND'],
      ['sub_filter', { sub_id: nobody, regex: '' }, 'SUB_NOT_FOUND'],
      ['sub_replay', { sub_id: nobody }, 'SUB_NOT_FOUND'],
      ['sub_stats', { sub_id: nobody }, 'SUB_NOT_FOUND'],
      ['sub_list', { uri_prefix: 1 }, 'INVALID_ARGUMENT'],
    ] as const) {
      const answer = await call(name, input);
      expect([facts(answer)['code'], answer.isError], `${name} ${JSON.stringify(input)}`).toEqual([code, true]);
    }
    await door.call('ssh_disconnect', { session_id });
  });

  test('the advice of the ssh tools leads on: each NEXT call works, each HINT names what can be followed', async () => {
    const { session_id } = facts(await door.call('ssh_connect', { ...sshd.login, reuse: 'force_new' }));
    const shell = await door.call('ssh_shell_open', { session_id });
    const exec = await door.call('ssh_exec', { session_id, command: 'sleep 60' });
    const output = await door.call('ssh_exec_output', { command_id: facts(exec)['command_id'] });
    for (const answer of [shell, exec]) {
      const [uri = ''] = /\w+:\/\/\S+/.exec(facts(answer)['hint'] ?? '') ?? [];
      expect(words(answer)).toContain(`HINT: subscribe to ${uri} for realtime output (preferred over polling)`);
      const opened = await door.call('sub_open', { uri });
      expect(stepsOf(opened).map(([name]) => name)).toEqual(['sub_close', 'sub_stats']);
      for (const [name, input] of stepsOf(opened).toReversed())
        expect(facts(await door.call(name, input)), name).toMatchObject({ status: 'ok' });
    }
    expect(stepsOf(shell)[0]).toEqual(['sub_open', { uri: `shell://${facts(shell)['shell_id']}/output` }]);
    expect(stepsOf(output)[0]).toEqual(['sub_open', { uri: `command://${facts(exec)['command_id']}/output` }]);
    for (const answer of [shell, output]) {
      const [[name, input] = ['', {}]] = stepsOf(answer);
      const { sub_id, status } = facts(await door.call(name, input));
      expect(status).toBe('ok');
      const paused = await door.call('sub_pause', { sub_id });
      for (const [next, more] of stepsOf(paused)) expect(facts(await door.call(next, more))['status']).toBe('ok');
    }
    await door.call('ssh_disconnect', { session_id });
  });

  test('1.3: a lane that is opened twice with one key is one lane', async () => {
    const { session_id } = facts(await door.call('ssh_connect', { ...sshd.login, reuse: 'force_new' }));
    const input = { uri: `session://${session_id}/health` };
    const first = await door.call('sub_open', input, { idempotency_key: 'lane' });
    expect(await door.call('sub_open', input, { idempotency_key: 'lane' })).toEqual(first);
    expect(facts(await door.call('sub_list', { uri_prefix: input.uri }))).toMatchObject({ subs_total: 1 });
    const other = await door.call('sub_open', { ...input, lifetime: 'lease' }, { idempotency_key: 'lane' });
    expect(facts(other)['code']).toBe('IDEMPOTENCY_KEY_MISMATCH');
    await door.call('ssh_disconnect', { session_id });
  });
});

test('section 1: --read-only keeps the lanes, without block_slow', async () => {
  await using door = await doors.stdio({ args: ['--toolsets', 'core,sub', '--read-only'] });
  const names = (await door.tools()).map(({ name }) => name).filter((name) => name.startsWith('sub_'));
  expect(names).toHaveLength(9);
  const refused = await door.call('sub_open', { uri: 'terminal://x/output', lag_policy: 'block_slow' });
  expect(facts(refused)).toMatchObject({ code: 'POLICY_BLOCKED' });
  expect(facts(await door.call('sub_open', { uri: 'terminal://x/output' }))['code']).toBe('RESOURCE_GONE');
});
