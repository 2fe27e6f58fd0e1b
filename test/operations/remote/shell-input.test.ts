import { describe, expect, test } from 'vitest';
import { press, waitFor, write } from '../../../src/operations/remote/shells.ts';
import { plain, type Remote } from '../../support/ssh/remote.ts';
import { withSession } from '../../support/ssh/login.ts';
import { shell } from '../../support/ssh/shells.ts';

let at: Remote;
let session_id: string;
withSession((made) => ({ at, session_id } = made), 'test');

const next = 'NEXT: resources/read shell://<id1>/output?cursor=auto | ssh_shell_wait_for | ssh_shell_read';

describe('ssh_shell_write and ssh_shell_press', () => {
  test('OK: bytes as they are, counted as UTF-8 (row 13)', async () => {
    const shell_id = await shell(at, session_id);
    const { text, facts } = await at.ask(write, { shell_id, input: `echo 'é\\n'\n` });
    expect(plain(text)).toBe(['SSH_SHELL_WRITE: OK', 'SHELL_ID: <id1>', 'BYTES_SENT: 12', next].join('\n'));
    expect(facts).toEqual({
      tool: 'ssh_shell_write',
      status: 'ok',
      shell_id,
      bytes_sent: 12,
      next: `resources/read shell://${shell_id}/output?cursor=auto | ssh_shell_wait_for | ssh_shell_read`,
    });
    expect((await at.run(waitFor, { shell_id, patterns: ['ready$ '] })).stdout).toBe('é\\n\nready$ ');
  });

  test('OK: a key, and one with modifiers', async () => {
    const shell_id = await shell(at, session_id);
    expect(plain((await at.ask(press, { shell_id, key: 'ctrl_c' })).text)).toBe(
      ['SSH_SHELL_PRESS: OK', 'SHELL_ID: <id1>', 'KEY: ctrl_c', 'REPEAT: 1', 'BYTES_SENT: 1', next].join('\n'),
    );
    const shifted = await at.ask(press, { shell_id, key: 'arrow_up', ctrl: true, shift: true, repeat: 3 });
    expect(plain(shifted.text)).toBe(
      [
        'SSH_SHELL_PRESS: OK',
        'SHELL_ID: <id1>',
        'KEY: arrow_up',
        'MODIFIERS: shift+ctrl',
        'REPEAT: 3',
        'BYTES_SENT: 18',
        next,
      ].join('\n'),
    );
    expect(shifted.facts).toEqual({
      tool: 'ssh_shell_press',
      status: 'ok',
      shell_id,
      key: 'arrow_up',
      modifiers: ['shift', 'ctrl'],
      repeat: 3,
      bytes_sent: 18,
      next: `resources/read shell://${shell_id}/output?cursor=auto | ssh_shell_wait_for | ssh_shell_read`,
    });
  });

  test('the bytes of every key, as the far side gets them (1.2)', async () => {
    const shell_id = await shell(at, session_id);
    const keys: readonly (readonly [string, string, object?])[] = [
      ['ctrl_a', '01'],
      ['ctrl_z', '1a'],
      ['enter', '0d'],
      ['tab', '09'],
      ['tab', '1b5b5a', { shift: true }],
      ['escape', '1b'],
      ['backspace', '7f'],
      ['space', '20'],
      ['arrow_up', '1b5b41'],
      ['arrow_down', '1b5b42'],
      ['arrow_left', '1b5b44'],
      ['arrow_right', '1b5b43'],
      ['home', '1b4f48'],
      ['end', '1b4f46'],
      ['home', '1b5b313b3248', { shift: true }],
      ['insert', '1b5b327e'],
      ['delete', '1b5b337e'],
      ['page_up', '1b5b357e'],
      ['page_down', '1b5b367e'],
      ['delete', '1b5b333b387e', { shift: true, alt: true, ctrl: true }],
      ['f1', '1b4f50'],
      ['f4', '1b4f53'],
      ['f1', '1b5b313b3550', { ctrl: true }],
      ['f5', '1b5b31357e'],
      ['f12', '1b5b32347e'],
      ['f12', '1b5b32343b337e', { alt: true }],
    ];
    const bytes = keys.map(([, hex]) => hex).join('');
    const count = bytes.length / 2;
    const input = `stty raw; echo on; head -c ${count} | od -An -v -tx1 | tr -d ' \\n'; stty -raw; echo .\n`;
    await at.run(write, { shell_id, input });
    await at.run(waitFor, { shell_id, patterns: ['on'] });
    for (const [key, hex, modifiers = {}] of keys) {
      const sent = await at.run(press, { shell_id, key: key as 'tab', ...modifiers });
      expect(sent.bytes_sent).toBe(hex.length / 2);
    }
    const { stdout } = await at.run(waitFor, { shell_id, patterns: ['.\r\n'], timeout_secs: 20 });
    expect(stdout?.replaceAll(/\s/g, '')).toBe(`${bytes}.`);
  });

  test('errors: MODIFIER_NOT_ALLOWED, INVALID_REPEAT, no such key', async () => {
    const shell_id = await shell(at, session_id);
    const refused = await at.ask(press, { shell_id, key: 'ctrl_c', ctrl: true });
    expect(refused.text).toBe(
      [
        'SSH_SHELL_PRESS: ERROR',
        'REASON: [MODIFIER_NOT_ALLOWED] ctrl_c does not take ctrl',
        'DETAIL: Press the key without this modifier; ctrl_c takes none',
      ].join('\n'),
    );
    const code = async (input: object): Promise<unknown> => (await at.ask(press, { shell_id, ...input })).facts['code'];
    for (const key of ['enter', 'escape', 'backspace', 'space', 'ctrl_a']) {
      expect(await code({ key, shift: true })).toBe('MODIFIER_NOT_ALLOWED');
    }
    expect(await code({ key: 'tab', alt: true })).toBe('MODIFIER_NOT_ALLOWED');
    for (const repeat of [0, 65, -1, 1.5, '3', [3]])
      expect(await code({ key: 'enter', repeat })).toBe('INVALID_REPEAT');
    for (const key of ['ctrl_b', 'Enter', 'f13']) expect(await code({ key })).toBe('INVALID_ARGUMENT');
    expect((await at.run(press, { shell_id, key: 'space', repeat: 64 })).bytes_sent).toBe(64);
  });

  test('WRITE_FAILED once the shell has ended', async () => {
    const shell_id = await shell(at, session_id);
    await at.run(write, { shell_id, input: 'exit\n' });
    expect((await at.run(waitFor, { shell_id, patterns: ['never'] })).status).toBe('closed');
    for (const [op, input] of [
      [write, { input: 'x' }],
      [press, { key: 'enter' }],
    ] as const) {
      const { text, facts } = await at.ask(op, { shell_id, ...input });
      expect(plain(text)).toContain('REASON: [WRITE_FAILED] shell <id1> takes no input: the shell has ended\n');
      expect(facts).toMatchObject({ category: 'TRANSPORT', retryable: true });
    }
  });
});
