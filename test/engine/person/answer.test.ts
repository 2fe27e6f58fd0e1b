import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { call } from '../../../src/engine/call/call.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { defineBook, operation, stream } from '../../../src/engine/call/operation.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { waitingPrograms } from '../../../src/engine/person/answer.ts';
import { answer as personAnswer } from '../../../src/operations/person/index.ts';
import { watchAttention } from '../../support/attention.ts';
import { SocketClient } from '../../../src/faces/socket/client.ts';
import { SocketServer } from '../../../src/faces/socket/server.ts';
import { keys, never, screenText, Workplace } from '../../support/prompt-desk.ts';
import { Mcp } from '../../support/mcp-client.ts';
import { typeText } from '../../../src/engine/input/typing.ts';
import { deferred } from '../../../src/lib/deferred.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'fairlead.js');
const secret = 'corréct-hörse-42';
const digest = createHash('sha256').update(secret).digest('hex');

async function fairlead(home: string, args: readonly string[], input?: string) {
  const child = spawn(process.execPath, [program, 'answer', ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, FAIRLEAD_HOME: join(home, '.fairlead') },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.end(input ?? '');
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

/** Every file below a folder, as bytes. */
function* contents(folder: string): Generator<[path: string, bytes: Buffer]> {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) yield [path, readFileSync(path)];
  }
}

// Shows that it has it, then prints it, once in one piece and once in two.
const asks =
  'read -rs -p \'Password: \' pw; echo; printf %s "$pw" | sha256sum; echo "[$pw]"; ' +
  'printf %s "<${pw:0:7}"; printf "%s>\\n" "${pw:7}"';

async function waits(mcp: Mcp): Promise<void> {
  await expect.poll(async () => (await fairlead(mcp.home, ['--list'])).code).toBe(0);
}

describe('fairlead answer', () => {
  test('a secret reaches the program and nothing else: no answer, no recording, no file, no log', async () => {
    await using mcp = await Mcp.start({ args: ['--record', '--record-dir', '.'] });
    await mcp.call('startRecording', { input: true, outputDir: mcp.home });
    await mcp.call('type', { text: asks, submit: true });
    await waits(mcp);
    const listed = await fairlead(mcp.home, ['--list', '--json']);
    expect(JSON.parse(listed.out)).toMatchObject({
      waiting: [{ kind: 'password', prompt: 'Password:', secret: true, pid: mcp.child.pid }],
    });
    const answered = await fairlead(mcp.home, ['--json'], `${secret}\n`);
    expect(answered).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(answered.out)).toMatchObject({ answered: true, kind: 'password' });
    const seen = await mcp.facts<{ content: string }>('getContent', { waitFor: '<•••>', timeoutMs: 20_000 });
    expect(seen.content).toContain(`${digest}  -\n[•••]\n<•••>`);
    await mcp.end();
    expect(answered.out + mcp.lines.join('\n') + mcp.stderr).not.toContain(secret);
    const casts = [...contents(mcp.home)].filter(([path, bytes]) => {
      expect(bytes.includes(secret), path).toBe(false);
      return path.endsWith('.cast');
    });
    expect(casts.length).toBeGreaterThan(0);
    for (const [, cast] of casts) expect(cast.includes(digest)).toBe(true);
  });

  test('a person types it at a terminal: nothing is shown, corrections work', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('type', { text: asks, submit: true });
    await waits(mcp);
    await using place = await Workplace.open();
    const person = await place.shell();
    const variables = `HOME=${mcp.home} FAIRLEAD_HOME=${mcp.home}/.fairlead NO_COLOR=1`;
    await typeText(person, `${variables} ${process.execPath} ${program} answer`, keys, never);
    await expect.poll(() => screenText(person)).toContain('(your answer is not shown)');
    await person.input.send(Buffer.from(`wrong\x15${secret}é\x7f\r`), 'person', never);
    await expect.poll(() => screenText(person)).toContain('Typed into terminal');
    expect(await screenText(person)).toMatch(/asks:\n {2}Password:\n\(your answer is not shown\)\n\nTyped into/);
    expect(person.blocks.last?.exitCode ?? 0).toBe(0);
    expect(await mcp.facts('getContent', { waitFor: digest, timeoutMs: 20_000 })).toMatchObject({ matched: true });
  });

  test('exit codes: 3 nothing runs, 4 nothing waits, 2 nothing said or too much; questions in the open', async () => {
    await using mcp = await Mcp.start();
    await expect.poll(async () => (await fairlead(mcp.home, [], 'x')).code).toBe(4);
    expect(await fairlead(mcp.home, ['nosuch'], 'x')).toMatchObject({ code: 4 });
    const { sessionId } = await mcp.facts<{ sessionId: string }>('createSession', { name: 'second' });
    await mcp.call('type', { text: 'read -p "Remove 3 packages? [y/N] " a; echo "<$a>"', submit: true });
    await mcp.call('type', { text: 'read -p "Really? (yes/no) " a; echo "<$a>"', submit: true, sessionId });
    await expect
      .poll(async () => JSON.parse((await fairlead(mcp.home, ['--list', '--json'])).out).waiting.length)
      .toBe(2);
    const both = await fairlead(mcp.home, [], 'y');
    expect(both.code).toBe(2);
    expect(both.err).toMatch(/Remove 3 packages\? \[y\/N\][^]*Really\? \(yes\/no\)[^]*Several questions wait/);
    expect(await fairlead(mcp.home, ['second'], '')).toMatchObject({ code: 2 });
    expect(await fairlead(mcp.home, ['second'], 'yes\n')).toMatchObject({ code: 0 });
    expect(await mcp.facts('getContent', { sessionId, waitFor: '<yes>', timeoutMs: 20_000 })).toMatchObject({
      matched: true,
    });
    expect(await fairlead(mcp.home, [], 'n')).toMatchObject({ code: 0 });
    expect(await mcp.facts('getContent', { waitFor: '<n>', timeoutMs: 20_000 })).toMatchObject({ matched: true });
    await mcp.end();
    expect(await fairlead(mcp.home, [], 'x')).toMatchObject({
      code: 3,
      err: expect.stringContaining('You have no running Fairlead server'),
    });
  });
});

describe('a process that cannot be understood', () => {
  const talksNonsense = async (path: string, line: string) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(`${line}\n`));
    });
    server.listen(path);
    await once(server, 'listening');
    return server;
  };

  test.each(['{"id":1,', 'null', '[]', '{"id":"1"}'])(
    '%s ends the connection, and the error says why',
    async (line) => {
      await using place = await Workplace.open();
      const path = join(place.home, 'a.sock');
      const server = await talksNonsense(path, line);
      await using client = await SocketClient.connect(path, never);
      const nonsense = { code: 'unavailable', message: 'The other process answered with a line that is no reply.' };
      await expect(client.request('ping', {}, AbortSignal.timeout(15_000))).rejects.toMatchObject(nonsense);
      await expect(client.request('ping', {}, AbortSignal.timeout(15_000))).rejects.toMatchObject(nonsense);
      server.close();
    },
  );

  test('is named by `fairlead answer`, and hides nobody else', async () => {
    await using mcp = await Mcp.start();
    const run = join(mcp.home, '.fairlead', 'run');
    await expect.poll(() => existsSync(join(run, `${mcp.child.pid}.sock`))).toBe(true);
    const server = await talksNonsense(join(run, '77.sock'), 'nonsense');
    const told = 'Process 77 did not answer: The other process answered with a line that is no reply.';
    expect(await fairlead(mcp.home, ['--list'])).toMatchObject({ code: 3, err: expect.stringContaining(told) });
    await mcp.call('type', { text: 'read -p "Really? (yes/no) " a', submit: true });
    await waits(mcp);
    expect(await fairlead(mcp.home, ['--list'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Really?'),
      err: expect.stringContaining(told),
    });
    server.close();
  });

  test('a terminal that cannot be looked at hides no other', async () => {
    await using place = await Workplace.open();
    const [broken, asking] = [await place.shell(), await place.shell()];
    await typeText(asking, 'read -p "Really? (yes/no) " a', keys, never);
    await watchAttention(asking, AbortSignal.timeout(15_000));
    const sync = vi.spyOn(broken, 'sync').mockRejectedValue(new Error('broken'));
    expect(await waitingPrograms(place.engine.terminals, never)).toMatchObject([
      { terminal: asking.id, kind: 'yes_no' },
    ]);
    sync.mockRestore();
  });
});

describe('R-TERM-020, R-TERM-021: the socket', () => {
  test('is private, goes with its process, and a dead one is cleared away', async () => {
    await using mcp = await Mcp.start();
    const run = join(mcp.home, '.fairlead', 'run');
    const path = join(run, `${mcp.child.pid}.sock`);
    await expect.poll(() => existsSync(path)).toBe(true);
    await expect.poll(() => statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(run).mode & 0o777).toBe(0o700);
    const dead = join(run, '999999.sock');
    const socket = spawn(process.execPath, ['-e', `require('net').createServer().listen(${JSON.stringify(dead)})`]);
    await expect.poll(() => existsSync(dead)).toBe(true);
    socket.kill('SIGKILL');
    await once(socket, 'exit');
    expect(await fairlead(mcp.home, ['--list'])).toMatchObject({ code: 4 });
    expect(existsSync(dead)).toBe(false);
    await mcp.end();
    expect(existsSync(path)).toBe(false);
  });

  test('a folder that others may enter is not used, and one warning says so', async () => {
    const run = (home: string): string => join(home, '.fairlead', 'run');
    await using mcp = await Mcp.raw({ prepare: (home) => mkdir(run(home), { recursive: true, mode: 0o755 }) });
    await mcp.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    await expect
      .poll(() => mcp.stderr)
      .toMatch(/^fairlead: `fairlead answer` cannot reach .*accessible to other users\.\n$/);
    expect(await mcp.run('echo works')).toMatchObject({ content: 'works' });
    expect(await fairlead(mcp.home, [], 'x')).toMatchObject({ code: 3 });
  });

  test('R-TERM-022: answers come as they finish, garbage is answered with id 0, a dropped line cancels waits', async () => {
    await using place = await Workplace.open();
    const path = join(place.home, 'run', '1.sock');
    const cancelled: string[] = [];
    const late = deferred<{ late: true }>();
    const test = { title: 'Test', summary: '', access: 'observe', input: z.object({}), render: () => '' } as const;
    const here = operation({ ...test, output: z.object({ pid: z.number() }), run: async () => ({ pid: process.pid }) });
    const slow = operation({ ...test, output: z.object({ late: z.literal(true) }), run: () => late.promise });
    const wait = operation({
      ...test,
      output: z.object({}),
      run: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            cancelled.push('wait');
            reject(new Error('gone'));
          });
        }),
    });
    const count = stream({
      ...test,
      item: z.number(),
      async *run({ signal }) {
        signal.addEventListener('abort', () => void cancelled.push('count'));
        for (let at = 1; ; at++) {
          yield at;
          if (at === 2) await once(signal, 'abort');
        }
      },
    });
    const book = { name: 'test', summary: '', nouns: { it: { wait, slow, here } }, streams: { it: { count } } };
    const { engine } = place;
    await using _server = await SocketServer.listen(path, {
      books: [defineBook({ ...book, renderError: () => '' })],
      caller: localPerson,
      call: (op, raw, context) => call(op, raw, { ...context, engine }),
      stream: (op, raw, context) => callStream(op, raw, { ...context, engine }),
    });
    const client = createConnection(path);
    const replies: unknown[] = [];
    createInterface({ input: client }).on('line', (line) => replies.push(JSON.parse(line)));
    client.write(
      '{"id":1,"method":"it.wait","params":{}}\n{"id":2,"method":"it.slow","params":{}}\nnonsense\n{"id":3,"meth',
    );
    client.write('od":"it.here","params":{}}\n{"id":4,"method":"toString"}\n');
    await expect.poll(() => replies.length).toBe(3);
    late.resolve({ late: true });
    await expect.poll(() => replies.length).toBe(4);
    expect(replies).toEqual([
      { id: 0, error: { message: 'This line is not a valid request; expected {id, method, params}.' } },
      { id: 4, error: { message: 'There is no method "toString".', code: 'unknown_operation' } },
      { id: 3, result: { pid: process.pid } },
      { id: 2, result: { late: true } },
    ]);
    client.write('{"id":5,"method":"it.count","params":{}}\n');
    await expect
      .poll(() => replies.slice(4))
      .toEqual([
        { id: 5, item: 1 },
        { id: 5, item: 2 },
      ]);
    client.write('{"cancel":5}\n');
    await expect.poll(() => replies.slice(6)).toEqual([{ id: 5, result: null }]);
    expect(cancelled).toEqual(['count']);
    client.destroy();
    await expect.poll(() => cancelled).toEqual(['count', 'wait']);
    const flooding = createConnection(path).on('error', () => {});
    flooding.write(Buffer.alloc((16 << 20) + 1, 'x'));
    await once(flooding, 'close');
  });
});

test('an answer that fails inside keeps its cause, and is refused by the gate like any call', async () => {
  await using place = await Workplace.open();
  const terminal = await place.shell();
  const context = { engine: place.engine, caller: localPerson, signal: never };
  const answer = { item: terminal.id, text: secret, secret: true, prompt: 'PIN:' };
  const broken = new Error('broken');
  const turn = vi.spyOn(terminal.input, 'turn').mockRejectedValue(broken);
  await expect(call(personAnswer, answer, context)).rejects.toMatchObject({
    code: 'internal',
    cause: broken,
  });
  turn.mockRestore();
  const refused = call(personAnswer, answer, { ...context, caller: { ...localPerson, may: () => false } });
  await expect(refused).rejects.toMatchObject({ code: 'not_permitted' });
  expect(place.engine.audit.entries().map(({ operation, allowed, error }) => [operation, allowed, error])).toEqual([
    ['person.answer', true, 'internal'],
    ['person.answer', false, 'not_permitted'],
  ]);
});

test('an answer to a question that is no longer asked is refused; the audit keeps only its length', async () => {
  await using place = await Workplace.open();
  const { engine } = place;
  const terminal = await place.shell();
  await typeText(terminal, "read -rs -p 'PIN: ' pin; read -rs -p 'Other PIN: ' pin", keys, never);
  const { prompt } = await watchAttention(terminal, AbortSignal.timeout(15_000));
  const context = { engine, caller: localPerson, signal: never };
  const answer = { item: terminal.id, text: secret, secret: true, prompt };
  await call(personAnswer, answer, context);
  await expect.poll(() => terminal.person.prompts.current?.prompt).toBe('PIN: Other PIN:');
  await expect(call(personAnswer, answer, context)).rejects.toMatchObject({ code: 'conflict' });
  await call(personAnswer, { ...answer, prompt: 'PIN: Other PIN:' }, context);
  await expect.poll(() => terminal.state.current).toBe('idle');
  await expect(call(personAnswer, answer, context)).rejects.toMatchObject({ code: 'not_found' });
  const entries = engine.audit.entries().filter(({ operation }) => operation === 'person.answer');
  expect(entries.map(({ characters, error }) => [characters, error])).toEqual([
    [16, undefined],
    [16, 'conflict'],
    [16, undefined],
    [16, 'not_found'],
  ]);
  expect(JSON.stringify(entries)).not.toContain(secret);
  expect(await screenText(terminal)).not.toContain(secret);
});
