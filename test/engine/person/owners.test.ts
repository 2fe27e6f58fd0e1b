import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, type Caller } from '../../../src/engine/call/call.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import {
  answer,
  decline,
  followTerminal,
  resize,
  see,
  type,
  waiting,
  watch,
} from '../../../src/operations/person/index.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith } from '../../support/engine.ts';

const size = { cols: 80, rows: 24 };
const { signal } = new AbortController();
const ada: Caller = { ...localPerson, principal: 'ada' };

/** A terminal and a question of ada's. */
async function desk() {
  const engine = engineWith(join(tmpdir(), 'none'), {});
  const opened = { channel: new EchoChannel(size), program: 'sh', owner: 'ada' };
  const terminal = await engine.adopt({ target: 'echo', size }, opened);
  const question = { kind: 'password', subject: 'db', prompt: 'Password', secret: true } as const;
  await engine.questions.ask({ ...question, principal: 'ada', asker: 'agent' }, undefined, signal).catch(() => {});
  return { engine, terminal, id: engine.questions.list()[0]?.id ?? '' };
}

test('another principal neither sees nor types into a terminal, nor answers for its owner', async () => {
  const { engine, terminal, id } = await desk();
  await using _engine = engine;
  const context = { engine, caller: { ...localPerson, principal: 'bob' }, signal };
  const session = terminal.id;
  const missing = { code: 'terminal_not_found' };
  await expect(call(see, { session }, context)).rejects.toMatchObject(missing);
  await expect(call(type, { session, text: 'x' }, context)).rejects.toMatchObject(missing);
  await expect(call(resize, { session, ...size }, context)).rejects.toMatchObject(missing);
  await expect(call(answer, { item: session, prompt: '', text: 'x' }, context)).rejects.toMatchObject(missing);
  await expect(callStream(followTerminal, { session }, context).next()).rejects.toMatchObject(missing);
  const notOpen = { code: 'not_found', message: 'This question is no longer open.' };
  await expect(call(answer, { item: id, prompt: 'Password', text: 'x' }, context)).rejects.toMatchObject(notOpen);
  await expect(call(decline, { item: id }, context)).rejects.toMatchObject(notOpen);
  expect(await call(waiting, {}, context)).toEqual({ waiting: [] });
  const { value } = await callStream(watch, {}, context).next();
  expect(value).toEqual({
    kind: 'all',
    cursor: expect.any(String) as unknown,
    terminals: [],
    questions: [],
    conversations: [],
    pause: null,
    theme: expect.any(Object) as unknown,
  });
});

test('its owner does', async () => {
  const { engine, terminal, id } = await desk();
  await using _engine = engine;
  const context = { engine, caller: ada, signal };
  const session = terminal.id;
  expect(await call(see, { session }, context)).toMatchObject({ terminal: session, ...size });
  expect(await call(type, { session, text: 'x' }, context)).toEqual({ session: 0, bytes: 1 });
  expect(await call(waiting, {}, context)).toMatchObject({ waiting: [{ question: id, prompt: 'Password' }] });
  expect(await call(decline, { item: id }, context)).toEqual({ question: id, subject: 'db' });
  const { value } = await callStream(watch, {}, context).next();
  expect(value).toMatchObject({ kind: 'all', terminals: [{ terminal: session }], questions: [] });
});
