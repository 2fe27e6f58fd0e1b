import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FairleadError } from '../../../src/contract/errors.ts';
import type { SshLink, SshProcess } from '../../../src/transports/ssh/link/link.ts';
import { isRoot, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

/** Only a net: what takes too long is for the test's own limit to say. */
const limit = (): AbortSignal => AbortSignal.timeout(120_000);

let sshd: Sshd;
let link: SshLink;
beforeAll(async () => {
  sshd = await startSshd({ config: ['MaxSessions 100', 'AcceptEnv LETTER'] });
  ({ link } = await sshd.connect());
});
afterAll(async () => {
  await link[Symbol.asyncDispose]();
  await sshd[Symbol.asyncDispose]();
});

/** Not ed25519: ssh2 cannot read back two in a thousand of the ed25519 keys it makes. */
const hostKey = (): string => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private;

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of stream) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

async function all(process: SshProcess) {
  const [stdout, stderr, ended] = await Promise.all([text(process.stdout), text(process.stderr), process.ended]);
  return { stdout, stderr, ended };
}

const run = async (command: string) => all(await link.exec(command, {}, limit()));

describe('a command', () => {
  test('both streams and the exit code', async () => {
    expect(await run('echo out; echo err >&2; exit 3')).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      ended: { by: 'exit', code: 3 },
    });
  });

  test('its input, and the end of it', async () => {
    const process = await link.exec('tr a-z A-Z', {}, limit());
    await process.write(Buffer.from('hello '));
    await process.write(Buffer.from('there'));
    process.end();
    process.end();
    await expect(process.write(Buffer.from('late'))).rejects.toMatchObject({ code: 'conflict' });
    expect(await all(process)).toMatchObject({ stdout: 'HELLO THERE', ended: { by: 'exit', code: 0 } });
  });

  test('a signal it is sent, and one it dies of', async () => {
    // What sleeps began before, and holds none of the streams: one that is just being started may miss the signal.
    const script = 'trap "echo got; exit 9" TERM; sleep 100 >/dev/null 2>&1 & echo up; wait';
    const process = await link.exec(script, {}, limit());
    const chunks = process.stdout[Symbol.asyncIterator]();
    await chunks.next();
    process.signal('TERM');
    expect(Buffer.from((await chunks.next()).value as Uint8Array).toString()).toBe('got\n');
    expect(await process.ended).toEqual({ by: 'exit', code: 9 });
    expect((await run('kill -KILL $$')).ended).toEqual({ by: 'signal', signal: 'KILL' });
    expect(() => process.signal('KILL')).not.toThrow();
    const other = await link.exec('sleep 100', {}, limit());
    expect(() => other.signal('STOP')).toThrow('SSH has no signal STOP.');
    await other[Symbol.asyncDispose]();
  });

  test('variables, as far as the server takes them', async () => {
    const process = await link.exec('echo [$LETTER][$OTHER]', { env: { LETTER: 'x y', OTHER: 'z' } }, limit());
    expect((await all(process)).stdout).toBe('[x y][]\n');
  });

  // An sshd of an ordinary user cannot give out terminals, and ends the connection.
  test.runIf(isRoot)('a terminal and its size', async () => {
    const pty = { term: 'vt100', size: { cols: 91, rows: 17 } };
    const process = await link.exec('echo $TERM; stty size; read x; stty size', { pty }, limit());
    const chunks = process.stdout[Symbol.asyncIterator]();
    let seen = '';
    while (!seen.includes('17 91')) seen += Buffer.from((await chunks.next()).value as Uint8Array).toString();
    process.resize({ cols: 100, rows: 50 });
    await process.write(Buffer.from('\r'));
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      seen += Buffer.from(next.value).toString();
    }
    expect(seen.split(/[\r\n]+/)).toEqual(['vt100', '17 91', '50 100', '']);
  });

  test.runIf(isRoot)('a login shell', async () => {
    const process = await link.shell({ term: 'dumb', size: { cols: 80, rows: 24 } }, {}, limit());
    await process.write(Buffer.from('shopt -q login_shell && echo "log""in"; exit 5\r'));
    const { stdout, ended } = await all(process);
    expect(stdout).toContain('\nlogin');
    expect(ended).toEqual({ by: 'exit', code: 5 });
  });

  test('an exit code right behind a great deal of output is not lost', async () => {
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await run(`head -c 300000 /dev/zero; exit ${index}`)).ended),
    );
    expect(results).toEqual(Array.from({ length: 40 }, (_, code) => ({ by: 'exit', code })));
  });
});

/** The server needs a moment after the end of a command before its slot is free. */
async function oneMore(on: SshLink, code: number): Promise<void> {
  const run = () => on.exec(`exit ${code}`, {}, limit()).then(all, () => undefined);
  await expect.poll(run, { timeout: 20_000 }).toMatchObject({ ended: { by: 'exit', code } });
}

// An sshd without privilege separation, as that of an ordinary user, passes on no signals.
test.runIf(isRoot)('a call that is given up leaves no channel behind', async () => {
  await using one = await startSshd({ config: ['MaxSessions 1'] });
  const connected = await one.connect();
  await using _ = connected.link;
  for (let round = 0; round < 5; round += 1) {
    const given = new AbortController();
    const opening = connected.link.exec('sleep 100', {}, given.signal);
    given.abort(new Error('Not wanted.'));
    await expect(opening).rejects.toThrow('Not wanted.');
    await oneMore(connected.link, 0);
  }
});

describe('refused', () => {
  test('for lack of slots, until one is free (MaxSessions)', async () => {
    await using one = await startSshd({ config: ['MaxSessions 1'] });
    const connected = await one.connect();
    await using _ = connected.link;
    const first = await connected.link.exec('read x', {}, limit());
    await expect(connected.link.exec('true', {}, limit())).rejects.toMatchObject({
      message: 'The server refused the channel: open failed.',
      data: { wire: 'CHANNEL_FAILED', refused: 'slots' },
    });
    first.end();
    await first.ended;
    await oneMore(connected.link, 4);
  });

  test('a terminal, where none may be had; the channel is given back', async () => {
    await using bare = await startSshd({ config: ['PermitTTY no', 'MaxSessions 1'] });
    const connected = await bare.connect();
    await using _ = connected.link;
    const pty = { term: 'xterm', size: { cols: 80, rows: 24 } };
    for (let round = 0; round < 3; round += 1) {
      const refusal = () => connected.link.exec('true', { pty }, limit()).catch((error: FairleadError) => error.data);
      await expect.poll(refusal, { timeout: 20_000 }).toMatchObject({ wire: 'CHANNEL_FAILED', refused: 'request' });
      await oneMore(connected.link, 6);
    }
  });

  test('a command, by a server that runs none: every channel is closed again', async () => {
    const open = new Set<unknown>();
    const server = new ssh2.Server({ hostKeys: [hostKey()] }, (client) => {
      client.on('error', () => {});
      client.on('authentication', (context) => context.accept());
      client.on('session', (accept) => {
        const session = accept();
        open.add(session);
        session.on('exec', (_accept, reject) => reject());
        session.on('close', () => open.delete(session));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const connected = await sshd.connect({ address: `127.0.0.1:${port}` }, { hostKeyPolicy: 'off' });
    for (let round = 0; round < 3; round += 1) {
      await expect(connected.link.exec('true', {}, limit())).rejects.toMatchObject({
        message: 'The server refused the channel: Unable to exec.',
        data: { wire: 'CHANNEL_FAILED', refused: 'request' },
      });
    }
    await expect.poll(() => open.size, { timeout: 20_000 }).toBe(0);
    await connected.link[Symbol.asyncDispose]();
    server.close();
    await once(server, 'close');
  });
});

describe('the end of a link', () => {
  test('cut while a command runs', async () => {
    await using own = await startSshd();
    const connected = await own.connect();
    const process = await connected.link.exec('echo up; sleep 100', {}, limit());
    const chunks = process.stdout[Symbol.asyncIterator]();
    await chunks.next();
    const writing = process.write(new Uint8Array(8 << 20));
    own.cut();
    expect(await connected.link.ended).toMatchObject({ by: 'lost', reason: expect.stringMatching(/^The /) as string });
    expect(await process.ended).toEqual({ by: 'lost', reason: (connected.link.end as { reason: string }).reason });
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    await expect(writing).rejects.toMatchObject({ code: 'terminal_exited' });
    const gone = { data: { wire: 'TRANSPORT_ERROR' } };
    await expect(connected.link.exec('true', {}, limit())).rejects.toMatchObject(gone);
    await expect(connected.link.ping(limit())).rejects.toMatchObject(gone);
    await connected.link[Symbol.asyncDispose]();
  });

  test('cut while a channel is being opened and a ping is out', async () => {
    await using own = await startSshd();
    const connected = await own.connect();
    // Once it has answered, the process that serves this connection is there to be stopped.
    await connected.link.ping(limit());
    using _ = own.freeze();
    const opening = connected.link.exec('true', {}, limit());
    const pinging = connected.link.ping(limit());
    own.cut();
    await expect(opening).rejects.toMatchObject({ data: { wire: 'TRANSPORT_ERROR' } });
    await expect(pinging).rejects.toMatchObject({ data: { wire: 'TRANSPORT_ERROR' } });
  });

  test('closed by us, twice, with commands on it', async () => {
    const connected = await sshd.connect();
    const process = await connected.link.exec('sleep 100', {}, limit());
    await Promise.all([connected.link[Symbol.asyncDispose](), connected.link[Symbol.asyncDispose]()]);
    expect(connected.link.end).toEqual({ by: 'us' });
    expect(await process.ended).toEqual({ by: 'lost', reason: 'The connection was closed.' });
    await expect(connected.link.exec('true', {}, limit())).rejects.toMatchObject({ data: { wire: 'TRANSPORT_ERROR' } });
  });

  test('a server that hangs does not hold up the closing, nor a ping for ever', async () => {
    await using own = await startSshd();
    const connected = await own.connect();
    const running = await connected.link.exec('sleep 100', {}, limit());
    using _ = own.freeze();
    await expect(connected.link.ping(AbortSignal.timeout(200))).rejects.toMatchObject({ name: 'TimeoutError' });
    await running[Symbol.asyncDispose]();
    expect(await running.ended).toEqual({ by: 'lost', reason: 'The server did not close the channel.' });
    await connected.link[Symbol.asyncDispose]();
    expect(connected.link.end).toEqual({ by: 'us' });
  });

  test('a ping is answered', async () => {
    await Promise.all(Array.from({ length: 20 }, () => link.ping(limit())));
  });
});

/** Memory in use once everything that can be let go is gone. */
function memory(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A server that sends so many packets of one byte, one in a thousand of them on stderr. */
async function tinyPackets(count: number): Promise<{ readonly port: number; close(): void }> {
  const server = new ssh2.Server({ hostKeys: [hostKey()] }, (client) => {
    client.on('error', () => {});
    client.on('authentication', (context) => context.accept());
    client.on('session', (accept) =>
      accept().on('exec', (acceptExec) => {
        const stream = acceptExec();
        for (let n = 0; n < count; n += 1) (n % 1000 === 0 ? stream.stderr : stream).write(Buffer.of(n % 251));
        stream.exit(0);
        stream.end();
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as { port: number }).port, close: () => server.close() };
}

/** Resolves when the next chunk does not come: the far side has been stopped. */
async function untilStill(chunks: AsyncIterator<Uint8Array>): Promise<number> {
  let total = 0;
  for (;;) {
    const next = chunks.next();
    const still = new Promise<undefined>((resolve) => setTimeout(resolve, 1_000, undefined));
    const result = await Promise.race([next, still]);
    if (result === undefined) return total;
    total += (result.value as Uint8Array).length;
  }
}

describe('a reader that stops', () => {
  test('holds up only its own channel, and memory stays bounded', async () => {
    const before = memory();
    const floods = await Promise.all(Array.from({ length: 3 }, () => link.exec('yes flood', {}, limit())));
    for (let round = 0; round < 100; round += 1) {
      expect(await run('echo alive')).toMatchObject({ stdout: 'alive\n', ended: { by: 'exit', code: 0 } });
    }
    // Each flood has filled its window of 2 MiB; without a bound it would be hundreds.
    expect(memory() - before).toBeLessThan(16 << 20);
    const [first] = floods as [SshProcess];
    let seen = 0;
    for await (const chunk of first.stdout) {
      seen += chunk.length;
      if (seen > 8 << 20) break;
    }
    await Promise.all(floods.map((flood) => flood[Symbol.asyncDispose]()));
  });

  test('of a hundred thousand tiny packets, which cost no more than their bytes', async () => {
    const server = await tinyPackets(100_000);
    const connected = await sshd.connect({ address: `127.0.0.1:${server.port}` }, { hostKeyPolicy: 'off' });
    const before = memory();
    const process = await connected.link.exec('x', {}, limit());
    await process.ended;
    expect(memory() - before).toBeLessThan(4 << 20);
    let lost = -1;
    let seen = 0;
    for await (const { stream, bytes } of process.output) {
      for (const byte of bytes) {
        // In the order in which they were sent, on both streams.
        if (byte !== seen % 251 || (seen % 1000 === 0) !== (stream === 'stderr')) lost = seen;
        seen += 1;
      }
    }
    expect({ seen, lost }).toEqual({ seen: 100_000, lost: -1 });
    await connected.link[Symbol.asyncDispose]();
    server.close();
  }, 120_000);

  test('of one stream stops both, and memory stays bounded', async () => {
    const both = 'while :; do head -c 65536 /dev/zero; head -c 65536 /dev/zero >&2; done';
    const process = await link.exec(both, {}, limit());
    const read = await untilStill(process.stderr[Symbol.asyncIterator]());
    // Both share one window: without stdout, stderr must not go on for ever.
    expect(read).toBeLessThan(4 << 20);
    expect(await run('echo alive')).toMatchObject({ stdout: 'alive\n' });
    await process[Symbol.asyncDispose]();
  });

  test('and goes on later gets every byte', async () => {
    const process = await link.exec('seq 1 2000000', {}, limit());
    const chunks = process.stdout[Symbol.asyncIterator]();
    await chunks.next();
    expect((await run('echo alive')).stdout).toBe('alive\n');
    let last = Buffer.alloc(0);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      last = Buffer.concat([last, next.value]).subarray(-100);
    }
    expect(last.toString()).toMatch(/\n1999999\n2000000\n$/);
    expect(await process.ended).toEqual({ by: 'exit', code: 0 });
  });
});

test('new keys in the middle of a transfer (RekeyLimit)', async () => {
  await using own = await startSshd({ config: ['RekeyLimit 1M'] });
  const connected = await own.connect();
  await using _ = connected.link;
  const process = await connected.link.exec('head -c 20000000 /dev/zero; echo end', {}, limit());
  const hash = createHash('sha256');
  for await (const chunk of process.stdout) hash.update(chunk);
  const expected = createHash('sha256').update(Buffer.alloc(20_000_000)).update('end\n').digest('hex');
  expect(hash.digest('hex')).toBe(expected);
  expect(await process.ended).toEqual({ by: 'exit', code: 0 });
});

test('3,000 commands on one link: memory stays flat', { timeout: 300_000 }, async () => {
  const some = async (count: number): Promise<void> => {
    const lane = async (): Promise<void> => {
      for (let n = 0; n < count / 10; n += 1) {
        const { stdout, ended } = await run('echo x');
        if (stdout !== 'x\n' || ended.by !== 'exit') throw new Error(`Lost: ${JSON.stringify({ stdout, ended })}`);
      }
    };
    await Promise.all(Array.from({ length: 10 }, lane));
  };
  await some(500);
  const steps = [memory()];
  for (const count of [1_250, 1_250]) {
    await some(count);
    steps.push(memory());
  }
  const [before = 0, middle = 0, after = 0] = steps;
  expect(Math.min(middle - before, after - middle)).toBeLessThan(1 << 20);
});
