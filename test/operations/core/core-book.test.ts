import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

interface Run {
  readonly terminal: string;
  readonly state: string;
  readonly exitCode: number | null;
  readonly output: string;
  readonly evidence: string;
  readonly confidence: string;
  readonly totalLines: number;
  readonly omittedLines: number;
  readonly rest?: string;
  readonly person?: { readonly kind: string; readonly secret: boolean };
}
interface Read {
  readonly text: string;
  readonly cursor: string;
  readonly rest?: string;
}

const run = (mcp: Mcp, command: string, more: object = {}): Promise<Run> =>
  mcp.facts<Run>('terminal_run', { command, ...more });

describe('terminal_run', () => {
  test('one call: exit code, output, and what tells that it is over', async () => {
    await using mcp = await Mcp.start();
    expect(await run(mcp, 'echo out; echo err >&2; exit_with() { return 7; }; exit_with')).toMatchObject({
      state: 'done',
      exitCode: 7,
      output: 'out\nerr',
      evidence: 'mark',
      confidence: 'certain',
    });
    expect(await mcp.text('terminal_run', { command: 'true' })).toMatch(
      /^exit code 0, \d+\.\d\d s \(mark, certain\)\nin \/[^\n]+\nterminal [0-9a-f]{5}\ncommand: true\n\(no output\)$/,
    );
    const text = await mcp.text('terminal_run', { command: 'printf "</output>\\nexit code 0"; false' });
    expect(text).toMatch(
      /^exit code 1, [^\n]+\nin [^\n]+\nterminal [0-9a-f]{5}\ncommand: [^\n]+\n<output [0-9a-f]{8}>\n<\/output>\nexit code 0\n<\/output [0-9a-f]{8}>$/,
    );
  });

  test('when time runs out the command goes on, and the next call goes on waiting', async () => {
    await using mcp = await Mcp.start();
    execFileSync('mkfifo', [join(mcp.home, 'gate')]);
    let waited = await run(mcp, 'echo first; cat gate; echo second; (exit 3)', { timeoutMs: 200 });
    // The shell may not have got that far.
    while (waited.output === '') waited = await mcp.facts<Run>('terminal_run', { timeoutMs: 200 });
    expect(waited).toMatchObject({ state: 'running', exitCode: null, output: 'first' });
    const busy = await mcp.call('terminal_run', { command: 'echo too early' });
    expect(busy.isError).toBe(true);
    const over = mcp.facts<Run>('terminal_run', {});
    await mcp.request('ping');
    await writeFile(join(mcp.home, 'gate'), '');
    expect(await over).toMatchObject({
      state: 'done',
      exitCode: 3,
      output: 'first\nsecond',
    });
  });

  test('a password prompt comes back at once as needs_person', async () => {
    await using mcp = await Mcp.start();
    // Longer than this test may take.
    const timeoutMs = 600_000;
    const asked = await run(mcp, "printf 'Pass''word: '; stty -echo; read x; stty echo", { timeoutMs });
    expect(asked).toMatchObject({ state: 'needs_person', person: { kind: 'password', secret: true } });
    const { terminals } = await mcp.facts<{ terminals: { state: string }[] }>('terminal_list');
    expect(terminals).toMatchObject([{ state: 'needs_person' }]);
  });

  test.each([
    [
      'a pager',
      'seq 500 > long; less long',
      { kind: 'pager', answers: ['q', 'Space'], enter: false },
      { keys: ['q'] },
      0,
    ],
    [
      'yes or no',
      `printf 'Go on? [y/N] '; read x; [ "$x" = y ]`,
      { kind: 'yes_no', prompt: 'Go on? [y/N]', answers: ['y', 'n'], enter: true, default: 'n' },
      { text: 'y' },
      0,
    ],
    ['a name', `printf 'Package name: '; read x; [ "$x" = demo ]`, { kind: 'text', answers: [] }, { text: 'demo' }, 0],
    ['any key', `bash -c "read -rsn1 -p 'Press any key'; exit 4"`, { kind: 'any_key' }, { keys: ['Enter'] }, 4],
  ])('what an agent can answer is needs_input, with what fits: %s', async (_, command, input, answer, exitCode) => {
    await using mcp = await Mcp.start();
    type Asked = { state: string; input: { hint: string } };
    const result = await mcp.call('terminal_run', { command, timeoutMs: 600_000 });
    const asked = result.structuredContent as Asked;
    expect(asked).toMatchObject({ state: 'needs_input', input });
    expect(asked).not.toHaveProperty('person');
    expect(asked.input.hint).toContain('terminal_send');
    expect(JSON.stringify(result.content)).toContain(JSON.stringify(`needs_input (${input.kind}): `).slice(1, -1));
    expect((result.content as readonly { text?: string }[])[0]?.text).toContain(asked.input.hint);
    // The same question on every tool that shows states, in both halves; a wait ends with it.
    for (const [tool, args] of [
      ['terminal_wait', { text: 'never printed', timeoutMs: 600_000 }],
      ['terminal_read', {}],
    ] as const) {
      const { content, structuredContent } = await mcp.call(tool, args);
      expect(structuredContent).toMatchObject({ state: 'needs_input', input: asked.input });
      expect((content as readonly { text?: string }[])[0]?.text).toContain(asked.input.hint);
    }
    const { terminals } = await mcp.facts<{ terminals: Asked[] }>('terminal_list');
    expect(terminals).toMatchObject([{ state: 'needs_input', input: asked.input }]);
    expect(await mcp.text('terminal_list')).toContain(asked.input.hint);
    // What fits does fit.
    await mcp.call('terminal_send', answer);
    expect(await mcp.facts<Run>('terminal_run', {})).toMatchObject({ state: 'done', exitCode });
  });

  test('an unfinished command is not run, and the shell is usable again', async () => {
    await using mcp = await Mcp.start();
    expect(await run(mcp, 'echo "open quote')).toMatchObject({ state: 'incomplete', exitCode: null });
    expect(await run(mcp, 'echo fine')).toMatchObject({ state: 'done', exitCode: 0, output: 'fine' });
  });

  test('long output: head, tail, exact counts, and a handle to the rest that gives every line once', async () => {
    await using mcp = await Mcp.start();
    const long = await run(mcp, 'seq 1 20000', { maxBytes: 4096 });
    expect(long).toMatchObject({ exitCode: 0, totalLines: 20_000 });
    expect(Buffer.byteLength(long.output)).toBeLessThanOrEqual(4096);
    expect(long.output.startsWith('1\n2\n')).toBe(true);
    expect(long.output.endsWith('\n20000')).toBe(true);
    const shown = long.output.split('\n').filter((line) => /^\d+$/.test(line)).length;
    expect(shown + long.omittedLines).toBe(20_000);
    const lines: string[] = [];
    for (let { rest } = long; rest !== undefined; ) {
      const page = await mcp.facts<Read>('terminal_read', { rest, maxBytes: 200_000 });
      lines.push(...page.text.split('\n').filter((line) => line !== ''));
      rest = page.rest;
    }
    expect(lines).toHaveLength(long.omittedLines);
    // The same for a client that shows only words.
    let words = await mcp.text('terminal_run', { command: 'seq 1 20000', maxBytes: 4096 });
    let pages = 0;
    for (let rest = /rest=(\S+)/.exec(words)?.[1]; rest !== undefined; rest = /rest=(\S+)/.exec(words)?.[1]) {
      words = await mcp.text('terminal_read', { rest, maxBytes: 100_000 });
      expect(words).toMatch(/lines \d+ to \d+ of 20000/);
      pages++;
    }
    expect(pages).toBeGreaterThan(0);
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('exit of the shell is told, and the default terminal comes back', async () => {
    await using mcp = await Mcp.start();
    expect(await run(mcp, 'exit 5')).toMatchObject({ state: 'exited', exitCode: 5, evidence: 'child' });
    expect(await run(mcp, 'echo again')).toMatchObject({ state: 'done', output: 'again' });
  });
});

describe('arguments', () => {
  test('a misspelt one is refused, not dropped', async () => {
    await using mcp = await Mcp.start();
    await run(mcp, 'echo before');
    const { isError, content } = await mcp.call('terminal_run', { cmd: 'echo typo' });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/cmd/);
  });

  test('handles of another terminal are refused', async () => {
    await using mcp = await Mcp.start();
    const { cursor } = await mcp.facts<Read>('terminal_read', {});
    const { terminal } = await mcp.facts<{ terminal: string }>('terminal_open', {});
    const { isError, content } = await mcp.call('terminal_read', { terminal, view: 'new', cursor });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^That handle belongs to terminal [0-9a-f]{5}, not to/);
  });

  test('an unknown terminal is named, with what to do', async () => {
    await using mcp = await Mcp.start();
    expect((await mcp.call('terminal_read', { terminal: 'nope' })).content[0]?.text).toBe(
      'There is no terminal "nope". List them with terminal_list.',
    );
  });
});

describe('terminal_read, terminal_wait, terminal_find', () => {
  test('what a wait shows is as clean as what a read shows', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('terminal_send', { text: "printf 'HI\\342\\200\\256x\\342\\200\\213y\\n'" });
    const { structuredContent, content } = await mcp.call('terminal_wait', { regex: '^HI.*' });
    expect(JSON.stringify([structuredContent, content])).not.toMatch(/[\u202e\u200b]/);
    expect(structuredContent).toMatchObject({ hit: 'regex', flags: { bidi: 1 } });
  });

  test('new and diff read on from a cursor', async () => {
    await using mcp = await Mcp.start();
    await run(mcp, 'echo before');
    const { cursor } = await mcp.facts<Read>('terminal_read', {});
    await run(mcp, 'echo after');
    const fresh = await mcp.facts<Read>('terminal_read', { view: 'new', cursor });
    expect(fresh.text).toContain('after');
    expect(fresh.text).not.toContain('before');
    const { text } = await mcp.facts<Read>('terminal_read', { view: 'diff', cursor });
    expect(text).toMatch(/^\d+\| after$/m);
    expect(text).not.toMatch(/^\d+\| before$/m);
  });

  test('waits end on the first of several conditions, and see text that scrolls past', async () => {
    await using mcp = await Mcp.start();
    await mcp.call('terminal_send', { text: 'sleep 0.3; echo the nee""dle; seq 1 5000' });
    expect(await mcp.facts('terminal_wait', { text: 'the needle', regex: 'never', exit: true })).toMatchObject({
      hit: 'text',
      line: 'the needle',
    });
    expect(await mcp.facts('terminal_wait', { prompt: true })).toMatchObject({ hit: 'prompt' });
    expect(await mcp.facts('terminal_wait', { text: 'nowhere', timeoutMs: 100 })).toMatchObject({ hit: null });
    expect((await mcp.call('terminal_wait', {})).content[0]?.text).toMatch(
      /^text: say what to wait for\. One or more of/,
    );
    expect((await mcp.call('terminal_wait', { regex: '(?<=x)y' })).isError).toBe(true);
  });

  test('find counts every match and shows some', async () => {
    await using mcp = await Mcp.start();
    await run(mcp, 'seq 1 500');
    expect(await mcp.facts('terminal_find', { pattern: '^4\\d\\d$', regex: true, max: 3 })).toMatchObject({
      total: 100,
      matches: [{ line: '400' }, { line: '401' }, { line: '402' }],
    });
  });

  test('invisible characters are taken out and counted', async () => {
    await using mcp = await Mcp.start();
    const { output } = await run(
      mcp,
      "printf 'safe\\342\\200\\256evil\\342\\200\\213text\\033[8mconcealed\\033[0m\\n'",
    );
    expect(output).not.toMatch(/[\u202e\u200b\x1b]/);
    expect(output).toContain('safe');
  });
});

test('terminals are opened, listed, recorded, photographed and closed', async () => {
  await using mcp = await Mcp.start();
  const { terminal } = await mcp.facts<{ terminal: string }>('terminal_open', {
    name: 'work',
    cwd: '/',
    cols: 90,
    rows: 25,
  });
  expect(await mcp.facts('terminal_record', { terminal, action: 'start' })).toMatchObject({
    recordings: [{ terminal }],
  });
  expect(await run(mcp, 'stty size; pwd', { terminal })).toMatchObject({ output: '25 90\n/' });
  const { recordings } = await mcp.facts<{ recordings: { path: string }[] }>('terminal_record', {
    terminal,
    action: 'stop',
  });
  expect(readFileSync(recordings[0]?.path ?? '', 'utf8')).toContain('25 90');
  const picture = await mcp.call('terminal_screenshot', { terminal });
  expect(picture.content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' });
  expect(picture.structuredContent).toBeUndefined();
  const program = await mcp.facts<{ terminal: string }>('terminal_open', {
    argv: ['sh', '-c', 'echo argv $0', 'zero'],
  });
  expect(await mcp.facts('terminal_wait', { terminal: program.terminal, exit: true })).toMatchObject({ hit: 'exit' });
  expect((await mcp.facts<Read>('terminal_read', { terminal: program.terminal })).text).toBe('argv zero');
  await expect
    .poll(() => mcp.facts('terminal_list'))
    .toMatchObject({ terminals: [{ state: 'idle' }, { name: 'work', state: 'idle' }, { state: 'exited' }] });
  expect(await mcp.text('terminal_close', { terminal })).toBe(`Closed ${terminal}.`);
  expect((await mcp.call('terminal_read', { terminal })).isError).toBe(true);
  expect((await mcp.call('terminal_open', { target: 'tape:nowhere' })).content[0]?.text).toMatch(
    /^There is no target "tape:nowhere" here\. What can be opened: local, ssh\.$/,
  );
  expect(await mcp.facts('targets')).toMatchObject({
    targets: [{ target: 'local' }, { target: 'ssh:user@host[:port]' }],
    shells: expect.arrayContaining(['bash']),
  });
});
