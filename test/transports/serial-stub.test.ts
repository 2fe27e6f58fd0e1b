import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { call } from '../../src/engine/call/call.ts';
import { SharedReader } from '../../src/engine/reading/shared-reader.ts';
import { MethodTable } from '../../src/faces/jsonrpc/methods.ts';
import { RpcServer } from '../../src/faces/jsonrpc/server.ts';
import { coreBook } from '../../src/operations/core/index.ts';
import { systemClock } from '../../src/system/clock.ts';
import { engineWith, limit } from '../support/engine.ts';
import { RpcClient } from '../support/rpc.ts';
import { serialStub } from '../support/serial-stub/index.ts';

// A kind of far side nothing in the product has heard of: a folder and a place in the engine's list are all it takes.

const home = mkdtempSync(join(tmpdir(), 'fairlead-serial-'));
const engine = engineWith(home, { serial: serialStub(['/dev/ttyS7']) });
const methods = new MethodTable([coreBook], (op, raw, context) => call(op, raw, { ...context, engine }));
const server = await RpcServer.listen({ host: '127.0.0.1', port: 0, token: 'secret', methods, clock: systemClock });
const client = await RpcClient.connect(server.port, 'secret');
afterAll(async () => {
  client[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const target = 'serial:/dev/ttyS7';
const size = { cols: 80, rows: 24 };

test('through the engine: opened, typed at, read, closed', async () => {
  await using terminal = await engine.open({ target, size, options: { baud: 9600 } }, limit());
  await terminal.input.send(Buffer.from('show speed\r'), 'test', limit());
  await terminal.sync(limit());
  expect(terminal.screen.text({ scope: 'viewport', wrap: 'keep' })).toContain('switch> show speed\n9600 baud\nswitch>');
  expect(terminal.identity).toMatchObject({ target, program: '/dev/ttyS7' });
  expect(terminal.process).toBeUndefined();
  await terminal[Symbol.asyncDispose]();
  expect(await terminal.whenEnded).toEqual({ by: 'lost', reason: 'The port was closed.' });
});

test('through a face: listed, opened with its option, typed at, read, found and closed', async () => {
  const listed = async (): Promise<unknown> => (await client.call('targets.list')).targets;
  const facts = { target, summary: 'a serial port', kind: 'serial' };
  expect(await listed()).toEqual([{ ...facts, terminals: 0 }]);
  const { terminal, program } = await client.call('terminal.open', { target, options: { baud: 19_200 } });
  expect(program).toBe('/dev/ttyS7');
  expect(await listed()).toEqual([{ ...facts, terminals: 1 }]);
  await client.call('terminal.send', { terminal, text: 'show speed' });
  await client.call('terminal.wait', { terminal, text: '19200 baud' });
  expect((await client.call('terminal.read', { terminal })).text).toContain('19200 baud\nswitch>');
  await client.call('terminal.close', { terminal });
  expect((await client.call('terminal.list')).terminals).toEqual([]);
});

test('a shared reader reads it as it reads an SSH shell', async () => {
  await using terminal = await engine.open({ target, size }, limit());
  const reader = new SharedReader(terminal);
  const prompt = [Buffer.from('switch> ')];
  const first = await reader.awaitPattern(prompt, 10_000, limit());
  if (typeof first === 'string') throw new Error(first);
  reader.take(first.to);
  await terminal.input.send(Buffer.from('show speed\r'), 'test', limit());
  expect(await reader.awaitPattern(prompt, 10_000, limit())).toMatchObject({ pattern: 0 });
  expect(Buffer.from(reader.unread().bytes).toString()).toBe('show speed\r\n115200 baud\r\nswitch> ');
});

test.each([
  [{ target, options: { baud: 'fast' } }, /baud/],
  [{ target, options: { parity: 'odd' } }, /parity/],
  [{ target: 'serial:/dev/none' }, /no port/],
])('the transport judges what only it understands: %j', async (input, message) => {
  await expect(client.call('terminal.open', input)).rejects.toThrow(message);
  expect(engine.terminals).toEqual([]);
});
