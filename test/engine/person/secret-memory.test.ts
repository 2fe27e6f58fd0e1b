import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SocketServer } from '../../../src/faces/socket/server.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { personBook, waiting } from '../../../src/operations/person/index.ts';
import { deferred } from '../../../src/lib/deferred.ts';
import { Workplace } from '../../support/prompt-desk.ts';
import { copiesInMemory } from '../../support/memory-scan.ts';
import { Mcp } from '../../support/mcp-client.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'fairlead.js');

function answer(home: string, args: readonly string[]) {
  return spawn(process.execPath, [program, 'answer', ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, FAIRLEAD_HOME: join(home, '.fairlead') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function answered(home: string, args: readonly string[], input: string): Promise<number> {
  const child = answer(home, args);
  child.stdin.end(input);
  child.stdout.resume();
  const [code] = (await once(child, 'close')) as [number];
  return code;
}

const hasMemory = existsSync('/proc/self/mem');
const newSecret = (): string => `pw-${randomBytes(12).toString('hex')}`;

test.skipIf(!hasMemory)(
  'a password that was answered stands in the memory of the server once: what masks it in output',
  async () => {
    const secret = newSecret();
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: "read -rs -p 'Password: ' pw; echo; echo got ${#pw}", submit: true });
    await expect.poll(() => answered(mcp.home, ['--list'], '')).toBe(0);
    expect(await answered(mcp.home, [], `${secret}\n`)).toBe(0);
    const { content } = await mcp.facts<{ content: string }>('getContent', { waitFor: 'got 27', timeoutMs: 20_000 });
    expect(content).toContain('got 27');
    await expect.poll(() => copiesInMemory(mcp.child.pid ?? 0, secret), { timeout: 10_000 }).toBe(1);
  },
);

test.skipIf(!hasMemory)('the program that reads it from the person keeps no copy once it is sent', async () => {
  const secret = newSecret();
  await using place = await Workplace.open();
  const home = join(place.home, '.fairlead');
  await mkdir(join(home, 'run'), { recursive: true, mode: 0o700 });
  const got = deferred<void>();
  const go = deferred<void>();
  const asked = { terminal: 't1', program: 'x', kind: 'password', prompt: 'Password:', secret: true, needs: 'person' };
  await using _server = await SocketServer.listen(join(home, 'run', `${process.pid}.sock`), {
    books: [personBook],
    caller: localPerson,
    call: async (op) => {
      if (op === waiting) return { waiting: [asked] };
      got.resolve();
      await go.promise;
      return {};
    },
    stream: async function* () {},
  });
  const child = answer(place.home, []);
  child.stdin.end(`${secret}\n`);
  child.stdout.resume();
  await got.promise;
  await expect.poll(() => copiesInMemory(child.pid ?? 0, secret), { timeout: 10_000 }).toBe(0);
  go.resolve();
  expect((await once(child, 'close'))[0]).toBe(0);
});
