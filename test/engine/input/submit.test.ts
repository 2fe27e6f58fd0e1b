import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseKey } from '../../../src/engine/input/keys.ts';
import type { SubmitMode } from '../../../src/engine/input/paste-body.ts';
import { submit } from '../../../src/engine/input/submit.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { keys, never, screenText, Workplace } from '../../support/prompt-desk.ts';
import { pressKey, typeText } from '../../../src/engine/input/typing.ts';

const tui = join(import.meta.dirname, '..', '..', 'fixtures', 'submit-tui.mjs');

async function startTui(place: Workplace, swallowMs: number, kind = '') {
  const terminal = await place.shell();
  const log = join(place.home, 'submitted.jsonl');
  await typeText(terminal, `${process.execPath} ${tui} ${swallowMs} ${log} ${kind}`, keys, never);
  await expect.poll(() => screenText(terminal)).toContain('submitted: 0');
  const lines = (): unknown[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown)
      : [];
  return { terminal, lines };
}

const send = (terminal: Terminal, text: string, mode: SubmitMode) =>
  submit(terminal, { text, mode, by: 'test' }, never);

describe('R-HUB-091: paste', () => {
  test('several lines arrive as one paste and are submitted once, whatever paste-ends the text holds', async () => {
    await using place = await Workplace.open();
    const { terminal, lines } = await startTui(place, 0);
    const hostile = 'one\ntwo\x1b[201~\rthree\x1b[20\x1b[201~1~\n';
    expect(await send(terminal, hostile, 'paste')).toMatchObject({ submitted: true, wrapped: true, enters: 1 });
    await expect.poll(lines).toEqual(['one\ntwo\rthree']);
  });

  test('a program that did not ask for it gets keys', async () => {
    await using place = await Workplace.open();
    const terminal = await place.shell();
    await typeText(terminal, 'cat > out; echo "the end"', keys, never);
    await expect.poll(() => terminal.process?.foreground()?.name).toBe('cat');
    expect(await send(terminal, 'one\ntwo\n', 'paste')).toMatchObject({ submitted: 'unknown', wrapped: false });
    await pressKey(terminal, parseKey('Ctrl+D'), { by: 'test', repeat: 1 }, never);
    await expect.poll(() => screenText(terminal)).toContain('\nthe end');
    expect(readFileSync(join(place.home, 'out'), 'utf8')).toBe('one\ntwo\n');
  });
});

test('what is typed without waiting arrives in its order, also behind keys and pastes that look at the modes first', async () => {
  await using place = await Workplace.open();
  const terminal = await place.shell();
  const typed: string[] = [];
  terminal.input.events.on(({ bytes }) => typed.push(Buffer.from(bytes).toString()));
  const plain = { ...keys, submit: false };
  const press = (key: string) => pressKey(terminal, parseKey(key), { by: 'test', repeat: 1 }, never);
  await Promise.all([
    typeText(terminal, '# one', { ...plain, paste: true }, never),
    press('Home'),
    press('End'),
    typeText(terminal, ' two', plain, never),
    press('Enter'),
  ]);
  expect(typed.map((bytes) => bytes.replace(/\x1b\[20[01]~/g, ''))).toEqual([
    '# one',
    '\x1b[H',
    '\x1b[F',
    ' two',
    '\r',
  ]);
  await expect.poll(() => screenText(terminal)).toContain('# one two');
});

describe('R-HUB-092, R-HUB-093: Enter by itself', () => {
  test.each(['enter', 'paste'] as const)('%s: a burst filter of 120 ms swallows nothing in the end', async (mode) => {
    await using place = await Workplace.open();
    const { terminal, lines } = await startTui(place, 120);
    for (const text of ['first', 'second', 'third']) {
      expect(await send(terminal, text, mode)).toMatchObject({ submitted: true });
    }
    await expect.poll(lines).toEqual(['first', 'second', 'third']);
  });

  test('a busy program that marks no pastes gets the text first, and Enter when it has drawn that', async () => {
    await using place = await Workplace.open();
    const { terminal, lines } = await startTui(place, 0, 'busy');
    await typeText(terminal, 'typed', keys, never);
    expect(await send(terminal, 'one\ntwo\n', 'paste')).toMatchObject({ submitted: true, wrapped: false, enters: 1 });
    expect(await send(terminal, 'three', 'enter')).toMatchObject({ submitted: true, enters: 1 });
    await expect.poll(lines).toEqual(['typed', 'one\rtwo', 'three']);
  });

  test('a program that never takes it is reported, after two more tries', async () => {
    await using place = await Workplace.open();
    const { terminal, lines } = await startTui(place, 60_000);
    expect(await send(terminal, 'in vain', 'paste')).toMatchObject({ submitted: false, enters: 3 });
    expect(lines()).toEqual([]);
  });

  test('the gap of a registry is kept', async () => {
    await using place = await Workplace.open();
    const { terminal } = await startTui(place, 0);
    const started = performance.now();
    const request = { text: 'x', mode: 'paste', by: 'test', gapMs: 700 } as const;
    expect(await submit(terminal, request, never)).toMatchObject({ submitted: true, enters: 1 });
    expect(performance.now() - started).toBeGreaterThanOrEqual(700);
  });

  test('type with submit takes the same care, and none at a prompt', async () => {
    await using place = await Workplace.open();
    const { terminal, lines } = await startTui(place, 120);
    await typeText(terminal, 'typed', keys, never);
    await typeText(terminal, 'pasted\nlines', { ...keys, paste: true }, never);
    await expect.poll(lines).toEqual(['typed', 'pasted\nlines']);
    const shell = await place.shell();
    expect(await typeText(shell, 'true', keys, never)).toEqual({ bytes: 5, bracketed: false });
  });
});

test('R-HUB-094: bodies, gaps and Enters of many senders never mix; Ctrl-C overtakes them', async () => {
  await using place = await Workplace.open();
  const { terminal, lines } = await startTui(place, 0);
  const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(5000));
  await Promise.all(texts.map((text, index) => send(terminal, text, index % 2 === 0 ? 'enter' : 'paste')));
  // What the program has done is not told by what it has drawn of 5000 letters.
  await expect.poll(lines).toEqual(texts);
  const under = texts.map((text) =>
    send(terminal, text, 'paste').then(
      () => 'sent',
      (error: Error) => error.message,
    ),
  );
  await pressKey(terminal, parseKey('Ctrl+C'), { by: 'test', repeat: 1 }, never);
  for (const end of await Promise.all(under)) expect(end).toMatch(/^Overtaken by Ctrl\+C/);
  await expect.poll(() => terminal.blocks.state).toBe('prompt');
  expect(lines()).toEqual(texts);
  await expect(send(terminal, 'x'.repeat((256 << 10) + 1), 'raw')).rejects.toMatchObject({ code: 'too_large' });
});

describe('real programs', () => {
  test('bash runs a pasted script of several lines once', async () => {
    await using place = await Workplace.open();
    const terminal = await place.shell();
    await send(terminal, 'for i in 1 2 3\ndo echo "round $i" >> out\ndone', 'paste');
    await expect
      .poll(() => existsSync(join(place.home, 'out')) && readFileSync(join(place.home, 'out'), 'utf8'))
      .toBe('round 1\nround 2\nround 3\n');
    await expect.poll(() => terminal.blocks.list.map(({ exitCode }) => exitCode)).toEqual([0]);
  });

  test.each([
    ['python3 -q', '\n>>>', 'print(6 * 7, file=open("out", "a"))', 'exit()'],
    ['node -i', '\n>', 'fs.appendFileSync("out", "42\\n")', '.exit'],
  ])('%s', async (command, prompt, line, end) => {
    await using place = await Workplace.open();
    const terminal = await place.shell();
    await typeText(terminal, command, keys, never);
    const atPrompt = async (): Promise<boolean> => (await screenText(terminal)).trimEnd().endsWith(prompt);
    await expect.poll(atPrompt).toBe(true);
    await send(terminal, line, 'enter');
    await expect.poll(atPrompt).toBe(true);
    await send(terminal, line, 'paste');
    await expect.poll(atPrompt).toBe(true);
    await send(terminal, end, 'enter');
    await expect.poll(() => terminal.blocks.state).toBe('prompt');
    expect(readFileSync(join(place.home, 'out'), 'utf8')).toBe('42\n42\n');
  });

  test('vim in insert mode takes a paste as it is, indents included', async () => {
    await using place = await Workplace.open();
    const terminal = await place.shell();
    await typeText(terminal, 'vim -u NONE -c "set nocompatible autoindent" -c startinsert out', keys, never);
    await expect.poll(() => terminal.screen.alternate && terminal.screen.modes.bracketedPaste).toBe(true);
    await expect.poll(() => screenText(terminal)).toContain('-- INSERT --');
    const sent = await send(terminal, '  if x:\n    y\n', 'paste');
    expect(sent).toMatchObject({ submitted: true, wrapped: true, enters: 1 });
    await terminal.input.send(Buffer.from('\x1b:wq\r'), 'test', never);
    await expect.poll(() => terminal.blocks.state).toBe('prompt');
    expect(readFileSync(join(place.home, 'out'), 'utf8')).toBe('  if x:\n    y\n\n');
  });
});
