import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Caller, call } from '../../../src/engine/call/call.ts';
import { read } from '../../../src/operations/core/read.ts';
import { send } from '../../../src/operations/core/send.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith } from '../../support/engine.ts';

const signal = AbortSignal.timeout(60_000);
const caller = (self: string): Caller => ({
  name: 'agent',
  principal: 'owner',
  origin: 'mcp',
  may: () => true,
  client: { key: 'agent', self, leaves: false },
});

async function openShared() {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-readers-'));
  const size = { cols: 80, rows: 24 };
  const channel = new EchoChannel(size);
  const engine = engineWith(home, { local: async () => ({ channel, program: 'echo', release: () => {} }) });
  const { id } = await engine.sessions.create({}, caller('writer'), signal);
  const context = (self: string) => ({ engine, caller: caller(self), signal });
  return {
    read: (self: string, cursor?: string) =>
      call(read, { terminal: id, view: cursor === undefined ? 'screen' : 'diff', cursor }, context(self)),
    type: (self: string, text: string) => call(send, { terminal: id, text, mode: 'raw' }, context(self)),
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

test('a busy reader does not cost another reader its base for a diff', async () => {
  await using shared = await openShared();
  const { cursor } = await shared.read('calm');
  for (let i = 0; i < 9; i++) {
    await shared.type('busy', `${i}`);
    await shared.read('busy');
  }
  expect(await shared.read('calm', cursor)).toMatchObject({ text: '0| 012345678', diff: { compared: true } });
});

test('nine readers keep their own bases', async () => {
  await using shared = await openShared();
  const cursors: string[] = [];
  for (let i = 0; i < 9; i++) {
    cursors.push((await shared.read(`reader ${i}`)).cursor);
    await shared.type('writer', `${i}`);
  }
  for (const [i, cursor] of cursors.entries()) {
    expect(await shared.read(`reader ${i}`, cursor)).toMatchObject({ diff: { compared: true } });
  }
});
