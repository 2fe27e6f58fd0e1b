import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerSize, expectInStructure, expectInText, textOf, type Wording } from '../../support/both-halves.ts';
import { Mcp, type ToolResult } from '../../support/mcp-client.ts';

// Claude Code and Codex show a model only the structure of an answer, Gemini only its text.

/** How the words tell what is no number and no text, and what need not be told twice. */
const wording: Wording = {
  'exitCode=null': /exit code unknown|still running|needs|incomplete|exit \?/,
  'terminals.exitCode=null': /exit \?/,
  'altScreen=true': /full-screen program/,
  'altScreen=false': undefined,
  'screen.cursor.visible=true': undefined,
  'screen.cursor.visible=false': /hidden cursor/,
  'isDefault=true': /default/,
  'isDefault=false': undefined,
  'terminals.isDefault=true': /default/,
  'terminals.isDefault=false': undefined,
  'targets.isPattern=true': /ssh:user@host\[:port\] {2}.*fill in/,
  'targets.terminals=0': undefined,
  'hit=null': /nothing of it within/,
  'lost=true': /no longer kept/,
  'command.running=true': /running/,
  'command.running=false': /exit code/,
  'diff.compared=true': /changed rows/,
  'diff.compared=false': /nothing to compare with/,
  'submitted=true': /reacted to Enter/,
  'submitted=false': /did not react to Enter/,
  'submitted="unknown"': undefined,
  'wrapped=true': /bracketed paste/,
  'wrapped=false': undefined,
  'restarted=true': /new shell/,
  'restarted=false': undefined,
  'unfinished.runningMs': undefined,
  'saved=true': /saved/,
  'saved=false': /not kept/,
  'closed=true': /Closed/,
  'person.secret=true': /never send/i,
  'person.secret=false': undefined,
  'terminals.person.secret=true': /never send/i,
  // The hint tells which answers there are, and whether Enter follows.
  'input.enter=true': /terminal_send text/,
  'input.enter=false': /terminal_send keys/,
  // Nothing was left out: the text is all there is.
  'omittedLines=0': undefined,
  'omittedBytes=0': undefined,
  // The words begin with what the state means; the test of each state looks for it.
  state: undefined,
  total: undefined,
  'error.code': undefined,
};

/** Counts of a text that is shown whole are seen from the text. */
function whole(answer: ToolResult): Wording {
  const facts = answer.structuredContent as { omittedBytes?: number; clipped?: unknown; page?: unknown } | undefined;
  const isWhole = facts?.omittedBytes === 0 || (facts?.clipped === undefined && facts?.page === undefined);
  return isWhole ? { totalLines: undefined, totalBytes: undefined } : {};
}

function check(tool: string, answer: ToolResult): ToolResult {
  const text = textOf(answer);
  if (answer.structuredContent === undefined) return answer;
  expectInText(tool, answer, text, { ...wording, ...whole(answer) });
  expectInStructure(tool, text, answer.structuredContent);
  return answer;
}

let mcp: Mcp;
beforeAll(async () => {
  mcp = await Mcp.start();
}, 30_000);
afterAll(() => mcp[Symbol.asyncDispose]());

const call = async (tool: string, input: object = {}): Promise<ToolResult> => check(tool, await mcp.call(tool, input));
const facts = async (tool: string, input: object = {}): Promise<Record<string, unknown>> => {
  const answer = await call(tool, input);
  expect(answer.isError, textOf(answer)).not.toBe(true);
  return (answer.structuredContent ?? {}) as Record<string, unknown>;
};
const failure = async (tool: string, input: object): Promise<Record<string, unknown>> => {
  const answer = await call(tool, input);
  expect(answer.isError, textOf(answer)).toBe(true);
  const { error } = answer.structuredContent as { error: { message: string; hint?: string } };
  expect(textOf(answer)).toContain(error.message.replace(/\.$/, ''));
  if (error.hint !== undefined) expect(textOf(answer)).toContain(error.hint);
  return error as unknown as Record<string, unknown>;
};

describe('core verbs: what one half says the other says, too', () => {
  test('terminal_run: done, clipped, running, incomplete, asking, exited', async () => {
    await facts('terminal_run', { command: 'echo out; exit_with() { return 7; }; exit_with' });
    const long = await facts('terminal_run', { command: 'seq 1 20000' });
    expect(long['next']).toContain(`rest=${String(long['rest'])}`);
    expect(await facts('terminal_run', { command: 'echo "open' })).toMatchObject({
      state: 'incomplete',
      note: expect.stringContaining('It was dropped'),
      next: expect.stringContaining('again'),
    });
    const half = await facts('terminal_run', { command: 'echo first\necho "open' });
    expect(half).toMatchObject({ state: 'incomplete', output: 'first' });
    expect(half['note']).toContain('The lines before it have run');
    expect(half['note']).not.toContain('Nothing was run');
    expect(half['next']).not.toContain('whole command');
    const terminal = (await facts('terminal_open', { name: 'second', cwd: '/' }))['terminal'] as string;
    const running = await facts('terminal_run', { terminal, command: 'sleep 600', timeoutMs: 300 });
    expect(running).toMatchObject({
      state: 'running',
      next: expect.stringContaining(`terminal_run terminal=${terminal} without command`),
    });
    expect(await facts('terminal_run', { terminal, timeoutMs: 10 })).toMatchObject({ command: 'sleep 600' });
    await failure('terminal_run', { terminal, command: 'echo too early' });
    await facts('terminal_send', { terminal, keys: ['Ctrl+C'] });
    await facts('terminal_wait', { terminal, prompt: true });
    const asked = await facts('terminal_run', { terminal, command: 'read -rsp "Pass""word: " x', timeoutMs: 600_000 });
    expect(asked).toMatchObject({ state: 'needs_person', person: { secret: true } });
    await facts('terminal_list');
    await facts('terminal_read', { terminal });
    await facts('terminal_wait', { terminal, text: 'not before the answer' });
    await facts('terminal_send', { terminal, keys: ['Ctrl+C'] });
    await facts('terminal_wait', { terminal, prompt: true });
    const sure = await facts('terminal_run', {
      terminal,
      command: 'read -rp "Continue""? [Y/n] " x',
      timeoutMs: 600_000,
    });
    expect(sure).toMatchObject({ state: 'needs_input', input: { kind: 'yes_no' } });
    await facts('terminal_send', { terminal, text: 'y' });
    await facts('terminal_wait', { terminal, prompt: true });
    const exited = await facts('terminal_run', { terminal, command: 'exit 5' });
    expect(exited).toMatchObject({ state: 'exited', exitCode: 5, next: expect.stringContaining('terminal_open') });
    expect(await failure('terminal_run', { terminal, command: 'echo' })).toMatchObject({
      code: 'terminal_exited',
      hint: expect.stringContaining('terminal_open'),
    });
    await facts('terminal_list');
    await facts('terminal_close', { terminal });
    expect(await failure('terminal_read', { terminal })).toMatchObject({ hint: 'List them with terminal_list.' });
  });

  test('terminal_read in every view, and the rest', async () => {
    await facts('terminal_run', { command: 'seq 1 9000' });
    const { cursor } = await facts('terminal_read');
    await facts('terminal_run', { command: 'printf "\\033]0;a title\\007"; echo new; tput civis' });
    for (const view of ['screen', 'new', 'diff', 'command', 'output']) await facts('terminal_read', { view, cursor });
    await facts('terminal_read', { view: 'diff' });
    let { rest } = await facts('terminal_read', { view: 'output' });
    for (let pages = 0; rest !== undefined && pages < 4; pages++) ({ rest } = await facts('terminal_read', { rest }));
    await facts('terminal_run', { command: 'tput cnorm' });
    await failure('terminal_read', { cursor: 'zzzzz.1', view: 'new' });
  });

  test('terminal_send, terminal_wait, terminal_find', async () => {
    const { cursor } = await facts('terminal_send', { text: 'echo the needle' });
    expect(await facts('terminal_wait', { text: 'needle', cursor })).toMatchObject({ hit: 'text' });
    expect(await facts('terminal_wait', { text: 'nowhere', timeoutMs: 50 })).toMatchObject({
      hit: null,
      next: expect.stringContaining('terminal_wait with terminal='),
    });
    await failure('terminal_wait', {});
    await facts('terminal_send', { text: 'a\nb', mode: 'paste', keys: ['Ctrl+C'] });
    await failure('terminal_send', {});
    await failure('terminal_send', { keys: ['NoSuchKey'] });
    await facts('terminal_run', { command: 'seq 1 5000' });
    const found = await facts('terminal_find', { pattern: '7', context: 1 });
    expect(found['next']).toContain(`from=${String(found['from'])}`);
    await facts('terminal_find', { pattern: '7', from: found['from'], fromCol: found['fromCol'] });
    await facts('terminal_find', { pattern: 'not there at all' });
    await failure('terminal_find', { pattern: '(', regex: true });
  });

  test('terminal_record, terminal_screenshot, targets', async () => {
    expect((await facts('terminal_record', { action: 'status' }))['recordings']).toEqual([]);
    await facts('terminal_record', { action: 'start' });
    await failure('terminal_record', { action: 'start' });
    await facts('terminal_list');
    await facts('terminal_record', { action: 'status' });
    await facts('terminal_record', { action: 'stop' });
    await facts('terminal_record', { action: 'start', onFailure: true });
    await facts('terminal_record', { action: 'stop' });
    await failure('terminal_record', { action: 'stop' });
    // A picture has no second half: its one line says it all.
    const text = textOf(await mcp.call('terminal_screenshot'));
    const { terminals } = (await facts('terminal_list')) as { terminals: { terminal: string }[] };
    expect(text).toMatch(/PNG \d+x\d+, \d+ bytes, of terminal/);
    expect(text).toContain(terminals[0]?.terminal);
    await facts('targets');
  });

  test('errors that no operation makes', async () => {
    expect(await failure('terminal_read', { terminal: 'nope' })).toMatchObject({
      message: 'There is no terminal "nope".',
      hint: 'List them with terminal_list.',
    });
    await failure('terminal_open', { target: 'tape:nowhere' });
    await failure('terminal_open', { argv: ['/does/not/exist'] });
    await failure('terminal_run', { cmd: 'echo typo' });
    const unknown = await mcp.call('terminal_runn');
    const { error } = unknown.structuredContent as { error: { message: string; hint: string } };
    expect(textOf(unknown)).toContain(error.message);
    expect(textOf(unknown)).toContain(error.hint);
  });
});

describe('terminal book: the texts are documented; the structure has every fact of them', () => {
  const structure = async (tool: string, input: object = {}): Promise<Record<string, unknown>> => {
    const answer = await mcp.call(tool, input);
    expectInStructure(tool, textOf(answer).split('\n').slice(0, 3).join('\n').slice(0, 200), answer.structuredContent);
    return (answer.structuredContent ?? {}) as Record<string, unknown>;
  };

  test('success and failure of every tool', async () => {
    await structure('type', { text: 'echo typed', submit: true });
    await structure('sendKey', { key: 'Enter', repeat: 2 });
    expect(await structure('getContent', { lastCommand: true })).toHaveProperty('exitCode');
    expect(await structure('getContent', { maxLines: 1 })).toHaveProperty('omittedLines');
    expect(await structure('getContent', { waitFor: 'never comes', timeoutMs: 10 })).toMatchObject({ matched: false });
    await structure('takeScreenshot');
    await structure('clear');
    const { sessionId } = await structure('createSession', { name: 'extra' });
    await structure('listSessions');
    const { recordingId } = await structure('startRecording', { sessionId });
    const again = await structure('startRecording', { sessionId });
    expect(again['error']).toMatchObject({ activeRecordingId: recordingId });
    await structure('stopRecording', { recordingId });
    await structure('destroySession', { sessionId });
    for (const [tool, input] of [
      ['getContent', { sessionId: 'nope' }],
      ['destroySession', { sessionId: 'nope' }],
      ['stopRecording', { recordingId: 'nope' }],
      ['sendKey', { key: 'NoSuchKey' }],
      ['type', {}],
    ] as const) {
      const answer = await mcp.call(tool, input);
      const { error } = answer.structuredContent as { error: { message: string; hint?: string } };
      for (const words of [error.message.replace(/\.$/, ''), error.hint ?? '']) expect(textOf(answer)).toContain(words);
    }
  });
});

describe('default answers have at most 10 KiB, text and structure together', () => {
  const limit = 10 << 10;
  const small = async (tool: string, input: object = {}): Promise<ToolResult> => {
    const answer = await mcp.call(tool, input);
    expect(answer.isError, textOf(answer)).not.toBe(true);
    expect(answerSize(answer), `${tool} ${JSON.stringify(input).slice(0, 200)}`).toBeLessThanOrEqual(limit);
    return answer;
  };

  test.each([
    ['lines', 'seq 1 200000'],
    [
      'quotes and backslashes',
      'for i in $(seq 1 3000); do echo \'"\\\\"\\\\"\\\\"\\\\"\\\\"\\\\"\\\\"\\\\"\\\\"\\\\"\'; done',
    ],
    ['control characters', 'for i in $(seq 1 2000); do printf "\\001\\002\\003\\004\\005\\t\\t\\t\\r\\n"; done'],
    ['one line', 'head -c 100000 /dev/zero | tr "\\0" "x"'],
    ['one line of quotes', 'head -c 100000 /dev/zero | tr "\\0" "\\""'],
    ['wide characters', 'for i in $(seq 1 4000); do echo "漢字かな交じり文 🙂 é ü"; done'],
    ['empty lines', 'yes "" | head -50000'],
    [
      'tests',
      'for i in $(seq 1 3000); do echo "tests/test_a.py::test_$i FAILED"; done; echo "== 3000 failed in 1.2s =="',
    ],
  ])('output full of %s: run, read in every view, every page of the rest, wait, find', async (_what, command) => {
    const { structuredContent } = await small('terminal_run', { command });
    let rest = structuredContent?.['rest'];
    for (let pages = 0; rest !== undefined && pages < 3; pages++) {
      rest = (await small('terminal_read', { rest })).structuredContent?.['rest'];
    }
    for (const view of ['screen', 'new', 'diff', 'command', 'output']) await small('terminal_read', { view });
    await small('terminal_wait', { prompt: true });
    await small('terminal_find', { pattern: '.+', regex: true });
  });

  test('a caller that asks for more gets more', async () => {
    const more = await mcp.call('terminal_run', { command: 'seq 1 20000', maxBytes: 100_000 });
    expect(String(more.structuredContent?.['output']).length).toBeGreaterThan(90_000);
  });

  test('a long command, and a list of many terminals', async () => {
    await small('terminal_run', { command: `: ${'x'.repeat(60_000)}` });
    await using many = await Mcp.start({ args: ['--max-sessions', '60'] });
    for (let i = 0; i < 30; i++)
      await many.call('terminal_open', { argv: ['sleep', '600'], name: `terminal number ${i}` });
    const ids = new Set<string>();
    let from: unknown = 0;
    while (from !== undefined) {
      const answer = check('terminal_list', await many.call('terminal_list', { from }));
      expect(answerSize(answer)).toBeLessThanOrEqual(limit);
      const page = answer.structuredContent as { terminals: { terminal: string }[]; from?: number; total: number };
      for (const { terminal } of page.terminals) ids.add(terminal);
      expect(page.total).toBe(31);
      ({ from } = page);
    }
    expect(ids.size).toBe(31);
  });

  test('a full screen of a full-screen program', async () => {
    const wide = Array.from({ length: 200 }, (_, i) => `${i} ${'"quoted" '.repeat(20)}`).join('\n');
    await writeFile(join(mcp.home, 'wide.txt'), wide);
    await small('terminal_send', { text: 'less wide.txt' });
    await small('terminal_wait', { text: '3 "quoted"' });
    await small('terminal_read');
    await small('terminal_send', { keys: ['q'] });
  });
});
