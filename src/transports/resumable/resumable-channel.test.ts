import { expect, test } from 'vitest';
import { loadLibc } from '../local/pty/libc.ts';
import { ResumableChannel } from './resumable-channel.ts';
import { decode, type Kill } from '../local/keeper/messages.ts';

test.runIf(process.platform === 'linux')(
  'signals for a keeper that is away wait once each, in the order of their newest',
  async () => {
    let isThere = false;
    const told: unknown[] = [];
    const channel = new ResumableChannel({
      libc: await loadLibc(),
      post: (type, body) => {
        if (isThere && type === 'kill' && body) told.push(decode<Kill>(body)?.signal);
        return isThere;
      },
      posted: () => Promise.resolve(),
      process: { pid: process.pid, startTime: 0, terminal: '/dev/pts/none' },
      from: 0,
      typed: 0,
      onGone: () => {},
    });
    for (let times = 0; times < 1000; times += 1) {
      for (const signal of ['STOP', 'INT', 'CONT'] as const) await channel.kill(signal);
    }
    await channel.kill('STOP');
    isThere = true;
    channel.reconnected(0);
    expect(told).toEqual(['INT', 'CONT', 'STOP']);
    channel.reconnected(0);
    expect(told).toHaveLength(3);
    channel.lost('the test is over');
  },
);
