import { describe, expect, test } from 'vitest';
import { openWire as openTimed, type WireOptions } from '../../../test/support/reading.ts';
import { cpuTimer } from '../../../test/support/clocks/cpu-timer.ts';
import { ManualClock } from '../../../test/support/clocks/manual.ts';
import { FairleadError } from '../../contract/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { findInTerminal, type FindRequest } from './find.ts';

const { signal } = new AbortController();
/** Time stands still: what is found does not depend on how busy the machine is. */
const openWire = (options: WireOptions = {}) => openTimed({ clock: new ManualClock(), ...options });
const find = (terminal: Terminal, request: FindRequest) => findInTerminal(terminal, request, signal);
const numbered = (to: number): string => Array.from({ length: to }, (_, i) => `line ${i + 1}\r\n`).join('');

describe('finding text', () => {
  test('on the screen and in the scrollback, with absolute rows, exact total and context', async () => {
    await using wire = openWire({ rows: 5 });
    await wire.say(numbered(100));
    const all = await find(wire.terminal, { pattern: 'line 9', max: 3, context: 1 });
    expect(all).toMatchObject({
      total: 11,
      linesSearched: 100,
      firstRow: 0,
      screenTop: 96,
      next: 91,
      altScreen: false,
    });
    expect(all.matches[1]).toEqual({
      row: 89,
      endRow: 89,
      col: 0,
      match: 'line 9',
      line: 'line 90',
      before: ['line 89'],
      after: ['line 91'],
    });
    const rest = await find(wire.terminal, { pattern: 'line 9', from: all.next });
    expect(rest.matches.map(({ line }) => line)).toEqual([
      'line 92',
      ...[93, 94, 95, 96, 97, 98, 99].map((n) => `line ${n}`),
    ]);
    const screen = await find(wire.terminal, { pattern: 'line 9', scope: 'screen' });
    expect(screen.total).toBe(3);
  });

  test('exactly as many as asked for, each once, also of a line with more (R-RPC-052)', async () => {
    await using wire = openWire({ cols: 10, rows: 4 });
    // Three rows of three, and a line of seven that is wrapped.
    await wire.say(`${'q q q\r\n'.repeat(3)}q-q-q-q-q-q-q`);
    const places: string[] = [];
    let [from, fromCol]: [number?, number?] = [];
    for (const counts of [
      [5, 16],
      [5, 11],
      [5, 6],
      [1, 1],
    ]) {
      const { matches, total, next, nextCol } = await find(wire.terminal, { pattern: 'q', max: 5, from, fromCol });
      expect([matches.length, total]).toEqual(counts);
      places.push(...matches.map(({ row, col }) => `${row}:${col}`));
      [from, fromCol] = [next, nextCol];
    }
    expect(from).toBeUndefined();
    const [line, wrapped] = [[0, 2, 4, 6, 8].map((col) => `3:${col}`), ['4:0', '4:2']];
    expect(places).toEqual([
      ...[0, 1, 2].flatMap((row) => [0, 2, 4].map((col) => `${row}:${col}`)),
      ...line,
      ...wrapped,
    ]);
  });

  test('rows of before a clear are refused (R-RPC-021)', async () => {
    await using wire = openWire();
    await wire.say(numbered(3));
    const { epoch } = await find(wire.terminal, { pattern: 'line' });
    expect(await find(wire.terminal, { pattern: 'line', from: 1, epoch })).toMatchObject({ total: 2 });
    await expect(find(wire.terminal, { pattern: 'line', from: 1, epoch: epoch + 1 })).rejects.toThrow('renumbered');
  });

  test('across soft wraps, with the rows the match is in', async () => {
    await using wire = openWire({ cols: 10, rows: 5 });
    await wire.say('one\r\n0123456789abcdef\r\n');
    const { matches } = await find(wire.terminal, { pattern: '89ab' });
    expect(matches).toMatchObject([{ row: 1, endRow: 2, line: '0123456789abcdef' }]);
    expect((await find(wire.terminal, { pattern: 'cde' })).matches).toMatchObject([{ row: 2, endRow: 2 }]);
  });

  test('patterns, case, special characters taken literally', async () => {
    await using wire = openWire();
    await wire.say('Error: a.b (c)\r\nerror 42\r\n\r\naXb\r\n');
    const total = async (request: FindRequest): Promise<number> => (await find(wire.terminal, request)).total;
    expect(await total({ pattern: 'error' })).toBe(1);
    expect(await total({ pattern: 'error', ignoreCase: true })).toBe(2);
    expect(await total({ pattern: 'a.b (C)', ignoreCase: true })).toBe(1);
    expect(await total({ pattern: 'a.b', regex: true })).toBe(2);
    expect(await total({ pattern: '^error \\d+$', regex: true })).toBe(1);
    expect(await total({ pattern: '^$', regex: true })).toBe(1);
    expect(await total({ pattern: 'r*', regex: true })).toBe(6);
    await expect(find(wire.terminal, { pattern: '(', regex: true })).rejects.toThrow(FairleadError);
    await expect(find(wire.terminal, { pattern: '' })).rejects.toThrow(FairleadError);
  });

  test('a word cut by invisible characters is found, and they are flagged', async () => {
    await using wire = openWire();
    await wire.say('pass\u200bword\r\n');
    expect(await find(wire.terminal, { pattern: 'password' })).toMatchObject({ total: 1, flags: { zero_width: 1 } });
  });

  test('an answer stays small, however long lines and matches are', async () => {
    await using wire = openWire({ cols: 200, rows: 5 });
    await wire.say(`${'x🙂'.repeat(20_000)}\r\n`.repeat(3));
    const answer = await find(wire.terminal, { pattern: '.+', regex: true, max: 200, context: 20 });
    expect(JSON.stringify(answer).length).toBeLessThan(300_000);
    for (const { line, match } of answer.matches) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(500);
      expect(`${line}${match}`).not.toMatch(/\p{Surrogate}|\ufffd/u);
    }
  });

  test('a pattern that looks to the end of the line for every match is not waited for', async () => {
    await using wire = openTimed({ cols: 1000, rows: 5 });
    await wire.say('a'.repeat(500_000));
    const spent = cpuTimer();
    const { incomplete, total } = await find(wire.terminal, { pattern: 'a(.*z)?', regex: true });
    expect(spent()).toBeLessThan(15_000);
    expect(incomplete).toBe(true);
    expect(total).toBeGreaterThan(0);
  });

  test('nobody waits: it stops', async () => {
    await using wire = openWire({ cols: 1000, rows: 5 });
    await wire.say('a'.repeat(200_000));
    const gone = new AbortController();
    const finding = findInTerminal(wire.terminal, { pattern: 'a(.*z)?', regex: true }, gone.signal);
    setImmediate(() => gone.abort());
    await expect(finding).rejects.toThrow(/abort|cancelled/i);
  });
});
