import { expect, test } from 'vitest';
import { answersOf, kindOfAsk, userAsked, wantedWords } from './ask-kinds.ts';
import { headingOf, headingText, hostKeyIn, notificationText } from './ask-words.ts';
import type { WaitingItem } from './shapes.ts';

const ask = (more: Partial<WaitingItem>): WaitingItem => ({
  terminal: 't_1',
  program: '/usr/bin/sudo',
  kind: 'password',
  prompt: '[sudo] password for deploy:',
  secret: true,
  ...more,
});
const heading = (more: Partial<WaitingItem>): string => headingText(headingOf(ask(more), { machine: 'ci-2' }));

const newKey = `The authenticity of host 'db-1.internal (10.0.7.3)' can't be established.
ED25519 key fingerprint is SHA256:abcdEFGH0123ijklMNOP4567qrstUVWX89+/yzABCDE.
Are you sure you want to continue connecting (yes/no/[fingerprint])?`;
const changedKey = `Warning: the ED25519 host key for 'db-1' differs from the key for the IP address '10.0.7.3'
Are you sure you want to continue connecting (yes/no)?`;

test('each kind has its heading', () => {
  expect(heading({})).toBe('sudo on ci-2 asks for deploy’s password');
  expect(heading({ prompt: 'Password:' })).toBe('sudo on ci-2 asks for a password');
  expect(heading({ kind: 'one_time_code', prompt: 'Verification code:' })).toBe('sudo on ci-2 asks for a code');
  expect(heading({ terminal: undefined, question: 'q_1', subject: 'alice@db.example:22' })).toBe(
    'db.example wants a password for alice',
  );
  expect(heading({ kind: 'yes_no', secret: false, program: 'U-Boot', prompt: 'Erase? [y/N]' })).toBe(
    'U-Boot asks on ci-2',
  );
  expect(heading({ kind: 'fingerprint', secret: false, program: 'ssh', prompt: newKey })).toBe(
    'db-1.internal shows a key nobody has seen',
  );
  expect(heading({ kind: 'fingerprint', secret: false, program: 'ssh', prompt: changedKey })).toBe(
    'db-1 has a different key than before',
  );
  expect(heading({ kind: 'touch', secret: false, program: 'ssh', prompt: 'Touch the key' })).toBe(
    'ssh on ci-2 waits for a touch',
  );
});

test('a host key is shown in groups of four, with its address', () => {
  expect(kindOfAsk(ask({ kind: 'fingerprint', prompt: newKey }))).toBe('new_host_key');
  expect(kindOfAsk(ask({ kind: 'fingerprint', prompt: changedKey }))).toBe('changed_host_key');
  expect(hostKeyIn(newKey)).toEqual({
    fingerprint: 'abcd EFGH 0123 ijkl MNOP 4567 qrst UVWX 89+/ yzAB CDE',
    address: '10.0.7.3',
  });
});

test('names of keys become what the key types; texts end with Enter', () => {
  const pager = ask({ kind: 'pager', secret: false, fits: { answers: ['q', 'Space'], enter: false } });
  expect(answersOf(pager)).toEqual([
    { word: 'q', text: 'q', submit: false },
    { word: 'Space', text: ' ', submit: false },
  ]);
  const yesNo = ask({ kind: 'yes_no', secret: false, fits: { answers: ['y', 'N'], enter: true } });
  expect(answersOf(yesNo)).toEqual([
    { word: 'y', text: 'y', submit: true },
    { word: 'N', text: 'N', submit: true },
  ]);
  expect(wantedWords(yesNo)).toBe('Answer y or N');
  expect(wantedWords(pager)).toBe('Press a key');
  expect(wantedWords(ask({}))).toBe('Password for deploy');
});

test.each([
  ['[sudo] password for deploy: ', 'deploy'],
  ["deploy@db-1's password: ", 'deploy'],
  ['(anna@host) Password: ', 'anna'],
  ["Password for 'https://anna@github.com': ", undefined],
  ['Enter PIN for anna: ', 'anna'],
  ['Password:', undefined],
])('whose secret: %j', (prompt, user) => {
  expect(userAsked(prompt)).toBe(user);
});

test('a notification tells neither the command nor the prompt', () => {
  for (const more of [
    {},
    { secret: false, kind: 'yes_no' as const },
    { kind: 'fingerprint' as const, prompt: newKey },
  ]) {
    const text = notificationText(ask({ prompt: 'rm -rf /srv? secret-word', ...more }));
    expect(text).not.toMatch(/rm -rf|secret-word|SHA256|deploy|sudo/);
    expect(text).toMatch(/^A (program|host) /);
  }
});

test('what a program wrote cannot pass for ours', () => {
  expect(heading({ program: 'su\u202edo\x1b[31m' })).toBe('su\\u202edo\\u001b[31m on ci-2 asks for deploy’s password');
  expect(heading({ program: 'x'.repeat(1_000_000) }).length).toBeLessThan(120);
});
