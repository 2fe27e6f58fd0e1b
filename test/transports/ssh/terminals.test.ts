import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { close, list, open } from '../../../src/operations/core/lifecycle.ts';
import { record, screenshot } from '../../../src/operations/core/pictures.ts';
import { find, read } from '../../../src/operations/core/read.ts';
import { run } from '../../../src/operations/core/run.ts';
import { send } from '../../../src/operations/core/send.ts';
import { wait } from '../../../src/operations/core/wait.ts';
import { ssh } from '../../../src/transports/ssh/index.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { callerOf } from '../../support/ssh/remote.ts';
import { Tile } from '../../support/tile.ts';
import { sshEngine } from '../../support/ssh/home.ts';
import { withSshd } from '../../support/ssh/login.ts';
import { isRoot, type Sshd, startSshd } from '../../support/ssh/sshd.ts';

let sshd: Sshd;
let folder: string;
let engine: Engine;

withSshd((started) => (sshd = started));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-over-ssh-'));
  engine = sshEngine(sshd, folder);
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Facts {
  readonly [name: string]: unknown;
  readonly terminal: string;
}

/** A tool of the core book, as a client of this principal calls it. */
async function use(op: AnyOperation, input: object, principal = 'me'): Promise<Facts> {
  const signal = AbortSignal.timeout(30_000);
  return (await call(op, input, { engine, caller: callerOf(principal), signal })) as Facts;
}

const far = (more: object = {}): Promise<Facts> => use(open, { target: 'ssh:far', shell: 'bash', ...more });

test('every run tells the directory that the far shell tells with its next prompt', async () => {
  const { terminal } = await far();
  for (const cwd of ['/usr', '/usr/bin', '/', '/usr', '/etc', '/']) {
    expect(await use(run, { terminal, command: `cd ${cwd}` })).toMatchObject({ state: 'done', exitCode: 0, cwd });
    expect(await use(run, { terminal, command: 'false' })).toMatchObject({ state: 'done', exitCode: 1, cwd });
  }
});

test.each([['bash'], ['/bin/dash']])(
  'a tile shows state, title and bytes of %s over SSH from one stream',
  async (shell) => {
    const { terminal } = await use(open, { target: 'ssh:far', shell }, localPerson.principal);
    const tile = new Tile();
    const leaving = new AbortController();
    const shown = tile.show(engine, terminal, leaving.signal);
    const type = (input: object) => use(send, { terminal, ...input }, localPerson.principal);
    const soon = { timeout: 15_000 };
    await expect.poll(() => tile.state, soon).toBe('idle');
    await type({ text: "printf '\\033]0;named\\007'; echo by''tes; sleep 60" });
    await expect.poll(() => tile.title, soon).toBe('named');
    await expect.poll(() => tile.bytes, soon).toContain('bytes\r\n');
    await expect.poll(() => tile.state, soon).toBe('running');
    await type({ keys: ['Ctrl+C'] });
    await expect.poll(() => tile.state, soon).toBe('idle');
    leaving.abort();
    await shown;
  },
);

test('run, wait, blocks, find, send, screenshot, recording: the core book as it is', async () => {
  const { terminal, ...opened } = await far({ name: 'there' });
  expect(opened).toMatchObject({ target: 'ssh:far', name: 'there', program: 'bash', state: 'idle' });
  expect(opened).not.toHaveProperty('pid');
  await use(record, { action: 'start', terminal });
  expect(await use(run, { terminal, command: 'cd / && echo "$SSH_CONNECTION" && (exit 7)' })).toMatchObject({
    state: 'done',
    exitCode: 7,
    output: expect.stringMatching(/^127\.0\.0\.1 /),
    evidence: 'mark',
    confidence: 'certain',
  });
  expect(await use(run, { terminal, command: 'seq 100 | sed s/^/row-/' })).toMatchObject({ exitCode: 0 });
  expect(await use(find, { terminal, pattern: 'row-42' })).toMatchObject({ total: 1 });
  expect(await use(read, { terminal, view: 'command' })).toMatchObject({
    command: { command: 'seq 100 | sed s/^/row-/', exitCode: 0, cwd: '/' },
  });
  await use(send, { terminal, text: 'sleep 0.3; echo do""ne' });
  expect(await use(wait, { terminal, text: 'done' })).toMatchObject({ hit: 'text' });
  expect(await use(wait, { terminal, prompt: true })).toMatchObject({ hit: 'prompt' });
  const { bytes } = (await use(screenshot, { terminal })) as unknown as { bytes: Uint8Array };
  expect(Buffer.from(bytes.subarray(1, 4)).toString()).toBe('PNG');
  const { recordings } = (await use(record, { action: 'stop', terminal })) as unknown as {
    recordings: { path: string }[];
  };
  expect(readFileSync(recordings[0]?.path ?? '', 'utf8')).toContain('row-42');
  const { terminals } = (await use(list, {})) as unknown as { terminals: Facts[] };
  expect(terminals).toMatchObject([{ terminal, cwd: '/', state: 'idle' }]);
  await use(close, { terminal });
  expect(engine.terminals).toEqual([]);
});

test('9.3: who opens a terminal is told of a key that is new, once, and of keys that are not checked, each time', async () => {
  const words = open.render as (output: Facts) => string;
  const fresh = join(folder, 'known_hosts');
  const first = async (policy: 'accept-new' | 'off'): Promise<Facts> => {
    await using own = sshEngine(sshd, folder, sshd.user, { knownHostsFile: fresh, hostKeyPolicy: policy });
    const signal = AbortSignal.timeout(30_000);
    const context = { engine: own, caller: callerOf('me'), signal };
    const opened = (await call(open, { target: 'ssh:far' }, context)) as unknown as Facts;
    // The second is on the same session.
    expect(await call(open, { target: 'ssh:far' }, context)).not.toHaveProperty('notes');
    return opened;
  };
  const place = `127.0.0.1:${sshd.port}`;
  for (let times = 0; times < 2; times += 1) {
    expect((await first('off'))['notes']).toEqual([
      `the key of [127.0.0.1]:${sshd.port} is not on record; host keys are not checked (policy off)`,
    ]);
  }
  const told = await first('accept-new');
  const note = expect.stringMatching(`^the key of ${place} was not known and is now recorded: SHA256:\\S{43}$`);
  expect(told['notes']).toEqual([note]);
  expect(words(told).split('\n')[1]).toMatch(/^Note: the key of /);
  expect(await first('accept-new')).not.toHaveProperty('notes');
});

test.runIf(isRoot).each([
  ['password', { password: true }, (user: string) => `${user}@127.0.0.1's password:`],
  [
    'keyboard-interactive',
    { keyboardInteractive: true },
    (user: string, port: number) => `${user}@127.0.0.1:${port}: Password:`,
  ],
] as const)('9.1: what the person is asked names the login once (%s)', async (_, options, prompt) => {
  await using closed = await startSshd({ ...options, config: ['PubkeyAuthentication no'] });
  await using own = sshEngine(closed, folder);
  const context = { engine: own, caller: callerOf('me'), signal: AbortSignal.timeout(30_000) };
  await expect(call(open, { target: 'ssh:far' }, context)).rejects.toMatchObject({ code: 'needs_person' });
  const [question] = own.questions.list();
  const login = `${closed.user}@127.0.0.1:${closed.port}`;
  expect(question).toMatchObject({ kind: 'password', subject: login, prompt: prompt(closed.user, closed.port) });
  own.questions.answer(question?.id ?? '', closed.password);
  expect(await call(open, { target: 'ssh:far' }, context)).toMatchObject({ state: 'idle' });
});

test('without a shell named it is the login shell, by its name', async () => {
  expect(await use(open, { target: `ssh:${sshd.user}@far` })).toMatchObject({ program: '/bin/bash', state: 'idle' });
});

test('terminals to one host share a session, and it has business as long as one lives', async () => {
  const [first, second] = await Promise.all([far(), far()]);
  const sessions = engine.service(ssh).sessions.all('me');
  expect(sessions).toHaveLength(1);
  expect(sessions[0]?.count('shell')).toBe(2);
  for (const { terminal } of [first, second]) await use(close, { terminal });
  expect(sessions[0]).toMatchObject({ busy: false, ended: undefined });
});

test('two principals: each its own session, and neither sees the other', async () => {
  const { terminal } = await far();
  const other = await use(open, { target: 'ssh:far', shell: 'dash' }, 'somebody else');
  expect((await use(list, {}, 'somebody else'))['terminals']).toMatchObject([{ terminal: other.terminal }]);
  await expect(use(run, { terminal, command: 'id' }, 'somebody else')).rejects.toMatchObject({
    code: 'terminal_not_found',
  });
  expect(engine.service(ssh).sessions.all('me')).toHaveLength(1);
  expect(engine.service(ssh).sessions.all('somebody else')).toHaveLength(1);
});

test('the exit code of the shell, and of a program', async () => {
  const { terminal } = await far();
  expect(await use(run, { terminal, command: 'exit 5' })).toMatchObject({ state: 'exited', exitCode: 5 });
  const program = await use(open, { target: 'ssh:far', argv: ['sh', '-c', 'echo "$1"; exit 4', 'x', `it's`] });
  const { terminals } = (await use(list, {})) as unknown as { terminals: Facts[] };
  await use(wait, { terminal: program.terminal, exit: true });
  expect(terminals).toHaveLength(2);
  expect(await use(read, { terminal: program.terminal })).toMatchObject({ text: `it's` });
});

test('a link that breaks: the terminal is lost, and says so', async () => {
  const { terminal } = await far();
  const running = use(run, { terminal, command: "echo it be''gan; sleep 30" });
  await use(wait, { terminal, text: 'it began' });
  sshd.cut();
  expect(await running).toMatchObject({ state: 'exited', exitCode: null, output: 'it began', evidence: 'none' });
  expect((await use(list, {}))['terminals']).toMatchObject([{ terminal, state: 'lost', exitCode: null }]);
  expect(await use(read, { terminal })).toMatchObject({ text: expect.stringContaining('it began') });
  // The next one connects anew.
  expect(await far()).toMatchObject({ state: 'idle' });
});

test('what only looks like a prompt gets no command, and one that rests does', async () => {
  const { terminal } = await far();
  // What prints is what sleeps: see the next test.
  const command = `sh -c "printf 'Loading 50%% '; exec sleep 600"`;
  expect(await use(run, { terminal, command, timeoutMs: 300 })).toMatchObject({ state: 'running' });
  expect(await use(wait, { terminal, text: 'Loading 50% ' })).toMatchObject({ hit: 'text' });
  await expect(use(run, { terminal, command: 'echo lost' })).rejects.toMatchObject({ code: 'conflict' });
  await use(send, { terminal, keys: ['Ctrl+C'] });
  expect(await use(run, { terminal })).toMatchObject({ state: 'done', exitCode: 130 });
  expect(await use(run, { terminal, command: 'dash' })).toMatchObject({
    state: 'running',
    evidence: 'quiet',
    confidence: 'low',
  });
  expect(await use(run, { terminal, command: 'echo nested; (exit 9)' })).toMatchObject({
    exitCode: 9,
    output: 'nested',
  });
  expect(await use(run, { terminal, command: 'exit 3' })).toMatchObject({ state: 'done', exitCode: 3 });
});

test('resize, and Ctrl-C past input nobody reads', async () => {
  const { terminal: id } = await far({ cols: 100, rows: 30 });
  expect(await use(run, { terminal: id, command: 'stty size' })).toMatchObject({ output: '30 100' });
  const terminal = engine.terminals[0];
  await terminal?.resize({ cols: 90, rows: 20 }, AbortSignal.timeout(10_000));
  expect(await use(run, { terminal: id, command: 'stty size' })).toMatchObject({ output: '20 90' });
  // Not as it is typed: the line is shown before the shell has it. And what prints is what sleeps: Ctrl-C in the moment
  // in which bash starts a program is for bash, which lets that program run.
  const running = use(run, { terminal: id, command: `sh -c 'echo be""gun; exec sleep 600'` });
  await use(wait, { terminal: id, text: 'begun' });
  await use(send, { terminal: id, keys: ['Ctrl+C'] });
  expect(await running).toMatchObject({ state: 'done', exitCode: 130 });
});

test.runIf(isRoot)('a password asked at the far side needs a person, by its text alone', async () => {
  const { terminal } = await far();
  const asked = await use(run, { terminal, command: 'su root -c id' });
  expect(asked).toMatchObject({
    state: 'needs_person',
    person: { kind: 'password', prompt: 'Password:', secret: true },
  });
  expect((await use(list, {}))['terminals']).toMatchObject([{ state: 'needs_person' }]);
  // A letter is no answer yet: the question stands until its line is entered.
  await engine.terminals[0]?.input.send(Buffer.from('x'), 'person', AbortSignal.timeout(10_000));
  expect((await use(list, {}))['terminals']).toMatchObject([{ state: 'needs_person' }]);
  await use(send, { terminal, keys: ['Enter'] });
  expect(await use(run, { terminal })).toMatchObject({
    state: 'done',
    exitCode: 1,
    output: expect.stringMatching(/fail/i),
  });
});

test('what can be opened: the form, and the hosts of the SSH config', async () => {
  writeFileSync(
    join(sshd.home, '.ssh', 'config'),
    'Host db\n  HostName db.example\n  User alice\n  Port 2222\nHost *\n',
  );
  expect((await engine.describeTargets()).targets).toEqual([
    { target: 'ssh:user@host[:port]', summary: 'a shell or program on that host', isPattern: true },
    { target: 'ssh:db', summary: 'alice@db.example:2222', address: 'db.example:2222', user: 'alice' },
  ]);
});

test.each([
  ['ssh:', /^"ssh:" names no host\.$/],
  ['ssh:@host', /^"ssh:@host" names no host\.$/],
  ['ssh:me@', /^"ssh:me@" names no host\.$/],
  ['ssh:me@host:99999', /99999/],
  ['ssh:-oProxyCommand=x', /not a host name/],
])('%s is refused', async (target, message) => {
  await expect(use(open, { target })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(message),
  });
});

test('what is not at the far side is named, and no terminal is left', async () => {
  await expect(far({ cwd: '/no/such/place' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'The far side has no folder /no/such/place.',
  });
  await expect(far({ env: { 'A=B;id': 'x' } })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(far({ env: { 'A;id': 'x' } })).rejects.toMatchObject({
    code: 'invalid_input',
    message: '"A;id" is not a name for an environment variable.',
  });
  expect(engine.terminals).toEqual([]);
  expect(engine.service(ssh).sessions.all('me')).toMatchObject([{ busy: false }]);
});

test('a forced command has the terminal: no marks, and it works', async () => {
  await using forced = await startSshd({ config: ['ForceCommand read -p "menu> " x; echo "chose $x"; sleep 30'] });
  await using other = sshEngine(forced, folder);
  const terminal = await other.open({ target: 'ssh:far', size: { cols: 80, rows: 24 } }, AbortSignal.timeout(30_000));
  expect(terminal.blocks.marked).toBe(false);
  await terminal.input.send(Buffer.from('3\r'), 'me', AbortSignal.timeout(10_000));
  const said = (): string => Buffer.from(terminal.log.read(0).bytes).toString();
  await expect.poll(said, { timeout: 20_000 }).toMatch(/^menu> 3\r\nchose 3/);
}, 60_000);

test('an account that takes no commands: what it gives instead, at once', async () => {
  await using forced = await startSshd({ config: ['ForceCommand echo "No shells here."; exit 9'] });
  await using other = sshEngine(forced, folder);
  const request = { target: 'ssh:far', size: { cols: 80, rows: 24 } };
  const terminal = await other.open(request, AbortSignal.timeout(30_000));
  expect(await terminal.whenEnded).toEqual({ by: 'exit', code: 9 });
  expect(Buffer.from(terminal.log.read(0).bytes).toString()).toBe('No shells here.\r\n');
  await expect(other.open({ ...request, cwd: '/' }, AbortSignal.timeout(30_000))).rejects.toMatchObject({
    code: 'unsupported',
    message: 'This host gives a login and nothing else: it takes no cwd.',
  });
});
