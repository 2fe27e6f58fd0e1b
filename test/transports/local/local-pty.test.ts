import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Channel } from '../../../src/engine/terminal/channel.ts';
import { type LocalTarget, ptyDriver } from '../../../src/transports/local/index.ts';
import { cpuTimer } from '../../support/clocks/cpu-timer.ts';
import { shortest } from '../../support/shortest.ts';

const size = { cols: 80, rows: 24 };
const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' };
const folder = mkdtempSync(join(tmpdir(), 'local-pty-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = (target: Partial<LocalTarget> & Pick<LocalTarget, 'argv'>): Promise<Channel> =>
  ptyDriver().open({ env, ...target }, size, AbortSignal.timeout(20_000));
const script = (text: string): Promise<Channel> => open({ argv: ['sh', '-c', text] });

class Text {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #text = '';

  constructor(channel: Channel) {
    this.#chunks = channel.output[Symbol.asyncIterator]();
  }

  async until(found: string): Promise<string> {
    while (!this.#text.includes(found)) {
      const { done, value } = await this.#chunks.next();
      if (done === true) throw new Error(`The output ended before ${found}: ${this.#text}`);
      this.#text += Buffer.from(value).toString();
    }
    const end = this.#text.indexOf(found) + found.length;
    const before = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return before;
  }
}

async function output(channel: Channel): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of channel.output) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString();
}

async function eventually(check: () => boolean): Promise<void> {
  const limit = Date.now() + 10_000;
  while (!check()) {
    if (Date.now() > limit) throw new Error('It never came true.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const descriptors = (): string[] => readdirSync('/proc/self/fd');
const exists = (pid: number): boolean => {
  try {
    // Whoever adopts orphans here may be slow to bury them.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

describe.runIf(process.platform === 'linux')('local pty on Linux', () => {
  it('loses no byte of 300 programs that end at once', { timeout: 180_000 }, async () => {
    let seed = 1;
    const lost: string[] = [];
    for (let round = 0; round < 300; round += 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      const length = 1_000 + (seed % 199_000);
      await using channel = await script(`head -c ${length} /dev/zero | tr '\\0' x`);
      const got = (await output(channel)).length;
      if (got !== length) lost.push(`${got} of ${length}`);
    }
    expect(lost).toEqual([]);
  });

  it('reports exit codes and signals', async () => {
    const ends = ['exit 0', 'exit 42', 'exit 255', 'kill -TERM $$', 'kill -KILL $$', 'kill -SEGV $$'];
    const channels = await Promise.all(ends.map(script));
    expect(await Promise.all(channels.map((channel) => channel.ended))).toEqual([
      { by: 'exit', code: 0 },
      { by: 'exit', code: 42 },
      { by: 'exit', code: 255 },
      { by: 'signal', signal: 'TERM' },
      { by: 'signal', signal: 'KILL' },
      { by: 'signal', signal: 'SEGV' },
    ]);
  });

  it('gives a child its terminal and nothing else, with 50 terminals open', { timeout: 120_000 }, async () => {
    const others = await Promise.all(Array.from({ length: 50 }, () => open({ argv: ['cat'] })));
    await using channel = await open({ argv: ['ls', '-l', '/proc/self/fd'] });
    const lines = (await output(channel)).split('\r\n').filter((line) => line.includes('->'));
    await Promise.all(others.map((other) => other[Symbol.asyncDispose]()));
    // The fourth is the directory that ls itself reads.
    expect(lines.map((line) => line.replace(/.* (\d+ -> \/\w+)\/.*/, '$1'))).toEqual([
      '0 -> /dev',
      '1 -> /dev',
      '2 -> /dev',
      '3 -> /proc',
    ]);
  });

  it('starts a session of its own with the terminal controlling, UTF-8 input and no blocked signals', async () => {
    await using channel = await script('stty -a; tty; cat /proc/self/stat; grep -E "SigBlk|SigIgn" /proc/self/status');
    const text = await output(channel);
    const pid = channel.process?.pid;
    expect(text).toMatch(/(?<!-)iutf8/);
    expect(text).toMatch(/(?<!-)icanon.* (?<!-)iexten/);
    expect(text).toMatch(/\/dev\/pts\/\d+/);
    expect(text).toContain(`R ${pid} ${pid} ${pid} `);
    expect(text.match(/Sig\w+:\t0+\r/g)).toHaveLength(2);
  });

  it('has the size asked for from the first moment, and tells the program of a new one', async () => {
    await using channel = await script(
      'stty size; trap "stty size; echo changed" WINCH; echo set; while :; do sleep 0.01; done',
    );
    const text = new Text(channel);
    expect(await text.until('set\r\n')).toContain('24 80');
    await channel.resize?.({ cols: 132, rows: 43 });
    expect(await text.until('changed')).toContain('43 132');
    await expect(channel.resize?.({ cols: 0, rows: 43 })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('R-TERM-100 R-RPC-023 says what is wrong with a program or directory that cannot be used', async () => {
    const plain = join(folder, 'plain');
    const broken = join(folder, 'broken');
    writeFileSync(plain, 'text');
    writeFileSync(broken, '#!/no/such/interpreter\n', { mode: 0o755 });
    const before = descriptors().length;
    for (const [target, message] of [
      [{ argv: ['no-such-program'] }, 'Program not found: no-such-program.'],
      [{ argv: ['/no/such/program'] }, 'Program not found: /no/such/program.'],
      [{ argv: [plain] }, `${plain} is not an executable file.`],
      [{ argv: [folder] }, `${folder} is not an executable file.`],
      [{ argv: [broken] }, `${broken} could not be started (ENOENT).`],
      [{ argv: ['sh'], cwd: plain }, `The working directory ${plain} is not a directory.`],
      [{ argv: ['sh'], cwd: '/no/such' }, 'The working directory /no/such does not exist.'],
      [{ argv: ['sh', 'a\0b'] }, 'An argument, the directory or the environment contains a NUL byte.'],
    ] as const) {
      const error = { code: 'invalid_input', message, hint: expect.any(String) };
      await expect(open(target as Pick<LocalTarget, 'argv'>)).rejects.toMatchObject(error);
    }
    // Whoever runs the tests may open a file of his own meanwhile.
    await eventually(() => descriptors().length <= before);
  });

  it('runs in the directory and with exactly the environment it is given', async () => {
    await using channel = await open({
      argv: ['env'],
      cwd: folder,
      env: { PATH: env.PATH, GREETING: 'grüß = "dich"' },
    });
    expect(await output(channel)).toBe(`PATH=${env.PATH}\r\nGREETING=grüß = "dich"\r\n`);
    await using where = await open({ argv: ['pwd'], cwd: folder });
    expect(await output(where)).toBe(`${folder}\r\n`);
  });

  it('R-TERM-141 starts nothing for a caller who has hung up', async () => {
    const opening = ptyDriver().open({ argv: ['cat'], env }, size, AbortSignal.abort());
    await expect(opening).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('R-RPC-027 R-RPC-028 sees who is in the foreground, where, and whether it echoes', async () => {
    await using channel = await open({ argv: ['bash', '--norc', '--noprofile'], cwd: folder });
    const view = channel.process;
    const text = new Text(channel);
    await channel.write(Buffer.from("PS1='rea''dy> '\r"));
    await text.until('ready> ');
    await eventually(() => view?.foreground()?.isLeader === true);
    expect(view?.foreground()).toMatchObject({ pid: view?.pid, name: 'bash', isLeader: true });
    expect(view?.cwd()).toBe(folder);
    await channel.write(Buffer.from('(cd / && exec sleep 100)\r'));
    await eventually(() => view?.foreground()?.name === 'sleep' && view.cwd() === '/');
    expect(view?.foreground()?.isLeader).toBe(false);
    await channel.kill?.('INT');
    await text.until('ready> ');
    await channel.write(Buffer.from('read -s -p "pass""word: "\r'));
    await text.until('password: ');
    await eventually(() => view?.inputMode() === 'hidden');
    await channel.write(Buffer.from('secret\rcat\r'));
    await eventually(() => view?.foreground()?.name === 'cat' && view.inputMode() === 'lines');
    // A name that was known is looked up anew: the shell may become another program, and end.
    await channel.write(Buffer.from('\x04'));
    await eventually(() => view?.foreground()?.name === 'bash');
    await channel.write(Buffer.from('exec sleep 100\r'));
    await eventually(() => view?.foreground()?.name === 'sleep' && view.foreground()?.isLeader === true);
    await channel[Symbol.asyncDispose]();
    expect(view?.foreground()).toBeUndefined();
  });

  it('R-TERM-140 ends everything it started: jobs in the background, stopped ones, and those that ignore HUP', async () => {
    const channel = await open({ argv: ['bash', '--norc', '--noprofile', '-m', '-i'] });
    const text = new Text(channel);
    await channel.write(
      Buffer.from("sleep 1000 & echo A$!A; sh -c 'kill -STOP $$; sleep 1000' & echo B$!B; trap '' HUP; echo C$$C\r"),
    );
    const shown = await text.until(`C${channel.process?.pid}C`);
    const pids = [/A(\d+)A/, /B(\d+)B/, /C(\d+)C/].map((pattern) => Number(pattern.exec(shown)?.[1]));
    expect(pids.every(exists)).toBe(true);
    await channel[Symbol.asyncDispose]();
    expect(await channel.ended).toEqual({ by: 'signal', signal: 'KILL' });
    await eventually(() => !pids.some(exists));
  });

  it('R-TERM-140 ends the job in the foreground when only its shell obeys HUP', async () => {
    const channel = await open({ argv: ['bash', '--norc', '--noprofile', '-i'] });
    await channel.write(Buffer.from(`sh -c 'trap "" HUP; echo J$$J; sleep 1000; :'\r`));
    const job = Number(/J(\d+)J/.exec(await new Text(channel).until('J\r\n'))?.[1]);
    await channel[Symbol.asyncDispose]();
    await eventually(() => !exists(job));
  });

  it('finishes when its child has ended though a grandchild lives on', async () => {
    await using channel = await script("trap '' HUP; (sleep 1000; echo never) & echo $!; echo said");
    const text = await output(channel);
    expect(text).toContain('said');
    expect(await channel.ended).toEqual({ by: 'exit', code: 0 });
    expect(exists(Number.parseInt(text, 10))).toBe(true);
    // The whole group: the subshell has a child of its own.
    process.kill(-(channel.process?.pid ?? Number.NaN), 'SIGKILL');
  });

  it('still hears a child that closed its descriptors and opened the terminal again', async () => {
    await using channel = await script(
      'exec <&- >&- 2>&-; sleep 0.2; exec >/dev/tty; echo back; seq 1 50000; echo end',
    );
    const text = await output(channel);
    expect(text).toContain('back\r\n1\r\n');
    expect(text).toContain('50000\r\nend\r\n');
  });

  it('flush makes available what was already written', async () => {
    await using channel = await script('stty raw -echo; echo up; head -c 3 >/dev/null; echo pong; exec cat');
    const chunks = channel.output[Symbol.asyncIterator]();
    await chunks.next();
    await channel.write(Buffer.from('abc'));
    const state = (): string => readFileSync(`/proc/${channel.process?.pid}/comm`, 'utf8');
    // Without a turn of the event loop between the answer and the flush, only the flush can have read it.
    while (state() !== 'cat\n');
    void channel.flush?.();
    const read = await Promise.race([chunks.next(), Promise.resolve('nothing')]);
    expect(read).toMatchObject({ value: expect.any(Uint8Array) });
  });

  it('leaves no zombie, no listener, no descriptor after 200 terminals', { timeout: 240_000 }, async () => {
    await (await script('exit 0')).ended;
    const before = descriptors().length;
    const pids: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const channels = await Promise.all(Array.from({ length: 10 }, (_, n) => script(n % 2 === 0 ? 'exit 3' : 'cat')));
      for (const { process: view } of channels) if (view !== undefined) pids.push(view.pid);
      await Promise.all(channels.map((channel) => channel[Symbol.asyncDispose]()));
    }
    expect(pids.filter(exists)).toEqual([]);
    await eventually(() => descriptors().length <= before);
    expect(process.listenerCount('SIGCHLD')).toBe(0);
  });

  it("leaves Node's own children to Node", async () => {
    await using channel = await script('exec cat');
    const child = spawn('sh', ['-c', 'exit 9']);
    expect((await once(child, 'exit'))[0]).toBe(9);
    await channel.kill?.('TERM');
    expect(await channel.ended).toEqual({ by: 'signal', signal: 'TERM' });
  });

  it.each([
    ['a job that ignores HUP', "(trap '' HUP; exec sleep 1044) & echo pid=$!."],
    ['a job under nohup', 'nohup sleep 1099 >/dev/null 2>&1 & echo pid=$!.'],
    ['a job that ignores HUP and TERM', "(trap '' HUP TERM; exec sleep 1045) & echo pid=$!."],
    ['a job in the group of its shell', "set +m; (trap '' HUP; exec sleep 1046) & echo pid=$!."],
  ])('R-TERM-140 closing ends %s, in time', async (_name, command) => {
    const close = async (): Promise<number> => {
      const channel = await open({ argv: ['bash', '--norc', '-i'] });
      const text = new Text(channel);
      await channel.write(Buffer.from(`${command}\r`));
      // The echo of the command holds `pid=$!.`, not a number.
      let pid = '';
      while (pid === '') {
        await text.until('pid=');
        pid = /^(\d+)\.$/.exec(await text.until('.'))?.[1] ?? '';
      }
      // Before that it has not yet said what it ignores.
      await eventually(() => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'sleep\n');
      const from = performance.now();
      await channel[Symbol.asyncDispose]();
      const took = performance.now() - from;
      await eventually(() => !exists(Number(pid)));
      return took;
    };
    expect(await shortest(1400, close)).toBeLessThan(1400);
  });

  it('a shell that exits by itself leaves its nohup jobs alive, also when the terminal is closed later', async () => {
    const channel = await open({ argv: ['bash', '--norc', '-i'] });
    const text = new Text(channel);
    await channel.write(Buffer.from('nohup sleep 1098 >/dev/null 2>&1 & echo pid=$!. ; exit 0\r'));
    let pid = 0;
    while (pid === 0) {
      await text.until('pid=');
      pid = Number(/^(\d+)\.$/.exec(await text.until('.'))?.[1] ?? 0);
    }
    try {
      expect(await channel.ended).toEqual({ by: 'exit', code: 0 });
      await channel[Symbol.asyncDispose]();
      expect(exists(pid)).toBe(true);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  it('adds no thread per terminal', async () => {
    await (await script('exit 0')).ended;
    const threads = (): number => readdirSync('/proc/self/task').length;
    const before = threads();
    const channels = await Promise.all(Array.from({ length: 20 }, () => open({ argv: ['cat'] })));
    // Node may start the few of its own pool at any time.
    expect(threads()).toBeLessThanOrEqual(before + 4);
    await Promise.all(channels.map((channel) => channel[Symbol.asyncDispose]()));
  });

  it('stays idle while a paste waits for a child that never reads', async () => {
    await using channel = await script('stty raw -echo; echo ready; exec sleep 1000');
    const text = new Text(channel);
    await text.until('ready');
    let accepted = false;
    const paste = channel.write(new Uint8Array(200_000).fill(0x61)).then(
      () => {
        accepted = true;
      },
      (error: unknown) => error,
    );
    const [spent, before] = [cpuTimer(), performance.eventLoopUtilization()];
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { utilization } = performance.eventLoopUtilization(before);
    expect(accepted).toBe(false);
    // The bench holds the tight bars; a shared machine gets some slack here. Neither busy, nor held up by anything.
    expect(spent()).toBeLessThan(200);
    expect(utilization).toBeLessThan(0.5);
    await channel.kill?.('KILL');
    expect(await paste).toMatchObject({ code: 'terminal_exited' });
  });

  it('delivers a large paste whole to a child that reads', async () => {
    await using channel = await script('stty raw -echo; echo ready; head -c 1000000 | cksum');
    const text = new Text(channel);
    await text.until('ready');
    await channel.write(new Uint8Array(1_000_000).fill(0x61));
    expect(await text.until('1000000')).toContain('1000000');
  });
});
