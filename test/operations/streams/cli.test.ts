import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program, Served } from '../../support/served.ts';

// `fairlead sub` and `fairlead resource`: each call is a process of its own, and a lane is there for the next one (docs/guide/following.md).

let served: Served;
let uri: string;
beforeAll(async () => {
  served = await Served.start();
  // The default session begins with its first command.
  await served.fairlead(['exec', 'wait', 'true']);
  [uri = ''] = /^terminal:\/\/\S+/.exec(await served.fairlead(['resource', 'list'])) ?? [];
}, 60_000);
afterAll(() => served[Symbol.asyncDispose]());

const say = (text: string): Promise<string> =>
  served.fairlead(['exec', 'wait', `echo ${text.slice(0, 2)}''${text.slice(2)}`]);
const opened = async (...options: string[]): Promise<string> => {
  const said = await served.fairlead(['sub', 'open', uri, ...options]);
  const [, id = said] = /^SUB_ID: (\S+)$/m.exec(said) ?? [];
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  return id;
};
const sub = (...args: string[]): Promise<string> => served.fairlead(['sub', ...args]);
const drained = (id: string): Promise<string> => served.fairlead(['resource', 'read', `${uri}?sub=${id}`]);

test('9.7: resource list, templates and read', async () => {
  expect(uri).toMatch(/^terminal:\/\/[\w-]+\/output$/);
  expect(await served.fairlead(['resource'])).toContain(uri);
  expect(await served.fairlead(['resource', 'templates'])).toMatch(
    /^terminal:\/\/\{terminal_id\}\/output\{\?cursor\} /m,
  );
  await say('hello-there');
  expect(await served.fairlead(['resource', 'read', uri])).toContain('hello-there');
  const { meta } = JSON.parse(await served.fairlead(['resource', 'read', uri, '--json'])) as {
    meta: { cursor: number };
  };
  const rest = JSON.parse(await served.fairlead(['resource', 'read', `${uri}?cursor=${meta.cursor}`, '--json'])) as {
    text: string;
  };
  expect(rest.text).not.toContain('hello-there');
  expect(await served.fairlead(['resource', 'read', 'terminal://nowhere/output'])).toContain('nowhere');
  expect(await served.fairlead(['resource', 'read', 'gopher://x'])).toContain('BadScheme');
}, 60_000);

test('9.7: a lane is opened by one process, and drained, changed and closed by others', async () => {
  const id = await opened('--filter', 'keep');
  await say('keep-this');
  await say('drop-this');
  await expect.poll(() => drained(id), { timeout: 20_000 }).toContain('keep-this');
  expect(await sub('list')).toContain(`${id} ${uri}`);
  expect(await sub('filter', id, '')).toContain('FILTER: none');
  expect(await sub('replay', id)).toMatch(/^FROM_CURSOR: 0$/m);
  expect(await drained(id)).toContain('drop-this');
  expect(await sub('pause', id)).toContain('PAUSED: true');
  expect(await sub('pause', id)).toContain('SUB_PAUSE: NOOP');
  expect(await sub('resume', id)).toContain('PAUSED: false');
  expect(await sub('stats', id)).toMatch(/^BYTES_SENT: [1-9]/m);
  expect(await sub('stats-all')).toMatch(/^LANES_TOTAL: 1$/m);
  expect(await sub('close', id)).toContain('SUB_CLOSE: OK');
  expect(await sub('close', id)).toContain('SUB_CLOSE: NOT_FOUND');
  expect(await drained(id)).toContain('no lane with id');
  expect(await sub('open', uri, '--lag-policy', 'sometimes')).toContain('lag_policy: must be one of');
}, 60_000);

test('9.7: resource listen prints a line at each change, and says at once when there is nothing to hear of', async () => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: served.home };
  const child = spawn(process.execPath, [program, 'resource', 'listen', uri], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    await expect.poll(() => said, { timeout: 20_000 }).toContain(`${uri}  followed\n`);
    await say('something');
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(/changed, ends at \d+\n/);
  } finally {
    child.kill();
    await closed;
  }
  expect(await served.fairlead(['resource', 'listen', 'terminal://nowhere/output'])).toContain('nowhere');
}, 60_000);
