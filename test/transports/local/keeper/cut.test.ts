import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { frame } from '../../../../src/transports/local/keeper/frames.ts';
import type { KeeperChannel } from '../../../../src/transports/local/keeper/client/keeper-channel.ts';
import { keeperProgram } from '../../../../src/transports/local/keeper/client/start-keeper.ts';
import { env, KeeperHome, listen, rest, script, size, sleeper, soon } from '../../../support/keeper/keeper.ts';
import { cuts, KeeperLinks } from '../../../support/keeper/links.ts';

/** Makes a mistake of the keeper: asked for a terminal of this name, it throws. */
const faulty = `
const { get } = Map.prototype;
Map.prototype.get = function (key) {
  if (key === 'fault') throw new Error('injected');
  return get.call(this, key);
};`;

const ways = Object.entries(cuts);

describe.runIf(process.platform === 'linux')('a keeper connection that breaks while terminals are leased', () => {
  test.each(ways)('%s, nothing going on: the terminal is the same, and is leased again', async (_, cut) => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const client = home.client();
    const cat = await client.open(script('stty -echo; echo ready; exec cat'), size, home.newId(), soon());
    const heard = listen(cat);
    await expect.poll(() => [cat.isLeased, heard.text]).toEqual([true, 'ready\r\n']);
    const keeper = client.pid;
    for (const word of ['one', 'two', 'three']) {
      await links.cut(cut);
      expect(cat.isLeased).toBe(false);
      await cat.write(Buffer.from(`${word}\n`));
      await expect.poll(() => cat.isLeased).toBe(true);
      await cat.write(Buffer.from('direct\n'));
      await expect.poll(() => heard.text).toMatch(new RegExp(`${word}\r\ndirect\r\n$`));
    }
    expect(heard.text).toBe('ready\r\none\r\ndirect\r\ntwo\r\ndirect\r\nthree\r\ndirect\r\n');
    expect(client.pid).toBe(keeper);
    await cat.write(Buffer.from('\x04'));
    expect(await cat.ended).toEqual({ by: 'exit', code: 0 });
  });

  test.each(ways)('%s, in the middle of floods: every byte once, and the exit codes', async (_, cut) => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const client = home.client();
    const count = 40_000;
    const whole = Array.from({ length: count }, (_line, at) => `line ${at + 1} ✓\n`).join('');
    // The last lines come when the connection was cut often enough: a flood that is over cannot be cut.
    const gate = join(home.home, 'gate');
    const lines = (from: number, to: number) => `for ((i=${from}; i<=${to}; i++)); do echo "line $i ✓"; done`;
    const gated = `${lines(1, count - 1000)}; until [ -e ${gate} ]; do sleep 0.02; done; ${lines(count - 999, count)}`;
    const flood = (code: number) => ({
      argv: ['bash', '-c', `stty -opost; ${gated}; exit ${code}`] as const,
      env,
    });
    const codes = [5, 6, 7];
    const floods = await Promise.all(codes.map((code) => client.open(flood(code), size, home.newId(), soon())));
    const reading = Promise.all(floods.map(rest));
    let leasedCuts = 0;
    for (let over = false; !over; ) {
      const isLeased = floods.some((flood) => flood.isLeased);
      if (isLeased) await links.cut(cut);
      leasedCuts += Number(isLeased);
      if (leasedCuts > 1) writeFileSync(gate, '');
      over = await Promise.race([reading.then(() => true), setTimeout(20 + leasedCuts * 15, false)]);
    }
    expect((await reading).map((text) => (text === whole ? 'whole' : `${text.length} bytes`))).toEqual(
      codes.map(() => 'whole'),
    );
    expect(await Promise.all(floods.map(({ ended }) => ended))).toEqual(codes.map((code) => ({ by: 'exit', code })));
  });

  test.each(ways)('%s, with input that waits for the program: it is typed once', async (_, cut) => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const client = home.client();
    const pasted = Array.from({ length: 7500 }, (_word, at) => String(at).padStart(7, '0')).join('\n');
    const { spawn, wake, typed } = sleeper(home, pasted.length + 6);
    const channel = await client.open(spawn, size, home.newId(), soon());
    const heard = listen(channel);
    await expect.poll(() => [channel.isLeased, heard.text]).toEqual([true, 'ready\n']);
    const writing = channel.write(Buffer.from(pasted));
    await links.cut(cut);
    const after = channel.write(Buffer.from(' after'));
    // Once more, when it waits in the keeper.
    await expect.poll(() => client.pid).toBeDefined();
    await links.cut(cut);
    await expect.poll(() => client.pid).toBeDefined();
    wake();
    await Promise.all([writing, after]);
    await expect.poll(() => typed().length).toBe(pasted.length + 6);
    expect(typed()).toBe(`${pasted} after`);
    await expect.poll(() => channel.isLeased).toBe(true);
  });

  test.each(ways)('%s, and the program ends before there is a new one: its last words and its code', async (_, cut) => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const client = home.client();
    const channel = await client.open(script('echo ready; read x; echo bye; exit 9'), size, home.newId(), soon());
    const heard = listen(channel);
    await expect.poll(() => [channel.isLeased, heard.text]).toEqual([true, 'ready\r\n']);
    const writing = channel.write(Buffer.from('\n'));
    await Promise.all([writing, links.cut(cut)]);
    expect(await channel.ended).toEqual({ by: 'exit', code: 9 });
    expect(heard.text).toBe('ready\r\n\r\nbye\r\n');
  });

  test.each(ways)('%s: what is asked for meanwhile is done when there is a new one', async (_, cut) => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const client = home.client();
    const open = async (text: string) => {
      const channel = await client.open(script(text), size, home.newId(), soon());
      const heard = listen(channel);
      await expect.poll(() => channel.isLeased && heard.text.includes('ready')).toBe(true);
      return { channel, heard };
    };
    const sized = await open('stty -echo; echo ready; while read x; do stty size; done');
    const killed = await open('echo ready; exec sleep 60');
    const closed = await open('echo ready; exec sleep 60');
    const over = await open('echo ready; read x');
    await over.channel.write(Buffer.from('\n'));
    await over.channel.ended;
    await links.cut(cut);
    expect(client.pid).toBeUndefined();
    await over.channel[Symbol.asyncDispose]();
    const closing = closed.channel[Symbol.asyncDispose]();
    const opening = client.open(script('exit 3'), size, home.newId(), soon());
    await killed.channel.kill('TERM');
    await sized.channel.resize({ cols: 101, rows: 33 });
    await sized.channel.write(Buffer.from('\n'));
    await expect.poll(() => sized.heard.text).toContain('33 101\r\n');
    expect(await killed.channel.ended).toEqual({ by: 'signal', signal: 'TERM' });
    await closing;
    expect(await closed.channel.ended).toEqual({ by: 'signal', signal: 'HUP' });
    const opened = await opening;
    expect(await opened.ended).toEqual({ by: 'exit', code: 3 });
    await client[Symbol.asyncDispose]();
    const kept = await home.client().find(soon());
    const pids = [sized.channel, killed.channel, opened].map(({ process }) => process.pid);
    expect(kept.map(({ listed }) => listed.pid)).toEqual(pids);
  });

  test.each(ways)('%s, with a terminal about to be opened: it is opened once', async (_, cut) => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const client = home.client();
    const cat = await client.open(script('exec cat'), size, home.newId(), soon());
    await expect.poll(() => cat.isLeased).toBe(true);
    const opened: KeeperChannel[] = [];
    for (let round = 0; round < 5; round++) {
      const marker = join(home.home, `opened-${round}`);
      const opening = client.open(script(`echo x >> ${marker}; exit 8`), size, home.newId(), soon());
      // Each time a little later: asked for, and then heard of.
      for (let turn = 0; turn <= round; turn++) await Promise.resolve();
      await links.cut(cut);
      const channel = await opening;
      expect(await channel.ended).toEqual({ by: 'exit', code: 8 });
      expect(readFileSync(marker, 'utf8')).toBe('x\n');
      opened.push(channel);
    }
    await client[Symbol.asyncDispose]();
    const kept = await home.client().find(soon());
    expect(kept.map(({ listed }) => listed.pid)).toEqual([cat, ...opened].map(({ process }) => process.pid));
  });

  test('an exception in the keeper costs the connection, and nothing else', async () => {
    using links = new KeeperLinks();
    await using home = new KeeperHome();
    const fault = join(home.home, 'fault.cjs');
    writeFileSync(fault, faulty);
    const [node, ...rest] = keeperProgram();
    const client = home.client({ program: [node, '--require', fault, ...rest] });
    const cat = await client.open(script('stty -echo; echo ready; exec cat'), size, home.newId(), soon());
    const heard = listen(cat);
    await expect.poll(() => [cat.isLeased, heard.text]).toEqual([true, 'ready\r\n']);
    const [keeper, before] = [client.pid, links.count];
    cat.conceal('some secret');
    // Both in one piece: what stands behind the mistake is not lost with it.
    links.newest.cork();
    links.newest.write(frame('want', 'fault'));
    const writing = cat.write(Buffer.from('behind it\n'));
    links.newest.uncork();
    await writing;
    await expect.poll(() => heard.text).toBe('ready\r\nbehind it\r\n');
    expect(client.pid).toBe(keeper);
    expect(links.count).toBeGreaterThan(before);
    expect(readFileSync(join(home.home, 'run', 'keeper-alpha.log'), 'utf8')).toContain('injected');
  });
});
