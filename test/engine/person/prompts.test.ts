import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { promptOf } from '../../../src/engine/person/prompts/index.ts';
import { watchAttention } from '../../support/attention.ts';
import { shortest } from '../../support/shortest.ts';
import type { TerminalState } from '../../../src/engine/terminal/organs/state.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { keys, never, screenText, Workplace } from '../../support/prompt-desk.ts';
import { typeText } from '../../../src/engine/input/typing.ts';

const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Runs a command and tells how long after its last output the question was recognised. */
async function asks(terminal: Terminal, command: string) {
  const seen = watchAttention(terminal, AbortSignal.timeout(15_000));
  await typeText(terminal, command, keys, never);
  const attention = await seen;
  const ms = terminal.clock.monotonic() - (terminal.usage.lastOutputMs ?? 0);
  return { attention, ms };
}

const installer = `#!/bin/bash
printf '0 upgraded, 0 newly installed, 3 to remove.\\nDo you want to continue? [Y/n] '
read -r answer
echo "<$answer>"
`;

const ssh = `#!/bin/bash
printf "The authenticity of host 'example.org (192.0.2.1)' can't be established.\\n"
printf 'ED25519 key fingerprint is SHA256:abcdefghijklmnopqrstuvwxyz.\\n'
printf 'Are you sure you want to continue connecting (yes/no/[fingerprint])? '
read -r answer
echo "<$answer>"
`;

const sudo = `#!/usr/bin/env python3
import sys, termios
old = termios.tcgetattr(0)
new = termios.tcgetattr(0)
new[3] &= ~termios.ECHO
termios.tcsetattr(0, termios.TCSANOW, new)
sys.stderr.write('[sudo] password for anna: ')
sys.stderr.flush()
sys.stdin.readline()
termios.tcsetattr(0, termios.TCSANOW, old)
`;

function prepare(place: Workplace): void {
  for (const [name, text] of Object.entries({ installer, ssh, sudo })) {
    writeFileSync(join(place.home, name), text);
    chmodSync(join(place.home, name), 0o755);
  }
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'correct horse', '-f', join(place.home, 'key')]);
  writeFileSync(join(place.home, 'long.txt'), Array.from({ length: 500 }, (_, i) => `line ${i}\n`).join(''));
  writeFileSync(join(place.home, 'bait.txt'), `${'x\n'.repeat(20_000)}Enter password: `);
  writeFileSync(join(place.home, 'heading.txt'), 'Results:\n');
}

const personKinds = new Set(['password', 'passphrase', 'one_time_code', 'fingerprint', 'touch']);

describe('recognised within a second', () => {
  const cases: [command: string, kind: string, prompt: string | RegExp, answer: string][] = [
    ["read -rs -p 'Token, please: ' x", 'password', 'Token, please:', 'hunter22\r'],
    ['python3 -c "import getpass; getpass.getpass()"', 'password', 'Password:', 'hunter22\r'],
    ['ssh-keygen -y -f key', 'passphrase', /^Enter passphrase/, 'correct horse\r'],
    [`bash -c "read -rs -p 'Verification code: ' x"`, 'one_time_code', 'Verification code:', '123456\r'],
    ['./installer', 'yes_no', 'Do you want to continue? [Y/n]', 'n\r'],
    ['rm -i long.txt', 'yes_no', "rm: remove regular file 'long.txt'?", 'n\r'],
    ['./ssh', 'fingerprint', /^The authenticity of host.*\nED25519 key.*\nAre you sure .*\?$/, 'no\r'],
    ['read -rsn1 -p "Press any key to continue . . . "', 'any_key', /^Press any key/, ' '],
    ['read -p "What is your name? " x', 'text', 'What is your name?', 'Anna\r'],
    ['read -p "Name: " x', 'text', 'Name:', 'Anna\r'],
    ['read -p "Directory: " -t 20 x', 'text', 'Directory:', '/tmp\r'],
    ['read -n1 -p "Your name > " x', 'text', 'Your name >', 'A'],
    ['python3 -c "input(\'Port: \')"', 'text', 'Port:', '80\r'],
    [`sh -c 'sh -c "printf Host:\\ ; read x; true"; true'`, 'text', 'Host:', 'h\r'],
    [
      `node -e "require('readline').createInterface(process.stdin, process.stdout).question('Package: ', () => process.exit())"`,
      'text',
      'Package:',
      'x\r',
    ],
    ['echo Press any key to continue; read -n1', 'any_key', 'Press any key to continue', ' '],
    ['select x in red blue; do break; done', 'choice', '1) red\n2) blue\n#?', '1\r'],
    ['less long.txt', 'pager', 'less: long.txt', 'q'],
    ['seq 500 | less', 'pager', /^\w+: 29$/, 'q'],
    ['less +G long.txt', 'pager', /^less: (?:long.txt|line 499) \(END\)$/, 'q'],
    ['more long.txt', 'pager', /^more: --More--/, 'q'],
    [`bash -c "seq 30000; printf 'PIN: '; sleep 0.3; read -rs x"`, 'password', 'PIN:', '1234\r'],
    // `su - x -c 'sudo -S id'`: the command has a session of its own, and what asks is not in the foreground.
    [`setsid -w sh -c './sudo -S id'`, 'password', '[sudo] password for anna:', 'hunter22\r'],
    [
      `sh -c 'echo Confirm user presence for key ED25519-SK SHA256:abc; sleep 60; true'`,
      'touch',
      /^Confirm user/,
      '\x03',
    ],
  ];

  test.each(cases.filter(([command]) => has(command.split(' ')[0] ?? '')))(
    '%s',
    async (command, kind, prompt, answer) => {
      await using place = await Workplace.open();
      prepare(place);
      const recognised = async (): Promise<number> => {
        const terminal = await place.shell();
        const states: TerminalState[] = [];
        terminal.state.changed.on((state) => states.push(state));
        const { attention, ms } = await asks(terminal, command);
        expect(attention).toMatchObject({ kind, secret: ['password', 'passphrase', 'one_time_code'].includes(kind) });
        if (prompt instanceof RegExp) expect(attention.prompt).toMatch(prompt);
        else expect(attention.prompt).toBe(prompt);
        const waits = personKinds.has(kind) ? 'needs_person' : 'needs_input';
        expect(terminal.state.current).toBe(waits);
        await terminal.sync(never);
        expect(promptOf(terminal)).toEqual(attention);
        await terminal.input.send(Buffer.from(answer), 'person', never);
        await expect.poll(() => terminal.state.current).toBe('idle');
        expect(states.filter((state) => state.startsWith('needs_'))).toHaveLength(1);
        expect(states.at(-1)).toBe('idle');
        expect(promptOf(terminal)).toBeUndefined();
        return ms;
      };
      expect(await shortest(1000, recognised)).toBeLessThan(1000);
    },
  );

  test('a program opened without a shell', async () => {
    await using place = await Workplace.open();
    prepare(place);
    const size = { cols: 80, rows: 24 };
    const argv = ['ssh-keygen', '-y', '-f', join(place.home, 'key')] as const;
    const terminal = await place.engine.open({ target: 'local', size, argv: [...argv] }, never);
    const attention = await watchAttention(terminal, AbortSignal.timeout(10_000));
    expect(attention).toMatchObject({ kind: 'passphrase', secret: true });
    expect(terminal.state.current).toBe('needs_person');
  });

  test('two questions in a row are two', async () => {
    await using place = await Workplace.open();
    const terminal = await place.shell();
    const { attention } = await asks(terminal, "read -rs -p 'Password: ' a; echo; read -rs -p 'Again, password: ' a");
    expect(attention.prompt).toBe('Password:');
    await terminal.input.send(Buffer.from('hunter22\r'), 'person', never);
    await expect.poll(() => terminal.person.prompts.current?.prompt).toBe('Again, password:');
  });
});

test('however long after its question a program begins to read, it is noticed', async () => {
  await using place = await Workplace.open();
  const terminal = await place.shell();
  const { attention, ms } = await asks(terminal, `bash -c "printf 'Continue? [y/N] '; sleep 3; read -r x"`);
  expect(attention).toMatchObject({ kind: 'yes_no', needs: 'input' });
  expect(ms).toBeGreaterThan(2900);
  await terminal.input.send(Buffer.from('y\r'), 'person', never);
  await expect.poll(() => terminal.state.current).toBe('idle');
});

describe('not taken for a question', () => {
  /** Collects what was recognised until the command is over. */
  async function noticed(terminal: Terminal, command: string): Promise<string[]> {
    const kinds: string[] = [];
    using _changed = terminal.person.prompts.changed.on((attention) => attention && kinds.push(attention.kind));
    await typeText(terminal, `${command}; echo "the"" end"`, keys, never);
    await expect.poll(() => screenText(terminal), { timeout: 20_000 }).toContain('the end');
    await expect.poll(() => terminal.state.current).toBe('idle');
    return kinds;
  }

  test.each([
    ['a file that ends like one, printed by cat', 'cat bait.txt; sleep 1'],
    ['a log that ends like one', 'tail -f bait.txt --pid=$(sleep 1.3 > /dev/null & echo $!)'],
    ['a log that ends like one, for a while', 'timeout 1.5 tail -f bait.txt'],
    ['a log whose last line ends in a colon', 'timeout 1.5 tail -f heading.txt'],
    ['a script that follows such a log', `sh -c 'timeout 1.5 tail -f bait.txt; true'`],
    ['a progress line', 'for i in 1 2 3 4 5; do printf "Downloading: "; sleep 0.2; printf "$i\\n"; done'],
    ['a progress line that stays', 'printf "Downloading: "; sleep 1.5; echo done'],
    ['a question nobody waits for the answer of', 'printf "Continue? [y/N] "; sleep 1.3; echo y'],
    ['advice to press a key', 'echo "Press any key to continue"; sleep 1.3'],
    ['a command with such words in it', ': press any key to continue; timeout 1.3 cat'],
    ['one in the middle of a flood', 'for i in $(seq 400); do seq 50; printf "Password: "; done'],
    ['output that pauses often', 'for i in 1 2 3 4; do printf "Step $i: checking [y/N] "; echo ok; sleep 0.3; done'],
    ['work with echo off', 'stty -echo; printf "working..."; sleep 1; stty echo'],
    ['a prompt drawn by a shell', `PS1='Password: '; sleep 0.5; true; PS1='$ '`],
  ])('%s', async (_, command) => {
    await using place = await Workplace.open();
    prepare(place);
    expect(await noticed(await place.shell(), command)).toEqual([]);
  });

  test('an answered question that leaves no trace is over', async () => {
    await using place = await Workplace.open();
    const terminal = await place.shell();
    await asks(terminal, "read -rs -p 'Password: ' x; sleep 1.3");
    const kinds: string[] = [];
    const states: TerminalState[] = [];
    terminal.person.prompts.changed.on((attention) => attention && kinds.push(attention.kind));
    terminal.state.changed.on((state) => states.push(state));
    await terminal.input.send(Buffer.from('hunter22\r'), 'person', never);
    await expect.poll(() => terminal.state.current).toBe('idle');
    expect(states).toEqual(['running', 'idle']);
    expect(kinds).toEqual([]);
  });
});

test('who waits for a question can stop waiting', async () => {
  await using place = await Workplace.open();
  const terminal = await place.shell();
  const stop = new AbortController();
  const waiting = watchAttention(terminal, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
});
