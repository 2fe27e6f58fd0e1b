import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { backOff, failureOf } from '../../../src/transports/ssh/failure.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { nobodysPort, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
beforeAll(async () => {
  sshd = await startSshd();
});
afterAll(() => sshd[Symbol.asyncDispose]());

/** A server that does with each connection what the test is about, and counts them. */
async function listener(each: (socket: Socket, count: number) => void) {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    each(socket, sockets.length);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    address: `127.0.0.1:${port}`,
    get count() {
      return sockets.length;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const failed = (wire: string, message: string | RegExp, attempts?: number) => ({
  message: typeof message === 'string' ? message : (expect.stringMatching(message) as string),
  data: { wire, ...(attempts !== undefined && { attempts }) },
});

/** A clock by which an attempt ends when the test says so, and the next one comes at once. */
function attempts(limitMs: number): { readonly clock: Clock; readonly limits: ManualClock } {
  const limits = new ManualClock();
  const after: Clock['after'] = (ms, run) => (ms === limitMs ? limits.after(ms, run) : systemClock.after(0, run));
  return { limits, clock: { now: () => limits.now(), monotonic: () => limits.monotonic(), after } };
}

describe('attempts (spec 9.2)', () => {
  test('a port where nobody listens, tried 1 + max_retries times', async () => {
    const address = `127.0.0.1:${nobodysPort}`;
    await expect(sshd.connect({ address, maxRetries: 2 })).rejects.toMatchObject(
      failed('CONNECTION_FAILED', `Cannot connect to ${address}: connection refused (3 attempts).`, 3),
    );
    await expect(sshd.connect({ address })).rejects.toMatchObject(
      failed('CONNECTION_FAILED', `Cannot connect to ${address}: connection refused (one attempt).`, 1),
    );
  });

  test('a server that never answers', async () => {
    const { clock, limits } = attempts(300);
    await using silent = await listener(() => limits.advance(300));
    await expect(
      sshd.connect({ address: silent.address, timeoutMs: 300, maxRetries: 1 }, { clock }),
    ).rejects.toMatchObject(
      failed('CONNECTION_TIMEOUT', `Cannot connect to ${silent.address}: no answer in time (2 attempts).`, 2),
    );
    expect(silent.count).toBe(2);
  });

  test('not every attempt timed out', async () => {
    const { clock, limits } = attempts(300);
    await using odd = await listener((socket, count) => (count === 1 ? socket.destroy() : limits.advance(300)));
    await expect(
      sshd.connect({ address: odd.address, timeoutMs: 300, maxRetries: 1 }, { clock }),
    ).rejects.toMatchObject(
      failed('CONNECTION_FAILED', `Cannot connect to ${odd.address}: no answer in time (2 attempts).`, 2),
    );
  });

  test('a handshake cut off is tried again, and the tries are counted', async () => {
    await using proxy = await listener((socket, count) => {
      if (count === 1) socket.destroy();
      else if (count === 2) socket.end('SSH-2.0-OpenSSH_9.2\r\n');
      else socket.pipe(connect(sshd.port, sshd.host).on('error', () => {})).pipe(socket);
    });
    const { link, retries } = await sshd.connect({ address: proxy.address, maxRetries: 3 });
    await link[Symbol.asyncDispose]();
    expect(retries).toBe(2);
  });

  test('something that is no SSH server', async () => {
    await using web = await listener((socket) => socket.end(`HTTP/1.1 400 Bad\r\n\r\n${'x'.repeat(9_000)}\n`));
    await expect(sshd.connect({ address: web.address, maxRetries: 1 })).rejects.toMatchObject(
      failed('CONNECTION_FAILED', /^Cannot connect to \S+: [^\n]+ \(2 attempts\)\.$/, 2),
    );
  });

  test('no common algorithm: not tried again', async () => {
    for (const [line, kind] of [
      ['Ciphers aes128-cbc', /cipher/],
      ['KexAlgorithms diffie-hellman-group14-sha1', /key exchange/],
    ] as const) {
      await using old = await startSshd({ config: [line] });
      await expect(old.connect({ maxRetries: 3 })).rejects.toMatchObject(
        failed('CONNECTION_FAILED', /^The handshake failed: /),
      );
      await expect(old.connect()).rejects.toMatchObject(failed('CONNECTION_FAILED', kind));
      await old.logged(/Connection from[^]*Connection from/);
      expect(old.log.match(/Connection from/g)).toHaveLength(2);
    }
  });

  test('a name nobody has is told from a name nobody could look up', async () => {
    const trouble = (code: string) => failureOf(Object.assign(new Error('getaddrinfo'), { code }), 'x:22');
    expect(trouble('ENOTFOUND')).toMatchObject({
      final: true,
      error: failed('CONNECTION_FAILED', 'Cannot connect to x:22: no host has this name.'),
    });
    expect(trouble('EAI_AGAIN')).toMatchObject({ final: false, timeout: false });
    await expect(sshd.connect({ address: 'no-such-host.invalid' })).rejects.toMatchObject(
      failed(
        'CONNECTION_FAILED',
        /^Cannot connect to no-such-host\.invalid:22: (no host has this name|its name could not)/,
      ),
    );
  });

  test('the caller goes away', async () => {
    await using silent = await listener(() => {});
    const call = new AbortController();
    const connecting = sshd.connector().connect(sshd.request({ address: silent.address, maxRetries: 9 }), call.signal);
    setTimeout(() => call.abort(new Error('Gone.')), 50);
    await expect(connecting).rejects.toThrow('Gone.');
    const later = sshd.connector().connect(sshd.request(), AbortSignal.abort(new Error('Never here.')));
    await expect(later).rejects.toThrow('Never here.');
  });

  test('the delay between attempts is by the clock it was given', async () => {
    const delays: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after(ms, run) {
        if (ms === 20_000) return systemClock.after(ms, run);
        delays.push(ms);
        return systemClock.after(0, run);
      },
    };
    const address = `127.0.0.1:${nobodysPort}`;
    await expect(sshd.connect({ address, maxRetries: 2, retryDelayMs: 9_000 }, { clock })).rejects.toMatchObject({
      data: { attempts: 3 },
    });
    expect(delays.map((ms) => ms > 7_000 && ms <= 12_000)).toEqual([true, true]);
  });

  test('the delay doubles to ten seconds, a fifth either way', () => {
    expect([0, 1, 2, 3, 4, 9].map((retries) => backOff(1000, retries, 0.5))).toEqual([
      1000, 2000, 4000, 8000, 10_000, 10_000,
    ]);
    expect(backOff(1000, 0, 0)).toBe(800);
    expect(backOff(1000, 0, 1)).toBeCloseTo(1200);
    expect(backOff(0, 5)).toBe(0);
  });
});

test('compression only when it is asked for', async () => {
  for (const compress of [true, false]) {
    const { link, compression } = await sshd.connect({ compress });
    await using _ = link;
    expect(compression).toBe(compress);
    const process = await link.exec('seq 1 100000', {}, AbortSignal.timeout(10_000));
    const chunks: Uint8Array[] = [];
    for await (const chunk of process.stdout) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(
      Array.from({ length: 100_000 }, (_unused, n) => `${n + 1}\n`).join(''),
    );
  }
});
