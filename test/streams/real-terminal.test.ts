import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { defaultStreamSettings } from '../../src/streams/settings.ts';
import { Streams } from '../../src/streams/streams.ts';
import { anyTerminalSource } from '../../src/streams/terminal-source.ts';
import { parseUri } from '../../src/streams/uri.ts';
import { localTransport } from '../../src/transports/local/transport.ts';
import { engineWith, limit } from '../support/engine.ts';

const size = { cols: 80, rows: 24 };

/** A real terminal that runs this, and a lane on it that stops its producer when it is full. */
async function place(script: string, blockMs: number) {
  const home = mkdtempSync(join(tmpdir(), 'fairlead-streams-'));
  const env = { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8', USER: 'tester', SHELL: '/bin/sh' };
  const root = join(home, '.fairlead');
  const local = localTransport({ root, shell: undefined, cwd: home, env, extraEnv: {}, integration: false });
  const engine = engineWith(home, { local });
  const streams = new Streams(engine, {
    settings: { ...defaultStreamSettings, laneBuffer: 16, blockMs },
    sources: [anyTerminalSource(engine)],
  });
  const terminal = await engine.open({ target: 'local', size, argv: ['/bin/sh', '-c', script] }, limit());
  const peer = streams.connect('connection', 'ann');
  const uri = parseUri(`terminal://${terminal.id}/output`);
  const request = { uri, lifetime: 'manual', graceMs: 2000, ttlMs: 60_000, lagPolicy: 'block_slow' } as const;
  const lane = streams.openLane({ ...request, filter: undefined }, { principal: 'ann', connected: peer });
  return {
    terminal,
    lane,
    streams,
    async [Symbol.asyncDispose]() {
      await streams[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

test('a flood really stops when its lane is full, goes on when it is drained, and loses nothing (remote 4.3)', async () => {
  await using here = await place('yes fairlead', 60_000);
  const { terminal, lane } = here;
  let at = 0;
  for (let round = 0; round < 3; round += 1) {
    await expect.poll(() => lane.lane.isFull).toBe(true);
    // What was on its way may still come.
    let end = -1;
    await expect
      .poll(() => [end, (end = terminal.log.end)].every((one, _, [first]) => one === first), { interval: 100 })
      .toBe(true);
    await sleep(150);
    expect(terminal.log.end).toBe(end);
    for (;;) {
      const { parts, truncated, from, cursor } = lane.read(false);
      expect([truncated, from]).toEqual([0, at === 0 ? from : at]);
      at = cursor;
      if (parts.length === 0) break;
    }
    await expect.poll(() => terminal.log.end).toBeGreaterThan(end);
  }
  expect(lane.blockedMs).toBeGreaterThan(0);
});

test('after its limit the flood goes on, and the lane says so', async () => {
  await using here = await place('yes fairlead', 200);
  await expect.poll(() => here.lane.warnings.join()).toContain('LAG_BACKPRESSURE');
  const { end } = here.terminal.log;
  await expect.poll(() => here.terminal.log.end).toBeGreaterThan(end);
  expect(here.lane.blockedMs).toBeGreaterThanOrEqual(199);
});

test('a person who watches is not stopped, and closing a stopped terminal does not hang', async () => {
  await using here = await place('yes fairlead', 60_000);
  const { terminal, lane } = here;
  await expect.poll(() => lane.lane.isFull).toBe(true);
  const before = terminal.log.end;
  {
    using _watching = terminal.usage.keepAwake();
    await expect.poll(() => terminal.log.end).toBeGreaterThan(before + 1_000_000);
  }
  while (lane.read(false).parts.length > 0);
  await expect.poll(() => lane.lane.isFull).toBe(true);
  const began = performance.now();
  await terminal[Symbol.asyncDispose]();
  expect(performance.now() - began).toBeLessThan(10_000);
  await expect.poll(() => lane.read(false).tellsEnd || lane.isOver).toBe(true);
});
