import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { factsOf } from '../../support/both-halves.ts';
import { doors, type Door, words } from '../../support/ssh/door.ts';
import type { ToolResult } from '../../support/mcp-client.ts';
import { withSshd } from '../../support/ssh/login.ts';
import type { Sshd } from '../../support/ssh/sshd.ts';

/** docs/requirements/remote.md section 1: read-only, destructive, idempotent. */
const matrix = `
ssh_connect           n/n/y
ssh_disconnect        n/y/y
ssh_sessions          y/n/y
ssh_disconnect_agent  n/y/y
ssh_disconnect_many   n/y/y
ssh_exec              n/y/n
ssh_exec_output       y/n/y
ssh_commands          y/n/y
ssh_exec_cancel       n/y/y
ssh_run               n/y/n
ssh_exec_batch        n/y/n
ssh_shell_open        n/n/n
ssh_shell_write       n/y/n
ssh_shell_press       n/y/n
ssh_shell_read        n/n/y
ssh_shell_wait_for    n/n/n
ssh_shell_close       n/y/y
`;

let sshd: Sshd;
withSshd((started) => (sshd = started));

const nobody = '01900000-0000-7000-8000-000000000000';
const facts = ({ structuredContent }: ToolResult): Readonly<Record<string, string>> =>
  structuredContent as Record<string, string>;

interface Advice {
  readonly hint?: string;
  readonly hints?: readonly string[];
  readonly next?: string;
}

/** What the advice of an answer names: tools, resource schemes, methods. It must stand in both halves. */
function adviceOf(answer: ToolResult): string[] {
  const { hint, hints, next } = answer.structuredContent as Advice;
  const told = (hints ?? [hint]).flatMap((one) => (one === undefined ? [] : `HINT: ${one}`));
  if (next !== undefined) told.push(`NEXT: ${next}`);
  expect(words(answer).match(/^(?:HINT|NEXT): .*/gm) ?? []).toEqual(told);
  return told.join('\n').match(/\b(?:ssh|sub|serial|terminal|file)_\w+|\bresources\/\w+|\b[a-z]+:\/\//g) ?? [];
}

/** A client that shows only the structure must not miss a value, a warning or a next step that the text has. */
function expectToldInStructure(answer: ToolResult): void {
  const values = factsOf(answer.structuredContent).map(({ value }) => String(value).toLowerCase());
  const [, ...lines] = (words(answer).split(/^--- /m)[0] ?? '').trimEnd().split('\n');
  for (const line of lines) {
    const [, key = '', value = ''] = /^([A-Z_]+): (.*)$/.exec(line) ?? [];
    const isThere =
      /^(HINT|WARN|NEXT|DETAIL)$/.test(key) || key === ''
        ? key === '' || values.includes(value.toLowerCase())
        : value.split(/[ @():[\],x+]+/).every((part) => values.some((one) => one.includes(part.toLowerCase())));
    expect(isThere, `${line} is not in ${JSON.stringify(answer.structuredContent)}`).toBe(true);
  }
}

test('section 1: the tools in their order, with their annotations', async () => {
  await using door = await doors.stdio({ args: ['--toolsets', 'ssh'] });
  const letter = (yes: boolean | undefined): string => (yes ? 'y' : 'n');
  const tools = await door.tools();
  const shown = tools.map(({ name, annotations: a }) => {
    expect(a['openWorldHint'], name).toBe(true);
    const hints = [a['readOnlyHint'], a['destructiveHint'], a['idempotentHint']].map(letter).join('/');
    return `${name.padEnd(21)} ${hints}`;
  });
  expect(`\n${shown.join('\n')}\n`).toBe(matrix);
});

test('section 1: --read-only leaves the read-only tools and says why the others are withheld', async () => {
  await using door = await doors.stdio({ args: ['--toolsets', 'ssh', '--read-only'] });
  expect((await door.tools()).map(({ name }) => name)).toEqual(['ssh_sessions', 'ssh_exec_output', 'ssh_commands']);
  const refused = await door.call('ssh_exec', { session_id: nobody, command: 'true' });
  expect(refused.isError).toBe(true);
  expect(words(refused)).toBe(`SSH_EXEC: ERROR
REASON: [POLICY_BLOCKED] ssh_exec changes things, and this server was started read-only (--read-only).
DETAIL: Do it another way, or ask the person to allow it`);
  expect(refused.structuredContent).toEqual({
    tool: 'ssh_exec',
    status: 'error',
    code: 'POLICY_BLOCKED',
    reason: 'ssh_exec changes things, and this server was started read-only (--read-only).',
    detail: 'Do it another way, or ask the person to allow it',
    category: 'POLICY',
    retryable: true,
  });
});

describe.each(['stdio', 'http', 'http of 2026'] as const)('over %s', (kind) => {
  let door: Door;
  beforeAll(async () => {
    door = await doors[kind]({ args: ['--toolsets', 'ssh'] });
  }, 60_000);
  afterAll(async () => {
    await door[Symbol.asyncDispose]();
  });
  const connect = async (more: object = {}): Promise<string> =>
    facts(await door.call('ssh_connect', { ...sshd.login, reuse: 'force_new', ...more }))['session_id'] as string;

  test('every tool answers, well and badly, as its published schema says', async () => {
    const validators = new Map(
      (await door.tools()).map(({ name, outputSchema }) => {
        expect(outputSchema, name).toMatchObject({ type: 'object', required: ['tool', 'status'] });
        return [name, new AjvJsonSchemaValidator().getValidator(outputSchema as never)] as const;
      }),
    );
    const good = new Set<string>();
    const bad = new Set<string>();
    const call = async (name: string, input: object): Promise<Readonly<Record<string, string>>> => {
      const answer = await door.call(name, input);
      const check = validators.get(name)?.(answer.structuredContent);
      expect(check?.valid, `${name}: ${check?.errorMessage}`).toBe(true);
      const { tool, status } = facts(answer);
      expect(tool).toBe(name);
      expect(words(answer).split('\n')[0]).toBe(`${name.toUpperCase()}: ${status?.toUpperCase()}`);
      expect(JSON.stringify(answer.structuredContent)).not.toContain(':null');
      expect(status === 'error').toBe(answer.isError === true);
      expectToldInStructure(answer);
      (answer.isError ? bad : good).add(name);
      const served = ['shell://', 'command://', 'session://', 'resources/read'];
      expect(adviceOf(answer).filter((named) => !validators.has(named) && !served.includes(named))).toEqual([]);
      return facts(answer);
    };

    const { session_id } = await call('ssh_connect', { ...sshd.login, agent_id: 'one', name: 'one' });
    await call('ssh_connect', sshd.login);
    const other = await connect({ agent_id: 'one' });
    await call('ssh_sessions', {});
    const { command_id } = await call('ssh_exec', { session_id, command: 'echo out; echo err >&2; exit 3' });
    await call('ssh_exec_output', { command_id, wait: true });
    await call('ssh_commands', { session_id });
    await call('ssh_exec_cancel', { command_id });
    const long = await call('ssh_exec', { session_id, command: 'sleep 60' });
    await call('ssh_exec_output', { command_id: long['command_id'] });
    await call('ssh_exec_cancel', { command_id: long['command_id'] });
    await call('ssh_run', { ...sshd.login, command: 'echo run', agent_id: 'another' });
    await call('ssh_exec_batch', { session_id, commands: ['true', 'false', 'true'] });
    const { shell_id } = await call('ssh_shell_open', { session_id });
    await call('ssh_shell_write', { shell_id, input: 'echo typed-$((40+2))' });
    await call('ssh_shell_press', { shell_id, key: 'enter' });
    await call('ssh_shell_wait_for', { shell_id, patterns: ['typed-42'], timeout_secs: 20 });
    await call('ssh_shell_read', { shell_id });
    await call('ssh_shell_close', { shell_id });
    await call('ssh_disconnect', { session_id: other });
    await call('ssh_disconnect_many', { session_ids: [nobody] });
    await call('ssh_disconnect_agent', { agent_id: 'one' });
    expect([...validators.keys()].filter((name) => !good.has(name))).toEqual([]);

    // Nothing given: an argument error is a tool error, not one of the protocol. Lists need nothing, but no list has -1 items.
    for (const name of validators.keys()) {
      const { code } = await call(name, { max_items: -1 });
      expect(code, name).toBe('INVALID_ARGUMENT');
    }
    expect([...validators.keys()].filter((name) => !bad.has(name))).toEqual([]);
  });

  test.each([
    [
      'ssh_exec',
      { command: 'true' },
      'INVALID_ARGUMENT] session_id: is required (string)',
      'Correct the argument and call again',
    ],
    [
      'ssh_exec',
      { session_id: 'a b', command: 'true' },
      'INVALID_ARGUMENT] session_id: ',
      'Correct the argument and call again',
    ],
    [
      'ssh_disconnect',
      { session_id: nobody },
      'SESSION_NOT_FOUND] ',
      'List sessions with ssh_sessions or open one with ssh_connect',
    ],
    ['ssh_exec_output', { command_id: nobody }, 'COMMAND_NOT_FOUND] ', 'List commands with ssh_commands'],
    ['ssh_shell_read', { shell_id: nobody }, 'SHELL_NOT_FOUND] ', 'Open a shell with ssh_shell_open'],
    [
      'ssh_connect',
      { address: '127.0.0.1:99999', username: 'x' },
      'INVALID_ARGUMENT] ',
      'Correct the argument and call again',
    ],
    [
      'ssh_disconnect_many',
      { session_ids: [] },
      'INVALID_ARGUMENT] session_ids: ',
      'Correct the argument and call again',
    ],
  ])('section 2: %s %j fails in the words of the reference', async (name, input, reason, detail) => {
    const answer = await door.call(name, input);
    const lines = words(answer).split('\n');
    expect(answer.isError).toBe(true);
    expect(lines).toEqual([
      `${name.toUpperCase()}: ERROR`,
      expect.stringContaining(`REASON: [${reason}`),
      expect.stringContaining(`DETAIL: ${detail}`),
    ]);
    const { code, reason: plain, detail: told } = facts(answer);
    expect(lines.slice(1)).toEqual([`REASON: [${code}] ${plain}`, `DETAIL: ${told}`]);
  });

  test('closest matches: live ids of that kind, the nearest first', async () => {
    const [one, two] = [await connect(), await connect()];
    const near = (id: string): string => `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    const answer = await door.call('ssh_exec', { session_id: near(two), command: 'true' });
    const [first, second] = facts(answer)['detail']?.split('closest matches: ')[1]?.split(', ') ?? [];
    expect([first, second]).toEqual([two, one]);
    await door.call('ssh_disconnect_many', { session_ids: [one, two] });
  });

  describe('1.3: a call with a key', () => {
    test('ssh_connect, ssh_exec and ssh_run are done once, and told in the same words', async () => {
      const meta = (key: string) => ({ idempotency_key: key });
      const open = { ...sshd.login, reuse: 'force_new', agent_id: 'keys' };
      const connected = await door.call('ssh_connect', open, meta('c'));
      expect(await door.call('ssh_connect', open, meta('c'))).toEqual(connected);
      const { session_id } = facts(connected);
      expect((await door.call('ssh_sessions', { agent_id: 'keys' })).structuredContent).toMatchObject({ count: 1 });

      // Arguments are the same in any order.
      const started = await door.call('ssh_exec', { session_id, command: 'echo once' }, meta('e'));
      expect(await door.call('ssh_exec', { command: 'echo once', session_id }, meta('e'))).toEqual(started);
      expect((await door.call('ssh_commands', { session_id })).structuredContent).toMatchObject({ count: 1 });

      const run = { ...sshd.login, command: 'date +%s%N; date +%s%N >&2' };
      const ran = await door.call('ssh_run', run, meta('r'));
      const again = await door.call('ssh_run', run, meta('r'));
      expect(again).toEqual(ran);
      expect(ran.content[0]?.text).toMatch(/--- stdout \[[0-9a-f]{8}\] ---\n\d{19}\n--- stderr/);
      // Without a key, or with another, it runs.
      expect(facts(await door.call('ssh_run', run))['stdout']).not.toBe(facts(ran)['stdout']);
      expect(facts(await door.call('ssh_run', run, meta('s')))['stdout']).not.toBe(facts(ran)['stdout']);
      await door.call('ssh_disconnect', { session_id });
    });

    test('other arguments, too long, no string: refused, and nothing runs', async () => {
      const session_id = await connect();
      const exec = (command: string, key: unknown) =>
        door.call('ssh_exec', { session_id, command }, { idempotency_key: key });
      await exec('true', 'k');
      const refusals = [await exec('false', 'k'), await exec('true', 'é'.repeat(129)), await exec('true', 7)];
      expect(refusals.map(words)).toEqual([
        `SSH_EXEC: ERROR
REASON: [IDEMPOTENCY_KEY_MISMATCH] This idempotency key was used for a call with other arguments
DETAIL: Use a new key for a new call`,
        `SSH_EXEC: ERROR
REASON: [IDEMPOTENCY_KEY_TOO_LONG] The idempotency key has 258 bytes
DETAIL: Use a key of at most 256 bytes; limit=256`,
        `SSH_EXEC: ERROR
REASON: [INVALID_ARGUMENT] _meta.idempotency_key: must be a string
DETAIL: Correct the argument and call again`,
      ]);
      expect((await door.call('ssh_commands', { session_id })).structuredContent).toMatchObject({ count: 1 });
      // Reading tools ignore the key.
      expect((await door.call('ssh_sessions', {}, { idempotency_key: 7 })).isError).not.toBe(true);
      await door.call('ssh_disconnect', { session_id });
    });

    test('a failure frees the key', async () => {
      const key = { idempotency_key: 'f' };
      const command = { command: 'true' };
      expect((await door.call('ssh_exec', { session_id: nobody, ...command }, key)).isError).toBe(true);
      const session_id = await connect();
      expect(words(await door.call('ssh_exec', { session_id, ...command }, key))).toContain('SSH_EXEC: STARTED');
      await door.call('ssh_disconnect', { session_id });
    });

    test("DESIGN 8: the client's tool-use id is a key for a call that comes again", async () => {
      const session_id = await connect();
      const meta = { 'claudecode/toolUseId': 'toolu_01' };
      const first = await door.call('ssh_exec', { session_id, command: 'true' }, meta);
      expect(await door.call('ssh_exec', { session_id, command: 'true' }, meta)).toEqual(first);
      // Nobody chose it to mean "the same call": with other arguments it is another.
      expect(words(await door.call('ssh_exec', { session_id, command: 'false' }, meta))).toContain('SSH_EXEC: STARTED');
      await door.call('ssh_disconnect', { session_id });
    });
  });
});

test('section 6: settings come from the environment; what cannot be read is warned of once', async () => {
  await using door = await doors.stdio({
    args: ['--toolsets', 'ssh'],
    env: {
      SSH_MAX_SESSIONS: '1',
      SSH_MAX_RETRIES: '99',
      SSH_COMMAND_TIMEOUT: 'soon',
      SSH_IDEMPOTENCY_MAX_ENTRIES: '1',
    },
  });
  const open = { ...sshd.login, reuse: 'force_new' };
  const { session_id } = facts(await door.call('ssh_connect', open));
  const second = await door.call('ssh_connect', open);
  expect(facts(second)).toMatchObject({ code: 'MAX_SESSIONS_EXCEEDED', retryable: true });
  expect(facts(second)['detail']).toContain('limit=1');
  const exec = async (key: string) =>
    facts(await door.call('ssh_exec', { session_id, command: 'true' }, { idempotency_key: key }))['command_id'];
  const a = await exec('a');
  const b = await exec('b');
  expect(await exec('b')).toBe(b);
  expect(await exec('a')).not.toBe(a);
  const warned = (): string[] =>
    door
      .said()
      .split('\n')
      .filter((line) => line.includes('SSH_'));
  await expect
    .poll(warned, { timeout: 20_000 })
    .toEqual([
      'fairlead: SSH_COMMAND_TIMEOUT: "soon" is not a whole number; 180 is used',
      'fairlead: SSH_MAX_RETRIES: 99 is more than 20; 20 is used',
    ]);
});

test("section 9.3: the host key policy is the operator's", async () => {
  await using door = await doors.stdio({ args: ['--toolsets', 'ssh', '--ssh-host-key-policy', 'strict'] });
  expect(facts(await door.call('ssh_connect', sshd.login))).toMatchObject({
    code: 'HOST_KEY_UNKNOWN',
    category: 'AUTH',
  });
});
