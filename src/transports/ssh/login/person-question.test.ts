import { expect, test } from 'vitest';
import { personQuestion } from './person-question.ts';

const at = { user: 'alice', host: 'db.example', port: 22 };
const subject = 'alice@db.example:22';

test("a question of ours names whom it is for; a server's own is told who asks, once, and what for", () => {
  const ours = "alice@db.example's password:";
  expect(personQuestion({ ...at, kind: 'password', prompt: ours })).toEqual({
    kind: 'password',
    subject,
    prompt: ours,
    secret: true,
  });
  expect(
    ['Password: ', 'Verification code: ', 'One-time password (OATH) for alice: ', 'Enter passphrase: '].map((prompt) =>
      personQuestion({ ...at, kind: 'keyboard-interactive', prompt }),
    ),
  ).toEqual([
    { kind: 'password', subject, prompt: `${subject}: Password: `, secret: true },
    { kind: 'one_time_code', subject, prompt: `${subject}: Verification code: `, secret: true },
    { kind: 'one_time_code', subject, prompt: `${subject}: One-time password (OATH) for alice: `, secret: true },
    { kind: 'passphrase', subject, prompt: `${subject}: Enter passphrase: `, secret: true },
  ]);
});
