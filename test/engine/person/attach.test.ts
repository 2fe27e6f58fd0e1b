import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, type PtySession } from '../../support/pty-session.ts';
import { program, Served } from '../../support/served.ts';

let served: Served;
const env = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: served.home,
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
});

beforeAll(async () => {
  served = await Served.start(['--port', '0', '--rpc-port', '0']);
});
afterAll(async () => served[Symbol.asyncDispose]());

const fairlead = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [program, ...args], { env: env() })).stdout;

async function newSession(): Promise<string> {
  const { id } = JSON.parse(await fairlead('session', 'create', '--json')) as { id: number };
  await fairlead('exec', 'wait', String(id), 'true');
  return String(id);
}

/** A person's terminal: `fairlead attach` between two looks at its modes. */
const sitIn = (...args: string[]): Promise<PtySession> =>
  openSession(
    [
      '/bin/sh',
      '-c',
      'echo "modes $(stty -g)"; "$@"; echo "modes $(stty -g)"',
      'sh',
      process.execPath,
      program,
      'attach',
      ...args,
    ],
    env(),
  );

const modes = async (pty: PtySession): Promise<string> => {
  await pty.until('modes ');
  return await pty.until('\r\n');
};

test('bytes reach the person’s terminal as they are, and its modes come back', async () => {
  const id = await newSession();
  await using pty = await sitIn(id);
  const before = await modes(pty);
  await pty.until('true');
  await pty.type("stty -opost; printf 'q%sz\\ncd' Q; stty opost\r");
  await pty.until('qQz\ncd');
  await pty.type('\x1d');
  await pty.until('the session keeps running');
  expect(await modes(pty)).toBe(before);
});

test('a program asks once, although two terminals could answer', async () => {
  const id = await newSession();
  await using pty = await sitIn(id);
  await pty.until('true');
  await pty.type("printf '\\033[6n\\033[c'; echo as''ked\r");
  expect(await pty.until('asked')).not.toMatch(/\x1b\[(6n|c)/);
  await pty.type('\x1d');
});

test('leaving undoes what the program has set, sitting down sets it again', async () => {
  const id = await newSession();
  await using pty = await sitIn(id);
  await pty.until('true');
  await pty.type(
    "printf '\\033[?1049h\\033[?1000h\\033[?1006h\\033[?1h\\033=\\033[?1004h\\033[?25l'; echo se''t; cat\r",
  );
  await pty.until('set');
  await pty.type('\x1d');
  const undone = await pty.until('the session keeps running');
  for (const code of ['?1049l', '?1000l', '?1006l', '?1l', '?1004l', '?25h']) expect(undone).toContain(`\x1b[${code}`);
  expect(undone).toContain('\x1b>');
  await using again = await sitIn(id);
  const shown = await again.until('\x1b[?25l');
  for (const code of ['?1049h', '?1000h', '?1006h', '?1h', '?1004h']) expect(shown).toContain(`\x1b[${code}`);
  await again.type('\x1d');
  await again.until('\x1b[?1049l');
});

test('the alternate screen is left only where it is shown', async () => {
  const id = await newSession();
  await using pty = await sitIn(id);
  await pty.until('true');
  await pty.type('\x1d');
  expect(await pty.until('the session keeps running')).not.toContain('1049l');
});

test.each(['TERM', 'HUP', 'INT'])('SIG%s puts the terminal back, too', async (signal) => {
  const id = await newSession();
  await using pty = await sitIn(id);
  const before = await modes(pty);
  await pty.until('true');
  await promisify(execFile)('sh', [
    '-c',
    `kill -${signal} $(pgrep -f "^${process.execPath} ${program} attach ${id}$")`,
  ]);
  await pty.until('the session keeps running');
  expect(await modes(pty)).toBe(before);
});

test('--instance and --session; never within itself (R-RPC-151)', async () => {
  const id = await newSession();
  await using missing = await sitIn('--instance', 'zulu');
  await missing.until('There is no instance zulu. Running: alpha.');
  await using named = await sitIn('--instance', 'alpha', '--session', id);
  await named.until('true');
  await named.type(`${process.execPath} ${program} attach ${id}\r`);
  await named.until(`This is session ${id}`);
  await named.type('\x1d');
  await named.until('the session keeps running');
});
