import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hungUp } from '../../../src/transports/local/pty/hung-up.ts';

test('a pipe whose writer is gone, although what it wrote was not read', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fairlead-hung-up-'));
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  writeSync(writer, 'still here');
  expect(await hungUp(reader)).toBe(false);
  closeSync(writer);
  expect(await hungUp(reader)).toBe(true);
  closeSync(reader);
  await rm(dir, { recursive: true });
});

test('a socket whose other end writes no more but still reads', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'fairlead-hung-up-'));
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }).listen(join(dir, 'socket'));
  const client = connect({ path: join(dir, 'socket'), allowHalfOpen: true });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const { fd } = (socket as unknown as { _handle: { fd: number } })._handle;
  client.write('still here');
  expect(await hungUp(fd)).toBe(false);
  client.end();
  await expect.poll(() => hungUp(fd)).toBe(true);
  client.destroy();
  socket.destroy();
  server.close();
  await rm(dir, { recursive: true });
});
