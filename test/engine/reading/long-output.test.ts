import { describe, expect, test } from 'vitest';
import { Mcp } from '../../support/mcp-client.ts';

interface NotKept {
  readonly lines: number;
  readonly bytes: number;
  readonly fromLine: number;
  readonly toLine: number;
}
interface Run {
  readonly state: string;
  readonly exitCode: number | null;
  readonly output: string;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly omittedLines: number;
  readonly omittedBytes: number;
  readonly notKept?: NotKept;
  readonly rest?: string;
}
interface Page {
  readonly text: string;
  readonly rest?: string;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly page: { readonly fromLine: number; readonly toLine: number };
  readonly notKept?: NotKept;
}

/** A loaded machine takes its time for 30 MB. */
const timeoutMs = 120_000;

const numbered = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, at) => `step ${at + from}: compiled something well named`).join('\n');
const seq = (count: number): string => `seq -f 'step %.0f: compiled something well named' ${count}`;

/** All that a handle leads to, in pages, each beginning where the one before ended or saying what is gone between. */
async function pages(mcp: Mcp, long: Run): Promise<Page[]> {
  const all: Page[] = [];
  for (let { rest } = long; rest !== undefined; rest = all.at(-1)?.rest) {
    all.push(await mcp.facts<Page>('terminal_read', { rest, maxBytes: 200_000 }));
  }
  return all;
}

const bytesOf = (all: readonly Page[]): number => all.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);

/** What an answer shows before and after its cut. */
function ends(output: string): [string, string] {
  const [head = '', tail = ''] = output.split(/\[… .* …\]\n/);
  return [head, tail];
}

describe('terminal_run with more output than an answer holds', { timeout: 300_000 }, () => {
  test.each([
    ['just over 1 MiB', 27_000],
    ['2 MB', 48_000],
    ['4 MB', 92_000],
  ])('%s, all of it kept: both ends, exact counts, and a handle to every byte between', async (_size, count) => {
    await using mcp = await Mcp.start();
    const whole = numbered(count);
    const long = await mcp.facts<Run>('terminal_run', { command: `${seq(count)}; (exit 3)`, timeoutMs });
    expect(long).toMatchObject({ state: 'done', exitCode: 3, totalLines: count, totalBytes: whole.length });
    const [head, tail] = ends(long.output);
    expect(whole.startsWith(head) && head.length > 0).toBe(true);
    expect(whole.endsWith(tail) && tail.length > 0).toBe(true);
    expect(long.notKept).toBeUndefined();
    expect(long.omittedBytes).toBe(whole.length - head.length - tail.length);
    const all = await pages(mcp, long);
    expect(`${head}${all.map(({ text }) => text).join('')}${tail}` === whole).toBe(true);
  });

  test.each([
    ['5 MB', 115_000],
    ['30 MB', 690_000],
  ])('%s, more than is kept: both ends, exact counts, and what is gone is told to the byte', async (_size, count) => {
    await using mcp = await Mcp.start();
    const whole = numbered(count);
    const long = await mcp.facts<Run>('terminal_run', { command: `${seq(count)}; (exit 3)`, timeoutMs });
    expect(long).toMatchObject({ state: 'done', exitCode: 3, totalLines: count, totalBytes: whole.length });
    const [head, tail] = ends(long.output);
    expect(whole.startsWith(head) && head.length > 0).toBe(true);
    expect(whole.endsWith(tail) && tail.length > 0).toBe(true);
    expect(long.omittedBytes).toBe(whole.length - head.length - tail.length);
    expect(long.omittedLines).toBe(count - head.trimEnd().split('\n').length - tail.split('\n').length);
    const { notKept: lost } = long;
    expect(lost).toBeDefined();
    if (!lost) return;
    const all = await pages(mcp, long);
    // Every byte was shown, is in a page, or was told to be gone.
    expect(bytesOf(all) + lost.bytes).toBe(long.omittedBytes);
    let line = head.split('\n').length;
    for (const { text, page, totalLines, totalBytes } of all) {
      if (line === lost.fromLine) line = lost.toLine + 1;
      expect(page.fromLine).toBe(line);
      expect(text.split('\n')[0]).toBe(`step ${line}: compiled something well named`);
      expect({ totalLines, totalBytes }).toEqual({ totalLines: count, totalBytes: whole.length });
      line = page.toLine + 1;
    }
    expect(line).toBe(count - tail.split('\n').length + 1);
    expect(all.filter((page) => page.notKept !== undefined).map((page) => page.notKept)).toEqual([lost]);
    // Reading the command says the same.
    const read = await mcp.facts<Run>('terminal_read', { view: 'command' });
    expect(read).toMatchObject({ totalLines: count, totalBytes: whole.length, notKept: lost });
  });

  test.each([
    ['2 MB', 2_000_000],
    ['6 MB', 6_000_000],
  ])('one line of %s: its beginning and its end', async (_size, length) => {
    await using mcp = await Mcp.start();
    const command = `printf begin; head -c ${length - 8} /dev/zero | tr '\\0' x; echo end`;
    const long = await mcp.facts<Run>('terminal_run', { command, timeoutMs });
    expect(long).toMatchObject({ state: 'done', exitCode: 0, totalLines: 1, totalBytes: length });
    expect(long.output).toMatch(/^beginx+\n\[…[^\n]+…\]\nx+end$/);
    const [head, tail] = ends(long.output);
    // The line was cut, and says so by ending the piece of it.
    expect(long.omittedBytes).toBe(length - (head.length - 1) - tail.length);
    expect(long.notKept === undefined).toBe(length < 4 << 20);
    // Each page of a line takes reading all of it.
    if (long.notKept) return;
    expect(bytesOf(await pages(mcp, long))).toBe(long.omittedBytes);
  });

  test('200,000 lines with the only error on line 1: it is in the answer', async () => {
    await using mcp = await Mcp.start();
    const command = `echo 'main.c:1: error: no such thing'; ${seq(200_000)}; false`;
    const long = await mcp.facts<Run>('terminal_run', { command, timeoutMs });
    expect(long).toMatchObject({ state: 'done', exitCode: 1, totalLines: 200_001 });
    expect(long.output.startsWith('main.c:1: error: no such thing\nstep 1: ')).toBe(true);
    const words = await mcp.text('terminal_run', { command, timeoutMs });
    expect(words).toMatch(/^main\.c:1: error: no such thing$/m);
    expect(words).toMatch(/\d+ lines, \d+ bytes left out of 200001 lines, \d+ bytes$/m);
    expect(words).toMatch(/^next: The rest: terminal_read terminal=\w+ rest=\S+$/m);
    expect(words).toMatch(/lines \d+ to \d+ \(\d+ lines, \d+ bytes\) are no longer kept/);
  });

  test.each([300_000, 800_000])('%i lines of a program that is no shell', async (count) => {
    await using mcp = await Mcp.start();
    await mcp.facts<Run>('terminal_run', { command: 'python3 -q', timeoutMs });
    const command = `print("\\n".join(str(i) for i in range(${count})))`;
    const long = await mcp.facts<Run>('terminal_run', { command, timeoutMs });
    const bytes = Array.from({ length: count }, (_, at) => String(at)).join('\n').length;
    expect(long).toMatchObject({ state: 'done', exitCode: null, totalLines: count, totalBytes: bytes });
    expect(long.output).toMatch(/^0\n1\n2\n/);
    expect(long.output.endsWith(`\n${count - 1}`)).toBe(true);
    expect(bytesOf(await pages(mcp, long)) + (long.notKept?.bytes ?? 0)).toBe(long.omittedBytes);
  });

  test('what more output pushes out is told when the handle is used, and the rest is still read', async () => {
    await using mcp = await Mcp.start();
    const long = await mcp.facts<Run>('terminal_run', { command: seq(60_000), timeoutMs });
    expect(long.notKept).toBeUndefined();
    // About 2.5 MB are kept; 3 MB more push the first of them out.
    await mcp.facts<Run>('terminal_run', { command: 'yes noise | head -n 430000', timeoutMs });
    const [first, ...others] = await pages(mcp, long);
    expect(first?.notKept).toMatchObject({ fromLine: ends(long.output)[0].split('\n').length });
    expect(first?.page.fromLine).toBe((first?.notKept?.toLine ?? 0) + 1);
    expect(first?.text.split('\n')[0]).toBe(`step ${first?.page.fromLine}: compiled something well named`);
    expect(bytesOf([...(first ? [first] : []), ...others]) + (first?.notKept?.bytes ?? 0)).toBe(long.omittedBytes);
    await mcp.facts<Run>('terminal_run', { command: 'yes noise | head -n 700000', timeoutMs });
    const gone = await mcp.call('terminal_read', { rest: long.rest });
    expect(gone.isError).toBe(true);
    expect(gone.content[0]?.text).toMatch(/no longer kept/);
  });
});
