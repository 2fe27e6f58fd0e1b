import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EchoChannel } from '../../support/echo-channel.ts';
import { patientClock } from '../../support/clocks/patient.ts';
import { RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

const call = (method: string, params?: unknown) => place.client.call(method, params);
const failure = async (method: string, params?: unknown) => (await place.client.ask(method, params)).error;

let gates = 0;

/** A command that goes on until the test lets it end. */
function gated(): { readonly command: string; readonly open: () => void } {
  const gate = join(place.home, `gate-${gates++}`);
  return { command: `until [ -e ${gate} ]; do sleep 0.02; done`, open: () => writeFileSync(gate, '') };
}

/** Waits until the shell has said that it runs this. */
async function begun(id: number, command: string): Promise<void> {
  await expect.poll(async () => (await call('exec.status', { id })).command).toBe(command);
}

test('exec.run answers at once, and says whether the session was busy', async () => {
  const id = await place.create();
  const { command, open } = gated();
  expect(await call('exec.run', { id, command })).toEqual({ sent: true, busy: false });
  await begun(id, command);
  expect(await call('exec.run', { id, command: 'echo two' })).toEqual({ sent: true, busy: true });
  open();
  expect(await call('orchestrate.wait', { id, pattern: '^two$', regex: true })).toMatchObject({ matched: true });
});

test('exec.run_wait: output, exit code, source and time; the echo of the command does not end it (R-RPC-040…044)', async () => {
  const id = await place.create();
  const result = await call('exec.run_wait', { id, command: "printf '\\n  a\\n\\n b\\n'; sleep 0.3; sh -c 'exit 5'" });
  expect(result).toMatchObject({
    output: '\n  a\n\n b',
    exit_status: 'completed',
    timed_out: false,
    exit_code: 5,
    truncated: false,
    source: 'osc133',
  });
  expect(result.marker).toMatch(/^__FAIRLEAD_DONE_[0-9a-f-]{36}__$/);
  expect(result.duration_ms).toBeGreaterThanOrEqual(300);
});

test('exec.run_wait gives up waiting, never the command (R-RPC-044)', async () => {
  const clock = patientClock();
  await using own = await RpcPlace.open(undefined, { clock });
  const id = await own.create();
  const command = 'echo begun; sleep 30';
  const result = own.client.call('exec.run_wait', { id, command, timeout_ms: 125_000 });
  using other = await own.another();
  await other.call('orchestrate.wait', { id, pattern: '^begun$', regex: true });
  const limits = [...clock.long].filter(([, ms]) => ms === 125_000);
  expect(limits).toHaveLength(1);
  for (const [over] of limits) over();
  expect(await result).toMatchObject({ output: 'begun', exit_status: 'timeout', timed_out: true, exit_code: null });
  expect(await own.client.call('exec.status', { id })).toMatchObject({ status: 'running', command });
});

test('one waited command per session, unless it may queue (R-RPC-045)', async () => {
  const id = await place.create();
  using other = await place.another();
  using third = await place.another();
  const { command, open } = gated();
  const first = other.call('exec.run_wait', { id, command: `${command}; echo first` });
  await begun(id, `${command}; echo first`);
  expect(await failure('exec.run_wait', { id, command: 'echo second' })).toMatchObject({
    message: `Session ${id} is busy`,
    data: { code: 'SESSION_BUSY' },
  });
  const second = call('exec.run_wait', { id, command: 'echo second', queue: true });
  // An answer to somebody who asked later: it waits by now.
  await third.call('session.list');
  open();
  expect((await first).output).toBe('first');
  expect(await second).toMatchObject({ output: 'second', exit_code: 0 });
});

test('queue waits for a command nobody waits for any more, as long as timeout_ms (R-RPC-045)', async () => {
  const id = await place.create();
  const { command, open } = gated();
  expect(await call('exec.run_wait', { id, command, timeout_ms: 50 })).toMatchObject({ timed_out: true });
  await begun(id, command);
  expect(await failure('exec.run_wait', { id, command: 'echo no', queue: true, timeout_ms: 100 })).toMatchObject({
    message: `Session ${id} is busy`,
  });
  const waiting = Promise.all(
    ['one', 'two'].map(async (word) => {
      using other = await place.another();
      return await other.call('exec.run_wait', { id, command: `echo ${word}`, queue: true });
    }),
  );
  // Time for both to be asked; without it they find nothing to wait for.
  await call('orchestrate.wait', { id, pattern: 'never', timeout_ms: 200 });
  open();
  const [first, second] = await waiting;
  expect(new Set([first?.output, second?.output])).toEqual(new Set(['one', 'two']));
});

test('the alternate screen is refused unless force says otherwise (R-RPC-045)', async () => {
  const id = await place.create();
  await call('exec.run_wait', { id, command: String.raw`printf '\033[?1049h'` });
  const busy = { message: `Session ${id} is busy`, data: { code: 'SESSION_BUSY' } };
  expect(await failure('exec.run_wait', { id, command: 'echo hidden' })).toMatchObject(busy);
  // A shell waits at its prompt: nothing will end, so nothing is waited for.
  const patient = { queue: true, timeout_ms: 86_400_000 };
  expect(await failure('exec.run_wait', { id, command: 'echo hidden', ...patient })).toMatchObject(busy);
  expect(await call('exec.run_wait', { id, command: 'sh -c "echo seen; exit 3"', force: true })).toMatchObject({
    output: 'seen',
    exit_code: 3,
  });
  expect((await call('screen.text', { id })).lines.join('\n')).not.toContain('echo hidden');
});

test('force types into what a full-screen program shows, as inside tmux', async () => {
  const id = await place.create();
  // A shell that tells nothing, behind the alternate screen.
  const inner = String.raw`printf '\033[?1049h'; PS1='inner$ ' sh -i`;
  await call('exec.run', { id, command: inner });
  await call('orchestrate.wait', { id, pattern: '^inner\\$ $', regex: true });
  expect(await failure('exec.run_wait', { id, command: 'echo no' })).toMatchObject({
    message: `Session ${id} is busy`,
  });
  const forced = { id, command: 'echo forced; false', force: true };
  expect(await call('exec.run_wait', forced)).toMatchObject({ output: 'forced', exit_code: 1, source: 'sentinel' });
});

test('a program that is no shell is refused unless force says otherwise (R-RPC-045)', async () => {
  const id = await place.create();
  await call('exec.run', { id, command: 'python3 -q' });
  await call('orchestrate.wait', { id, pattern: '^>>> $', regex: true });
  const refused = await failure('exec.run_wait', { id, command: '6 * 7', queue: true, timeout_ms: 86_400_000 });
  expect(refused).toMatchObject({
    message: `Session ${id} is busy`,
    data: { hint: expect.stringMatching(/^`python3/) },
  });
  expect(await call('exec.run_wait', { id, command: '6 * 7', force: true })).toMatchObject({
    output: '42',
    exit_code: null,
  });
});

test('marker is what a shell without marks was told to print (R-RPC-041, R-RPC-042)', async () => {
  const id = await place.create({ argv: ['env', '-u', 'ENV', 'PS1=bare$ ', 'dash'] });
  const { source, marker } = await call('exec.run_wait', { id, command: 'sh -c "exit 3"' });
  expect([source, marker]).toEqual(['sentinel', expect.stringMatching(/^__FAIRLEAD_DONE_[\w-]{12}__$/)]);
  const { log } = place.terminal(id);
  expect(Buffer.from(log.read(0).bytes).toString()).toContain(`\x1b]7461;${marker};e;3\x07`);
});

const csh = String.raw;
test.each([
  ['a status', 'sh -c "echo out; exit 3"', 'out', 3],
  ['quotes and exclamation marks', csh`echo 'a  b' "it's" hi\!`, "a  b it's hi!", 0],
  ['a status that is asked for later', '(exit 7)', '', 7],
  ['what its parser refuses', 'echo a |', 'Invalid null command.', 1],
  ['a command that is not there', 'no-such-command', 'no-such-command: Command not found.', 1],
  ['a variable that is not there', 'echo $nothing', 'nothing: Undefined variable.', 1],
  ['a tab, dollars and back quotes', 'set x=5; echo "a\tb" $x `echo q` "100%"', 'a       b 5 q 100%', 0],
  ['a long line', `echo ${'x'.repeat(5000)} | wc -c`, '5001', 0],
])('csh: %s (R-RPC-042)', async (_, command, output, exitCode) => {
  const id = await place.create({ argv: ['tcsh', '-f'] });
  const answer = await call('exec.run_wait', { id, command });
  expect(answer).toMatchObject({ output, exit_code: exitCode, source: 'sentinel', exit_status: 'completed' });
  // Asked for afterwards it is what it was.
  expect((await call('exec.run_wait', { id, command: 'pwd' })).exit_code).toBe(0);
});

test('csh: leaves when told to, and takes one line at a time (R-RPC-042)', async () => {
  const id = await place.create({ argv: ['tcsh', '-f'] });
  expect(await failure('exec.run_wait', { id, command: 'foreach i (1 2)\necho $i\nend' })).toMatchObject({
    message: 'A csh takes a command of one line.',
  });
  expect(await call('exec.run_wait', { id, command: 'exit 4' })).toMatchObject({ exit_code: 4 });
  expect(await call('orchestrate.wait', { id, exit: true })).toMatchObject({ matched: true });
});

test('an unfinished construct is told and dropped (R-RPC-045)', async () => {
  const id = await place.create();
  expect(await call('exec.run_wait', { id, command: 'if true; then' })).toMatchObject({ exit_status: 'incomplete' });
  expect(await call('exec.run_wait', { id, command: 'echo fine' })).toMatchObject({ output: 'fine', exit_code: 0 });
});

test.each(['exec env -u PS1 sh', 'bash --norc --noprofile', 'vi -u NONE'])(
  '%s has not ended and no time is up: incomplete, with a note (R-RPC-044)',
  async (command) => {
    const id = await place.create();
    const { exit_status, timed_out, exit_code, note } = await call('exec.run_wait', { id, command });
    expect({ exit_status, timed_out, exit_code }).toEqual({
      exit_status: 'incomplete',
      timed_out: false,
      exit_code: null,
    });
    expect(note).toMatch(/at a prompt of its own|the whole screen/);
  },
);

test('output is cut to 1 MiB with head and tail (R-RPC-043)', async () => {
  const id = await place.create();
  const { output, truncated } = await call('exec.run_wait', { id, command: 'seq 400000' });
  expect(truncated).toBe(true);
  expect(output.startsWith('1\n2\n')).toBe(true);
  expect(output.endsWith('\n400000')).toBe(true);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1 << 20);
});

test('of output that is larger than what is kept the head is there too, and the cut is marked (R-RPC-043)', async () => {
  const id = await place.create();
  const { output, truncated, exit_code } = await call('exec.run_wait', { id, command: 'seq 1200000' });
  expect({ truncated, exit_code }).toEqual({ truncated: true, exit_code: 0 });
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1 << 20);
  const lines: string[] = output.split('\n');
  const cut = lines.findIndex((line) => line.startsWith('['));
  expect(lines.slice(0, 3)).toEqual(['1', '2', '3']);
  expect(lines.at(-1)).toBe('1200000');
  expect(cut).toBeGreaterThan(10_000);
  const left = Number(/^\[… (\d+) bytes left out …\]$/.exec(lines[cut] ?? '')?.[1]);
  // Every number between, with the carriage return and the line feed that the terminal got after it.
  const [from, to] = [Number(lines[cut - 1]) + 1, Number(lines[cut + 1]) - 1];
  let between = 0;
  for (let number = from; number <= to; number++) between += String(number).length + 2;
  expect(Math.abs(left - between)).toBeLessThan(between * 0.05);
  const [last] = (await call('exec.run_wait', { id, command: 'echo after' })).output.split('\n');
  expect(last).toBe('after');
});

/** Runs a command that sleeps, and waits until it does. */
async function sleeping(id: number, seconds: number): Promise<void> {
  await call('exec.run', { id, command: `echo begun ${seconds}; sleep ${seconds}` });
  await call('orchestrate.wait', { id, pattern: `^begun ${seconds}$`, regex: true });
  while ((await call('exec.status', { id })).foreground_process !== 'sleep');
}

/** The exit code of the next command that ends. */
async function ended(id: number): Promise<number> {
  for (;;) {
    const { status, last_exit_code } = await call('exec.status', { id });
    if (status === 'idle') return last_exit_code;
  }
}

test('signal.send: keys by their documented names, real signals with mode process (R-RPC-046)', async () => {
  const id = await place.create();
  await sleeping(id, 30);
  expect(await call('signal.send', { id, signal: 'sigint' })).toEqual({ sent: true, signal: 'sigint' });
  expect(await ended(id)).toBe(130);
  await sleeping(id, 31);
  expect(await call('signal.send', { id, signal: 'TERM', mode: 'process' })).toEqual({ sent: true, signal: 'TERM' });
  expect(await ended(id)).toBe(143);
  await sleeping(id, 32);
  expect(await call('signal.send', { id, signal: 'SIGTSTP' })).toEqual({ sent: true, signal: 'SIGTSTP' });
  expect(await ended(id)).toBe(148);
  expect((await failure('signal.send', { id, signal: 'SIGWHAT' }))?.message).toBe('Unsupported signal: SIGWHAT');
  expect((await failure('signal.send', { id, signal: 'TERM' }))?.message).toBe('Unsupported signal: TERM');
});

test('orchestrate: launch, broadcast and wait (R-RPC-055)', async () => {
  const made = await call('orchestrate.launch', { command: 'echo launched', cols: 80 });
  expect(made).toMatchObject({ session_id: String(made.id), cols: 80, rows: 30 });
  expect(await call('orchestrate.wait', { id: made.id, pattern: '^launched$', regex: true })).toMatchObject({
    matched: true,
    pattern: '^launched$',
  });
  await place.prompted(made.id);
  const other = await place.create();
  const { results } = await call('orchestrate.broadcast', {
    command: 'sh -c "echo all; exit 2"',
    sessions: [String(made.id), other, '999', 'x', null, {}],
    wait: true,
  });
  expect(results).toMatchObject([
    { session_id: String(made.id), sent: true, result: { output: 'all', exit_code: 2 } },
    { session_id: String(other), sent: true, result: { output: 'all', exit_code: 2 } },
    { session_id: '999', error: 'Session 999 not found' },
    { session_id: 'x', error: 'Invalid session_id: x' },
    { session_id: 'null', error: expect.stringContaining('session_id') },
    { session_id: '{}', error: 'Invalid session_id: {}' },
  ]);
  expect(await call('orchestrate.wait', { id: other, pattern: 'never', timeout_ms: 100 })).toMatchObject({
    matched: false,
    timed_out: true,
    pattern: 'never',
  });
});

test('a launch whose program does not live to read its command leaves nothing behind', async () => {
  // Half a second is all that a program gets to say something or end: here it gets all the time it needs.
  await using own = await RpcPlace.open(undefined, { clock: patientClock(500) });
  const { error } = await own.client.ask('orchestrate.launch', { argv: ['true'], command: 'echo never' });
  expect(error).toMatchObject({ message: 'The program ended before the command could be sent' });
  expect((await own.client.call('session.list')).sessions).toEqual([]);
  const { id } = await call('orchestrate.launch', { argv: ['bash', '--norc'], command: 'echo 4$((1+1))' });
  expect(await call('orchestrate.wait', { id, pattern: '42' })).toMatchObject({ matched: true });
});

test('a launch types into a program without marks when it has been quiet for 250 ms, not as it starts (R-RPC-054)', async () => {
  const clock = patientClock(200);
  const channel = new EchoChannel({ cols: 80, rows: 24 }, { echo: false });
  const transports = [{ scheme: 'local', open: async () => ({ channel, program: 'repl' }) }];
  await using own = await RpcPlace.open(undefined, { clock, transports });
  using other = await own.another();
  other.send(`${JSON.stringify({ id: 1, method: 'orchestrate.launch', params: { command: 'go' } })}\n`);
  channel.say('starting');
  await expect.poll(() => [...clock.long.values()]).toContain(2000);
  const typed = (): string => Buffer.concat(channel.written).toString();
  expect(typed()).toBe('');
  clock.jump(250);
  for (const [run, ms] of clock.long) if (ms <= 250) run();
  await expect.poll(typed).toContain('go');
});

test('orchestrate.wait looks at the screen and at what comes, however fast; with from now only at what comes (R-RPC-056)', async () => {
  const id = await place.create();
  await call('exec.run_wait', { id, command: 'echo old"-"needle; seq 200' });
  const waitFor = (params: object) => call('orchestrate.wait', { id, ...params });
  // It has scrolled out of sight: nobody waits for what was there before.
  expect(await waitFor({ pattern: 'old-needle', timeout_ms: 100 })).toMatchObject({ matched: false, timed_out: true });
  expect(await waitFor({ any: ['no such text', '19[0-9]'], regex: true })).toMatchObject({
    matched: true,
    pattern: '19[0-9]',
  });
  expect(await waitFor({ pattern: '199', from: 'now', timeout_ms: 100 })).toMatchObject({ matched: false });
  using other = await place.another();
  const waiting = other.call('orchestrate.wait', { id, pattern: 'new-needle', timeout_ms: 25_000 });
  // Again and again: nobody knows when the wait begins, and each time it has scrolled out of sight at once.
  const { command, open } = gated();
  const printing = command.replace('sleep', 'echo new"-"needle; seq 5000; sleep');
  await call('exec.run', { id, command: printing });
  expect(await waiting).toMatchObject({ matched: true, text: 'new-needle' });
  open();
});

test('orchestrate.wait puts together what is printed before and after it begins', async () => {
  const id = await place.create();
  await call('exec.run', { id, command: "printf 'one '; read -r x; printf 'two'; sleep 30" });
  await call('orchestrate.wait', { id, pattern: '^one $', regex: true });
  using other = await place.another();
  const waiting = other.call('orchestrate.wait', { id, pattern: '^one two$', regex: true });
  await call('session.input', { id, input: '\u0004' });
  expect(await waiting).toMatchObject({ matched: true });
});

test('1,000 commands in 50 sessions at once: no wrong exit code', async () => {
  const clients = await Promise.all(Array.from({ length: 50 }, () => place.another()));
  try {
    const wrong = await Promise.all(
      clients.map(async (client, index) => {
        const { id } = await client.call('session.create', {});
        let bad = 0;
        for (let round = 0; round < 20; round += 1) {
          const code = (index + round) % 250;
          const result = await client.call('exec.run_wait', { id, command: `(echo ${round}; exit ${code})` });
          if (result.exit_code !== code || result.output !== String(round)) bad += 1;
        }
        await client.call('session.destroy', { id });
        return bad;
      }),
    );
    expect(wrong.reduce((sum, bad) => sum + bad, 0)).toBe(0);
  } finally {
    for (const client of clients) client[Symbol.dispose]();
  }
}, 300_000);
