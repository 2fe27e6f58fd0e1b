import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sessionBook } from '../../../src/operations/session/index.ts';
import { type RpcPlace, withPlace } from '../../support/rpc-place.ts';
import { Mcp } from '../../support/mcp-client.ts';
import { program } from '../../support/served.ts';

/** Works on a terminal, turns text around, or cannot be seen but is read by a model. */
const evil = 'e\x1b[31m\x07\x9b2J\u202e\u200b\u{e0041}v';
const raw = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u{e0000}-\u{e007f}]|\p{Surrogate}/u;

/** Runs, unlike one with control characters in it. */
const unseenCommand = ": 'x\u202e\u200b\u{e0041}y'";

interface Field {
  readonly type?: string;
  readonly items?: Field;
  readonly enum?: readonly unknown[];
}
interface Schema {
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}
type Input = Readonly<Record<string, unknown>>;

/** Keeps waits short and attempts single, wherever a tool has a limit of this name. */
const short: Input = {
  timeoutMs: 1,
  timeout_ms: 1,
  timeout_secs: 1,
  connect_timeout_secs: 1,
  max_retries: 0,
  max_wait_ms: 1,
};

/** An input for each argument that is hostile, one with a hostile name, and one where everything is. */
function* hostileInputs({ properties = {}, required = [] }: Schema): Generator<Input> {
  const names = Object.keys(properties);
  const base = {
    ...Object.fromEntries(required.map((name) => [name, usual(properties[name])])),
    ...Object.fromEntries(Object.entries(short).filter(([name]) => names.includes(name))),
  };
  yield { ...base, [evil]: evil };
  for (const name of names) yield { ...base, [name]: hostile(properties[name]) };
  for (const name of names) yield { ...base, [name]: evil };
  if (names.includes('command')) yield { ...base, command: unseenCommand };
  yield { ...Object.fromEntries(names.map((name) => [name, hostile(properties[name])])), ...base };
}

function usual(field: Field = {}): unknown {
  if (field.enum !== undefined) return field.enum[0];
  if (field.type === 'integer' || field.type === 'number') return 1;
  if (field.type === 'boolean') return false;
  if (field.type === 'array') return [usual(field.items)];
  return field.type === 'object' ? {} : 'x';
}

function hostile(field: Field = {}): unknown {
  if (field.type === 'array') return [hostile(field.items)];
  return field.type === 'object' ? { [evil]: evil } : evil;
}

/** Every string of an answer, names of facts too. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...strings(inner)]);
}

function leaks(answer: unknown): string[] {
  return strings(answer)
    .filter((text) => raw.test(text))
    .map((text) => JSON.stringify(text.slice(0, 200)));
}

/** Names and settings that a caller chose come back exactly, since a program compares them and sets them again. */
const exact = new Set(['session_list', 'session_get', 'session_status', 'policy_set', 'policy_get', 'selftest_run']);
for (const verb of ['status', 'nodes', 'switch', 'configure', 'disable', 'env']) exact.add(`proxy_${verb}`);

test('no MCP tool of any book repeats an argument as it came', async () => {
  await using mcp = await Mcp.start({ args: ['--toolsets', 'all'] });
  const { result } = await mcp.request('tools/list', {});
  const tools = result?.['tools'] as { name: string; inputSchema: Schema }[];
  expect(tools.length).toBeGreaterThan(60);
  const found: string[] = [];
  let refused = 0;
  for (const { name, inputSchema } of [...tools, { name: evil, inputSchema: {} }]) {
    for (const input of hostileInputs(inputSchema)) {
      const { result: answer, error } = await mcp.request('tools/call', { name, arguments: input });
      const failed = answer?.['isError'] === true;
      if (failed) refused++;
      else if (exact.has(name)) continue;
      found.push(...leaks([answer, error]).map((text) => `${name} ${JSON.stringify(input)}: ${text}`));
    }
  }
  expect(found).toEqual([]);
  expect(refused).toBeGreaterThan(3 * tools.length);
  for (const [method, params] of [
    ['prompts/get', { name: evil }],
    ['resources/read', { uri: evil }],
    [evil, {}],
  ] as const) {
    const { error } = await mcp.request(method, params);
    expect(error, method).toBeDefined();
    expect(leaks(error), method).toEqual([]);
  }
}, 300_000);

describe('nor does another face', () => {
  let place: RpcPlace;
  withPlace((made) => (place = made));

  test('JSON-RPC: no error of any method', async () => {
    const { client } = place;
    const found: string[] = [];
    let refused = 0;
    for (const [noun, verbs] of Object.entries(sessionBook.nouns)) {
      for (const [verb, { input: shape }] of Object.entries(verbs)) {
        const method = `${noun}.${verb}`;
        const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }) as Schema;
        for (const input of hostileInputs(schema)) {
          const { error } = await client.ask(method, input);
          if (error !== undefined) refused++;
          found.push(...leaks(error).map((text) => `${method} ${JSON.stringify(input)}: ${text}`));
        }
      }
    }
    expect(found).toEqual([]);
    expect(refused).toBeGreaterThan(60);
    client.send(`{"id": 1, ${evil}\n`);
    expect(leaks((await client.next()).error)).toEqual([]);
    expect(leaks((await client.ask(evil)).error)).toEqual([]);
  }, 120_000);

  test.each([
    [[evil]],
    [['session', evil]],
    [['session', 'list', `--${evil}`]],
    [['session', 'resize', '0', '--cols', evil]],
    [['session', 'get', evil]],
    [['recordings', evil]],
    [['serve', `--${evil}`]],
  ])(
    'the command line: fairlead %j, in words and as JSON',
    async (args) => {
      const env = { PATH: process.env['PATH'] ?? '', HOME: place.home, FAIRLEAD_HOME: join(place.home, '.fairlead') };
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
          execFile(process.execPath, [program, ...args, ...more], { env }, (_, out, err) =>
            resolve({ stdout: out, stderr: err }),
          );
        });
        expect(leaks([stdout, stderr])).toEqual([]);
        expect(stdout + stderr).toContain('\\u202e');
      }
    },
    60_000,
  );
});
