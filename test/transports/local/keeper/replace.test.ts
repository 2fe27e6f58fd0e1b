import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandLine, env, KeeperHome, listen, rest, script, size, soon } from '../../../support/keeper/keeper.ts';

describe.runIf(process.platform === 'linux')('the keeper process', () => {
  test('it becomes another program with all it holds: same processes, not a byte lost or twice, input too', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const counter = await client.open(
      { argv: ['bash', '-c', 'stty -opost; for ((i=1; i<=60000; i++)); do echo $i; done; exit 6'], env },
      size,
      home.newId(),
      soon(),
    );
    const cat = await client.open(script('stty -echo -opost; echo ready; exec cat'), size, home.newId(), soon());
    const quick = await client.open(script('exit 3'), size, home.newId(), soon());
    expect(await quick.ended).toEqual({ by: 'exit', code: 3 });
    const counted = rest(counter);
    const lines = cat.output[Symbol.asyncIterator]();
    expect(Buffer.from((await lines.next()).value as Uint8Array).toString()).toBe('ready\n');
    cat.conceal('swordfish');
    cat.durable.note(Buffer.from('{"kept":true}'));
    const pid = client.pid ?? 0;
    const program = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -3);
    for (let round = 0; round < 3; round++) {
      await client.replace(program as [string, ...string[]], soon());
      expect(client.pid).toBe(pid);
      await cat.write(Buffer.from(`round ${round} swordfish\n`));
      let text = '';
      while (!text.endsWith('\n')) text += Buffer.from((await lines.next()).value as Uint8Array).toString();
      expect(text).toBe(`round ${round} •••\n`);
    }
    expect(readFileSync(join(home.home, 'run', 'keeper-alpha.log'), 'utf8')).toBe('');
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').length).toBeGreaterThan(program.length + 3);
    expect(await counted).toBe(Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join(''));
    expect(await counter.ended).toEqual({ by: 'exit', code: 6 });
    const leaked = await client.open({ argv: ['ls', '-l', '/proc/self/fd'], env }, size, home.newId(), soon());
    expect(await rest(leaked)).not.toMatch(/ptmx|memfd|keeper|socket/);
    await client[Symbol.asyncDispose]();
    const kept = await home.client().find(soon());
    expect(kept.map(({ listed }) => listed.ended ?? 'runs')).toEqual([
      { by: 'exit', code: 6 },
      'runs',
      { by: 'exit', code: 3 },
      { by: 'exit', code: 0 },
    ]);
    expect(Buffer.from(kept[1]?.meta ?? []).toString()).toBe('{"kept":true}');
  });

  test.each(['while there is no connection', 'while it is about to end'])(
    'a secret told %s is masked',
    async (when) => {
      await using home = new KeeperHome();
      const client = home.client();
      const spawn = script('stty -echo; echo ready; read x; echo "<$x>"');
      const channel = await client.open(spawn, size, home.newId(), soon());
      const printed = rest(channel);
      await expect.poll(() => channel.isLeased).toBe(true);
      const program = readFileSync(`/proc/${client.pid}/cmdline`, 'utf8').split('\0').slice(0, -3);
      const replacing = client.replace(program as [string, ...string[]], soon());
      // It is asked for in the turns after this one, or it has just gone.
      const isThen = when.includes('no') ? () => client.pid === undefined : () => !channel.isLeased;
      while (!isThen()) await new Promise((resolve) => setImmediate(resolve));
      channel.durable.note(Buffer.from('{"told":"late"}'));
      channel.conceal('swordfish');
      await channel.write(Buffer.from('swordfish\n'));
      await replacing;
      expect(await printed).toBe('ready\r\n<•••>\r\n');
      await client[Symbol.asyncDispose]();
      const [kept] = await home.client().find(soon());
      expect(Buffer.from(kept?.meta ?? []).toString()).toBe('{"told":"late"}');
    },
  );

  test('a signal that is sent while it becomes another program arrives, and once', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const patient = 'trap "echo usr" USR1; trap "exit 4" TERM; echo ready; while :; do sleep 0.02; done';
    const opened = await Promise.all([1, 2, 3].map(() => client.open(script(patient), size, home.newId(), soon())));
    const heard = opened.map(listen);
    await expect.poll(() => opened.every(({ isLeased }) => isLeased)).toBe(true);
    await expect.poll(() => heard.every(({ text }) => text.includes('ready'))).toBe(true);
    const program = readFileSync(`/proc/${client.pid}/cmdline`, 'utf8').split('\0').slice(0, -3);
    const replacing = client.replace(program as [string, ...string[]], soon());
    // Asked for in the turns after this one; the signals stand right behind it.
    while (opened[0]?.isLeased === true) await Promise.resolve();
    for (const channel of opened) await channel.kill('USR1');
    await replacing;
    await expect.poll(() => heard.map(({ text }) => text.includes('usr'))).toEqual([true, true, true]);
    for (const channel of opened) await channel.kill('TERM');
    expect(await Promise.all(opened.map(({ ended }) => ended))).toEqual(opened.map(() => ({ by: 'exit', code: 4 })));
    expect(heard.map(({ text }) => text.match(/^usr/gm)?.length)).toEqual([1, 1, 1]);
  });

  test('a keeper whose frames are older is replaced by the instance that finds it', async () => {
    await using home = new KeeperHome();
    const first = home.client();
    const { process: before } = await first.open(script('sleep 60'), size, home.newId(), soon());
    const pid = first.pid ?? 0;
    const started = commandLine(pid);
    await first[Symbol.asyncDispose]();
    const newer = home.client({ version: 2 });
    const kept = await newer.find(soon());
    expect(kept.map(({ listed }) => listed.pid)).toEqual([before.pid]);
    expect(newer.pid).toBe(pid);
    expect(commandLine(pid)).not.toBe(started);
  });

  test('when the other program cannot be had it stays what it is', async () => {
    await using home = new KeeperHome();
    const client = home.client();
    const cat = await client.open(script('stty -echo -opost; echo ready; exec cat'), size, home.newId(), soon());
    const lines = cat.output[Symbol.asyncIterator]();
    await lines.next();
    for (const program of [['/no/such/program'], ['/dev/null', '/dev/null']] as const) {
      await client.replace([...program], soon());
      await cat.write(Buffer.from('still here\n'));
      expect(Buffer.from((await lines.next()).value as Uint8Array).toString()).toBe('still here\n');
    }
    const log = () => readFileSync(join(home.home, 'run', 'keeper-alpha.log'), 'utf8');
    await expect.poll(log).toMatch(/ENOENT[\s\S]*EACCES/);
  });
});
