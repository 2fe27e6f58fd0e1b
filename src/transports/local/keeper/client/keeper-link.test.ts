import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { deferred } from '../../../../lib/deferred.ts';
import { frame, frameTypes } from '../frames.ts';
import { KeeperLink } from './keeper-link.ts';
import { encode } from '../../../resumable/messages.ts';

const welcome = frame('welcome', '', encode({ version: 1, pid: 1, startTime: 1, terminals: [] }));
const nonsense = Buffer.alloc(64, 0xff);
const limit = (): AbortSignal => AbortSignal.timeout(25_000);

/** A far side that says this to whoever says hello. */
async function farSide(first: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), 'fl-link-'));
  const path = join(folder, 's');
  const gone: Promise<unknown>[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    gone.push(once(socket, 'close'));
    socket.once('data', () => socket.write(first));
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { path, gone, say: (bytes: Buffer) => sockets[0]?.write(bytes) };
}

/** What it hears; a mistake is made with a frame for the terminal of this name. */
function listener() {
  const heard: string[] = [];
  let closed = 0;
  const told = deferred();
  return {
    heard,
    closed: () => closed,
    told: told.promise,
    events: {
      frame: ({ type, id }: { readonly type: number; readonly id: string }) => {
        heard.push(`${type} ${id}`);
        if (id === 'fault') throw new TypeError('ours');
      },
      closed: () => {
        closed += 1;
        told.resolve();
      },
    },
  };
}

test('who does not talk like a keeper is none: as if nobody had been there', async () => {
  const { path, gone } = await farSide(nonsense);
  const { events, heard, closed } = listener();
  expect(await KeeperLink.open(path, {}, events, limit())).toBeUndefined();
  await Promise.all(gone);
  expect([heard, closed()]).toEqual([[], 0]);
});

test('nonsense after the welcome ends the connection, and that is told once', async () => {
  const { path, gone, say } = await farSide(welcome);
  const { events, closed, told } = listener();
  expect(await KeeperLink.open(path, {}, events, limit())).toBeDefined();
  say(nonsense);
  await Promise.all([...gone, told]);
  expect(closed()).toBe(1);
});

test('a mistake of ours with a frame ends the connection: nothing behind it is heard, and that is told once', async () => {
  const { path, gone, say } = await farSide(welcome);
  const { events, heard, closed, told } = listener();
  await KeeperLink.open(path, {}, events, limit());
  say(Buffer.concat([frame('gone', 'aaaaa'), frame('gone', 'fault'), frame('gone', 'bbbbb')]));
  await Promise.all([...gone, told]);
  expect(closed()).toBe(1);
  expect(heard).toEqual([`${frameTypes.gone} aaaaa`, `${frameTypes.gone} fault`]);
});

test('one that is closed from here is not told of', async () => {
  const { path, gone } = await farSide(welcome);
  const { events, closed } = listener();
  const link = await KeeperLink.open(path, {}, events, limit());
  const closing = link?.close();
  link?.ponged();
  await closing;
  await Promise.all(gone);
  expect(closed()).toBe(0);
});
