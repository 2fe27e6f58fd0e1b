import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit } from '../../support/engine.ts';

const size = { cols: 80, rows: 24 };

interface Scene extends AsyncDisposable {
  readonly terminal: Terminal;
  readonly channel: EchoChannel;
}

async function scene(capacity?: number): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'fl-follow-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const channel = new EchoChannel(size, { echo: false });
  const engine = engineWith(folder, { echo: async () => ({ channel, program: 'echo', capacity }) });
  const terminal = await engine.open({ target: 'echo', size }, limit());
  return { terminal, channel, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('output is followed from an offset, what is there and what comes, until the terminal has ended', async () => {
  await using at = await scene();
  at.channel.say('hello ');
  await expect.poll(() => at.terminal.log.end).toBe(6);
  const output = at.terminal.follow(2, limit());
  expect(await output.next()).toMatchObject({ value: { from: 2, missed: 0, bytes: bytesOf('llo ') } });
  const next = output.next();
  at.channel.say('world');
  expect(await next).toMatchObject({ value: { from: 6, missed: 0, bytes: bytesOf('world') } });
  at.channel.say('!');
  at.channel.end();
  await at.terminal.whenEnded;
  // The last bytes are read although the terminal has ended.
  expect(await output.next()).toMatchObject({ value: { from: 11, bytes: bytesOf('!') } });
  expect(await output.next()).toMatchObject({ done: true });
});

test('a reader that waits when the terminal ends is done, and one that begins afterwards gets all', async () => {
  await using at = await scene();
  const output = at.terminal.follow(0, limit());
  const next = output.next();
  at.channel.end();
  expect(await next).toMatchObject({ done: true });
  await using late = await scene();
  late.channel.say('all of it');
  late.channel.end();
  await late.terminal.whenEnded;
  const read: string[] = [];
  for await (const { bytes } of late.terminal.follow(0, limit())) read.push(text(bytes));
  expect(read).toEqual(['all of it']);
});

test('a slow reader skips what the log has dropped, is told how much, and holds nothing up', async () => {
  await using at = await scene(32 << 10);
  const output = at.terminal.follow(0, limit());
  at.channel.say('first');
  expect(await output.next()).toMatchObject({ value: { from: 0, missed: 0 } });
  const flood = Buffer.alloc(100 << 10, 'x');
  at.channel.say(flood);
  await expect.poll(() => at.terminal.log.end).toBe(5 + flood.length);
  const { value } = await output.next();
  const { start, end } = at.terminal.log;
  expect(value).toMatchObject({ from: start, missed: start - 5 });
  expect(start - 5 + (value?.bytes.length ?? 0)).toBe(flood.length);
  expect(at.terminal.log.allocated).toBeLessThanOrEqual(32 << 10);
  at.channel.say('now');
  expect(await output.next()).toMatchObject({ value: { from: end, missed: 0 } });
});

test('much output comes in pieces of a bounded size', async () => {
  await using at = await scene();
  const flood = Buffer.alloc(200 << 10, 'x');
  at.channel.say(flood);
  at.channel.end();
  const sizes: number[] = [];
  for await (const { bytes } of at.terminal.follow(0, limit())) sizes.push(bytes.length);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBe(flood.length);
  expect(Math.max(...sizes)).toBe(64 << 10);
});

test('the signal ends it without an error, and nothing listens any more', async () => {
  await using at = await scene();
  const { log, state } = at.terminal;
  const before = [log.onAppend.size, state.changed.size];
  const ending = new AbortController();
  const output = at.terminal.follow(0, ending.signal);
  const next = output.next();
  expect([log.onAppend.size, state.changed.size]).not.toEqual(before);
  ending.abort();
  expect(await next).toMatchObject({ done: true });
  expect([log.onAppend.size, state.changed.size]).toEqual(before);
});

test('a reader that leaves in the middle lets go', async () => {
  await using at = await scene();
  const before = at.terminal.log.onAppend.size;
  at.channel.say('one');
  for await (const _read of at.terminal.follow(0, limit())) break;
  expect(at.terminal.log.onAppend.size).toBe(before);
});

test('from an offset that is still to come, it begins there', async () => {
  await using at = await scene();
  const next = at.terminal.follow(3, limit()).next();
  at.channel.say('abc');
  await expect.poll(() => at.terminal.log.end).toBe(3);
  at.channel.say('def');
  expect(await next).toMatchObject({ value: { from: 3, missed: 0, bytes: bytesOf('def') } });
});
