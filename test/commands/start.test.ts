import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const program = join(import.meta.dirname, '..', '..', 'bin', 'fairlead.js');
const home = mkdtempSync(join(tmpdir(), 'fl-start-'));
writeFileSync(join(home, 'file'), '');
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A shell command line in which `fairlead` is the program; its input ends at once. */
function shell(line: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr, signal } = spawnSync(
    'bash',
    ['-c', `program=$1; fairlead() { "$0" "$program" "$@"; }; ${line}`, process.execPath, program],
    {
      cwd: home,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home, SHELL: '/bin/bash', ...env },
      input: '',
      timeout: 20_000,
    },
  );
  return { code: status ?? signal, out: stdout, err: stderr };
}

describe('what cannot be started says why in a line or two, and exits with 2', () => {
  test.each([
    ['mcp --toolsets=', '--toolsets names none. Choose from core, terminal, ssh, sub, session, all.'],
    ["mcp --toolsets ' , '", '--toolsets names none.'],
    ['serve --toolsets=', '--toolsets names none.'],
    ['serve --allow-host http://box.example', 'write the name alone, such as box.example'],
    ['serve --allow-origin app.example', 'such as https://app.example'],
    ['mcp --home file', `The state folder ${home}/file cannot be used: ${home}/file is not a directory. Name another`],
    [
      'serve --home file',
      `The state folder ${home}/file cannot be used: ${home}/file is not a directory. Name another`,
    ],
    ['mcp --home file/below', `${home}/file is not a directory`],
    ['mcp --home /proc/nope', 'The state folder /proc/nope cannot be used: ENOENT'],
    ['serve --home /proc/nope', 'The state folder /proc/nope cannot be used: ENOENT'],
  ])('fairlead %s', (args, message) => {
    const { code, out, err } = shell(`fairlead ${args}`);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(err.split('\n').length).toBeLessThan(4);
  });
});

test('messages of a reference end with a full stop before the advice', () => {
  expect(shell('fairlead recordings show nosuch').err).toBe(
    'fairlead: Recording not found: nosuch. List them with `fairlead recordings list`.\n',
  );
});

test('an option of another command is not taken for a slip', () => {
  expect(shell('fairlead mcp --host x').err).toBe('fairlead: Unknown option --host.\nSee: fairlead mcp --help\n');
});

test('a variable for another command does no harm, and a token is not printed', () => {
  const env = { FAIRLEAD_PORT: 'abc', FAIRLEAD_TOKEN: 'sesame' };
  expect(shell('fairlead mcp', env)).toEqual({ code: 0, out: '', err: '' });
  expect(shell('fairlead recordings list', env).code).toBe(0);
  expect(shell('fairlead session list', env).code).toBe(3);
  const { code, err } = shell('fairlead serve', { FAIRLEAD_TOKEN: 'sesame' });
  expect(code).toBe(2);
  expect(err).toContain('FAIRLEAD_TOKEN: it must have at least 16 characters');
  expect(err).not.toContain('sesame');
});

test('an address of another machine: the advice is about the address', () => {
  const { code, err } = shell('fairlead serve --host 203.0.113.7');
  expect(code).toBe(3);
  expect(err).toMatch(/^fairlead: Cannot listen on 203\.0\.113\.7:7420: .*\. Choose a --host that is an address/);
});

test('started in a directory that is gone: one line, unless it is not needed', () => {
  const gone = 'mkdir gone; cd gone; rmdir ../gone;';
  expect(shell(`${gone} fairlead mcp`)).toEqual({
    code: 1,
    out: '',
    err: 'fairlead: The directory this was started in is gone. Change to another one (cd ~) and try again.\n',
  });
  expect(shell(`${gone} fairlead --version`).code).toBe(0);
  expect(shell(`${gone} fairlead mcp --cwd /`).code).toBe(0);
});
