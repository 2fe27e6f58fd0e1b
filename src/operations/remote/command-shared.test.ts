import { expect, test } from 'vitest';
import { FakeCommand, FakeSession } from '../../../test/support/fake-command.ts';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import type { Amount, Call } from '../../engine/call/call.ts';
import { SshCommand } from '../../transports/ssh/commands/command.ts';
import { commandEnded } from './command-shared.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function start() {
  const clock = new ManualClock();
  const far = new FakeCommand();
  const request = { command: 'work', timeoutMs: 600_000, pty: false, releaseWhenNoSubs: false, graceMs: 0 };
  const facts = { id: 'c1', number: 0, session: new FakeSession().session, request };
  const command = new SshCommand(facts, far, { clock, bufferBytes: 4096 });
  const told: unknown[] = [];
  const hangUp = new AbortController();
  const call = {
    engine: { clock },
    signal: hangUp.signal,
    progress: (message: string, amount?: Amount) => void told.push([message, amount]),
  } as unknown as Call<unknown>;
  return { clock, far, command, told, hangUp, call };
}

test('while a call waits, it tells every five seconds how many bytes of stdout there are (3.4)', async () => {
  const { clock, far, command, told, call } = start();
  const waiting = commandEnded(command, 30_000, call, 100);
  far.print('abc');
  far.print('not counted', 'stderr');
  await settled();
  clock.advance(4999);
  expect(told).toEqual([]);
  clock.advance(1);
  far.print('de');
  await settled();
  clock.advance(5000);
  expect(told).toEqual([
    ['103 bytes of stdout so far', { done: 103 }],
    ['105 bytes of stdout so far', { done: 105 }],
  ]);
  far.finish();
  expect(await waiting).toBe(true);
  clock.advance(60_000);
  expect(told).toHaveLength(2);
  expect(clock.timers).toBe(0);
});

test('time runs out, or the caller hangs up: only the waiting ends', async () => {
  const { clock, command, told, hangUp, call } = start();
  const late = commandEnded(command, 7000, call);
  clock.advance(7000);
  expect(await late).toBe(false);
  const leaving = commandEnded(command, 7000, call);
  hangUp.abort(new Error('gone'));
  await expect(leaving).rejects.toThrow('gone');
  await expect(commandEnded(command, 7000, call)).rejects.toThrow('gone');
  expect(command.status).toBe('running');
  clock.advance(60_000);
  expect(told).toHaveLength(1);
});
