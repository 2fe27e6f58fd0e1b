import { describe, expect, test } from 'vitest';
import { FairleadError } from '../../../src/contract/errors.ts';
import { readTerminal, type ReadRequest } from '../../../src/engine/reading/read.ts';
import type { Terminal } from '../../../src/engine/terminal/terminal.ts';
import { openWire } from '../../support/reading.ts';
import { cpuTimer } from '../../support/clocks/cpu-timer.ts';

const signal = AbortSignal.timeout(60_000);
const read = (terminal: Terminal, request: Partial<ReadRequest> = {}) =>
  readTerminal(terminal, { view: 'screen', ...request }, signal);
const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\r\n`).join('');

describe('screen', () => {
  test('rows as displayed, where the cursor is, and the title', async () => {
    await using wire = openWire({ cols: 10, rows: 4 });
    await wire.say('\x1b]0;my \x1b title\u202e\x07one\r\n\r\n0123456789ab   \r\n');
    expect(await read(wire.terminal)).toMatchObject({
      text: '\n0123456789\nab',
      altScreen: false,
      state: 'idle',
      screen: { cols: 10, rows: 4, title: expect.stringMatching(/^my/), cursor: { x: 0, y: 3, visible: true } },
      flags: {},
      totalLines: 3,
    });
  });

  test('hidden text is shown as such, and flagged', async () => {
    await using wire = openWire();
    await wire.say('see \x1b[8mnothing here\x1b[m!\r\n\x1b[38;2;9;9;9;48;2;10;9;9mdark\x1b[m');
    const { text, flags } = await read(wire.terminal);
    expect(text).toBe('see ⟦nothing here⟧!\n⟦dark⟧');
    expect(flags).toEqual({ hidden: 16 });
  });
});

describe('new', () => {
  test('R-HUB-104: what came since the cursor of any earlier answer, wraps joined', async () => {
    await using wire = openWire({ cols: 10, rows: 4 });
    await wire.say('before\r\n');
    const { cursor } = await read(wire.terminal);
    expect(await read(wire.terminal, { view: 'new', cursor })).toMatchObject({ text: '', totalLines: 0 });
    await wire.say(`${'x'.repeat(25)}\r\n10%\r100%\r\n`);
    const first = await read(wire.terminal, { view: 'new', cursor });
    expect(first.text).toBe(`${'x'.repeat(25)}\n100%`);
    await wire.say('more');
    expect((await read(wire.terminal, { view: 'new', cursor: first.cursor })).text).toBe('more');
  });

  test('more than the scrollback holds comes from the log', async () => {
    await using wire = openWire({ rows: 5, scrollback: 20 });
    await wire.say(numbered(1, 3));
    const { cursor } = await read(wire.terminal);
    await wire.say(numbered(4, 300));
    const { text, lost } = await read(wire.terminal, { view: 'new', cursor });
    expect(text.split('\n')).toHaveLength(297);
    expect(text.startsWith('line 4\n')).toBe(true);
    expect(lost).toBeUndefined();
  });

  test('after a reflow, and after a full-screen program', async () => {
    await using wire = openWire({ cols: 20, rows: 5 });
    await wire.say('one\r\n');
    const { cursor } = await read(wire.terminal);
    await wire.terminal.resize({ cols: 30, rows: 5 }, signal);
    await wire.say('two\r\n\x1b[?1049h\x1b[Hmenu');
    const inside = await read(wire.terminal, { view: 'new', cursor });
    expect(inside).toMatchObject({ text: 'menu', altScreen: true });
    await wire.say('\x1b[2Jgarbage\x1b[?1049lthree\r\n');
    expect((await read(wire.terminal, { view: 'new', cursor: inside.cursor })).text).toBe('three');
    expect((await read(wire.terminal, { view: 'new', cursor })).text).toBe('two\nthree');
  });

  test('output that is gone is missed by the byte', async () => {
    await using wire = openWire();
    await wire.say('start\r\n');
    const { cursor } = await read(wire.terminal);
    const line = `${'y'.repeat(98)}\r\n`;
    for (let i = 0; i < 50; i++) await wire.say(line.repeat(1000));
    const { log } = wire.terminal;
    expect(log.start).toBeGreaterThan(0);
    const { lost, missedBytes = 0, totalLines } = await read(wire.terminal, { view: 'new', cursor });
    expect(lost).toBe(true);
    expect(missedBytes).toBeGreaterThanOrEqual(log.start - 7);
    expect(missedBytes).toBeLessThan(log.start + 200);
    expect(totalLines).toBe((log.end - missedBytes - 7) / 100);
  });

  test('a cursor of another terminal is refused', async () => {
    await using wire = openWire();
    await wire.say('x');
    for (const cursor of ['', 'nope', 'n1.2.3', 'nzzzzzzz.0.0.1', '1.2']) {
      await expect(read(wire.terminal, { view: 'new', cursor })).rejects.toThrow(FairleadError);
    }
  });
});

describe('diff', () => {
  test('rows that changed, by their place on the screen', async () => {
    await using wire = openWire({ rows: 6 });
    await wire.say('\x1b[?1049h\x1b[Hcpu 10%\r\nmem 20%\r\nbusy');
    const { cursor } = await read(wire.terminal);
    await wire.say('\x1b[2;1Hmem 25%\x1b[5;3Hnew');
    const answer = await read(wire.terminal, { view: 'diff', cursor });
    expect(answer.diff).toEqual({
      compared: true,
      scrolled: 0,
      rows: [
        { row: 1, text: 'mem 25%' },
        { row: 4, text: '  new' },
      ],
    });
    expect(answer.text).toBe('1| mem 25%\n4|   new');
    expect((await read(wire.terminal, { view: 'diff', cursor: answer.cursor })).text).toBe('');
  });

  test('rows that only moved up are not changed', async () => {
    await using wire = openWire({ rows: 4 });
    await wire.say('a\r\nb\r\nc\r\n');
    const { cursor } = await read(wire.terminal);
    await wire.say('d\r\ne\r\n');
    expect((await read(wire.terminal, { view: 'diff', cursor })).diff).toEqual({
      compared: true,
      scrolled: 2,
      rows: [
        { row: 1, text: 'd' },
        { row: 2, text: 'e' },
      ],
    });
  });

  test('too old a cursor gives the whole screen and says so', async () => {
    await using wire = openWire({ rows: 3 });
    await wire.say('first');
    const { cursor } = await read(wire.terminal);
    for (let i = 0; i < 9; i++) {
      await wire.say(`\r${i}`);
      await read(wire.terminal);
    }
    expect(await read(wire.terminal, { view: 'diff', cursor })).toMatchObject({
      lost: true,
      diff: { compared: false },
    });
  });
});

describe('command', () => {
  test('R-HUB-103: the last command, or the newest one with a text in it, with its exit code', async () => {
    await using wire = openWire();
    await wire.ran('make all', 'cc x.c\r\nerror\r\n', 2);
    await wire.ran('ls; pwd', '\x1b[1mfile\x1b[0m\r\n');
    expect(await read(wire.terminal, { view: 'command' })).toMatchObject({
      text: 'file',
      command: { block: 2, command: 'ls; pwd', exitCode: 0, running: false },
    });
    const make = await read(wire.terminal, { view: 'command', block: 'make' });
    expect(make).toMatchObject({ text: 'cc x.c\nerror', command: { block: 1, exitCode: 2 } });
    expect((await read(wire.terminal, { view: 'command', block: 1 })).text).toBe('cc x.c\nerror');
    await expect(read(wire.terminal, { view: 'command', block: 'cargo' })).rejects.toThrow(/not among/);
  });

  test('none yet', async () => {
    await using wire = openWire();
    await expect(read(wire.terminal, { view: 'command' })).rejects.toThrow(/No command/);
  });
});

describe('more than fits', () => {
  test('R-HUB-102: exact figures, and pages that give all of it back', async () => {
    await using wire = openWire();
    await wire.ran('seq', numbered(1, 20_000));
    const answer = await read(wire.terminal, { view: 'command', maxBytes: 4096 });
    const whole = numbered(1, 20_000).replaceAll('\r', '').slice(0, -1);
    expect(answer).toMatchObject({ totalLines: 20_000, totalBytes: whole.length });
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(4096);
    const [head = '', tail = ''] = answer.text.split(/\[… .* …\]\n/);
    expect(answer.clipped).toMatchObject({
      omittedBytes: whole.length - head.length - tail.length,
      fromLine: head.split('\n').length,
      toLine: 20_000 - tail.split('\n').length,
    });
    await wire.say('something else\r\n'.repeat(100));
    let middle = '';
    let line = answer.clipped?.fromLine ?? 0;
    for (let { rest } = answer; rest !== undefined; ) {
      const page = await read(wire.terminal, { rest, maxBytes: 100_000 });
      expect(page.page?.fromLine).toBe(line);
      line = (page.page?.toLine ?? 0) + 1;
      middle += page.text;
      rest = page.rest;
    }
    expect(head + middle + tail).toBe(whole);
    expect(line - 1).toBe(answer.clipped?.toLine);
    const rest = answer.rest ?? '';
    expect((await read(wire.terminal, { rest, line: 777, maxBytes: 1024 })).text).toMatch(/^line 777\nline 778\n/);
  });

  test('everything kept, page by page, when it did not fit', async () => {
    await using wire = openWire();
    await wire.say(numbered(1, 500));
    const { text, rest, totalLines } = await read(wire.terminal, { view: 'output', maxBytes: 1024 });
    expect(totalLines).toBe(500);
    const [head = '', tail = ''] = text.split(/\[… .* …\]\n/);
    const page = await read(wire.terminal, { rest, maxBytes: 200_000 });
    expect(`${head}${page.text}${tail}`).toBe(numbered(1, 500).replaceAll('\r', '').slice(0, -1));
    expect(page.rest).toBeUndefined();
  });

  test('a handle to what is gone, or to nothing, is refused', async () => {
    await using wire = openWire();
    await wire.say(numbered(1, 2000));
    const { rest } = await read(wire.terminal, { view: 'output', maxBytes: 1024 });
    for (let i = 0; i < 45; i++) await wire.say(`${'z'.repeat(98)}\r\n`.repeat(1000));
    await expect(read(wire.terminal, { rest })).rejects.toThrow(/no longer kept/);
    for (const wrong of ['', 'x', 'o1.2', 'o0.1.1.1.0.1', 'p1.2.3.4']) {
      await expect(read(wire.terminal, { rest: wrong })).rejects.toThrow(FairleadError);
    }
  });

  test('4 MiB are read in bounded time, and others get their turn meanwhile', async () => {
    await using wire = openWire();
    const line = '2026-11-15T10:00:00Z INFO worker handled a request in 12 ms\r\n';
    for (let i = 0; i < 16; i++) await wire.say(line.repeat(4290));
    await read(wire.terminal);
    let turns = 0;
    let going = true;
    const count = (): void => {
      turns++;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    const spent = cpuTimer();
    const { totalLines } = await read(wire.terminal, { view: 'output' });
    const took = spent();
    going = false;
    expect(totalLines).toBe(16 * 4290);
    expect(turns).toBeGreaterThan(1);
    expect(took).toBeLessThan(2000);
  });
});

test('the summary of a known tool stands where its output was cut', async () => {
  await using wire = openWire();
  const dots = Array.from({ length: 400 }, (_, i) => `tests/test_${i}.py ....... [ ${i % 100}%]\r\n`).join('');
  const end = 'FAILED tests/test_7.py::test_x - assert 1 == 2\r\n======= 1 failed, 2799 passed in 3.21s =======\r\n';
  await wire.ran('pytest -q', `${'='.repeat(20)} test session starts ${'='.repeat(20)}\r\n${dots}${end}`, 1);
  const answer = await read(wire.terminal, { view: 'command', maxBytes: 2048 });
  expect(answer.summary).toMatchObject({ kind: 'pytest', status: 'failed', counts: { failed: 1, passed: 2799 } });
  expect(answer.text).toMatch(/left out: .*…\]\npytest: failed/);
});
