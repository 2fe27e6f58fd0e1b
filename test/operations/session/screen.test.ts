import { expect, test } from 'vitest';
import { type RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

const call = (method: string, params?: unknown) => place.client.call(method, params);

/** A session that shows exactly this and then stays. */
async function showing(text: string, size: { cols?: number; rows?: number } = {}): Promise<number> {
  const id = await place.create({ argv: ['sh', '-c', 'printf "%b" "$1"; exec sleep 600', 'sh', text], ...size });
  // It has written everything before it becomes this.
  await place.running(id, 'sleep');
  return id;
}

test('screen.text has exactly as many lines as rows and tells soft wraps (R-RPC-050)', async () => {
  const id = await showing(`${'x'.repeat(25)}\\n漢字 ok`, { cols: 20, rows: 5 });
  expect(await call('screen.text', { id })).toEqual({
    lines: ['x'.repeat(20), 'xxxxx', '漢字 ok', '', ''],
    cursor: { x: 7, y: 2, visible: true },
    cols: 20,
    rows: 5,
    scrollback_rows: 0,
    viewport_top: 0,
    epoch: 0,
    wrapped: [1],
  });
});

test('screen.read numbers rows from the start of the session, scrolled-off ones included (R-RPC-021)', async () => {
  const id = await showing('1\\n2\\n3\\n4\\n5\\n6', { cols: 20, rows: 3 });
  const { cells, cursor, scrollback_rows } = await call('screen.read', { id });
  expect(cells).toEqual([
    { row: 3, text: '4' },
    { row: 4, text: '5' },
    { row: 5, text: '6' },
  ]);
  expect(cursor).toEqual({ x: 1, y: 5, visible: true });
  expect(scrollback_rows).toBe(3);
});

test('a program that clears the screen begins another epoch, one on a screen of its own does not (R-RPC-021)', async () => {
  const id = await place.create();
  const epoch = async (command: string): Promise<number> => {
    await call('exec.run_wait', { id, command });
    return (await call('screen.text', { id })).epoch;
  };
  const first = await epoch('echo one');
  const cleared = await epoch('clear');
  expect(cleared).toBeGreaterThan(first);
  expect(await epoch("printf '\\033[?1049h\\033[2J\\033[?1049l'")).toBe(cleared);
});

test('screen.read with attrs gives colours and styles (R-RPC-051)', async () => {
  const id = await showing('ab\\033[1;31mcd\\033[0m \\033[38;2;1;2;3mE\\033[0m', { cols: 20, rows: 2 });
  const { cells } = await call('screen.read', { id, attrs: true });
  expect(cells[0].runs).toEqual([
    { col: 2, len: 2, fg: '1', bold: true },
    { col: 5, len: 1, fg: '#010203' },
  ]);
});

test('screen.cursor tells the shape (R-RPC-051)', async () => {
  const plain = await showing('x', { cols: 20, rows: 2 });
  expect(await call('screen.cursor', { id: plain })).toMatchObject({ x: 1, y: 0, visible: true, shape: 'Default' });
  const bar = await showing('\\033[6 q\\033[?25lx', { cols: 20, rows: 2 });
  expect(await call('screen.cursor', { id: bar })).toMatchObject({ visible: false, shape: 'SteadyBar' });
});

test('screen.scroll reads from an absolute row or from the end (R-RPC-052)', async () => {
  const id = await showing('a\\nb\\nc\\nd\\ne', { cols: 20, rows: 2 });
  expect(await call('screen.scroll', { id, offset: 1, count: 2 })).toMatchObject({
    lines: ['b', 'c'],
    offset: 1,
    count: 2,
    first_available: 0,
  });
  expect(await call('screen.scroll', { id, offset: -2 })).toMatchObject({ lines: ['d', 'e'], offset: 3 });
  const stale = await place.client.ask('screen.scroll', { id, epoch: 99 });
  expect(stale.error?.message).toBe('Rows were renumbered: the epoch is 0 now');
});

test('screen.search: literal by default, all counted, columns, across soft wraps (R-RPC-052)', async () => {
  const id = await showing('one two\\ntwo.two\\nlong-long-long-tw', { cols: 20, rows: 5 });
  expect(await call('screen.search', { id, pattern: 'two', max_results: 1 })).toMatchObject({
    matches: [{ row: 0, col: 4, text: 'one two' }],
    total: 3,
  });
  expect(await call('screen.search', { id, pattern: 'TWO', ignore_case: true })).toMatchObject({ total: 3 });
  expect(await call('screen.search', { id, pattern: 't.o\\.', regex: true })).toMatchObject({
    matches: [{ row: 1, col: 0, text: 'two.two' }],
    total: 1,
  });
});

test('screen.search returns exactly max_results, and where to go on (R-RPC-052, R-RPC-021)', async () => {
  const id = await showing('q q q\\n'.repeat(4));
  const first = await call('screen.search', { id, pattern: 'q', max_results: 5 });
  expect(first).toMatchObject({ total: 12, next: 1, next_col: 4 });
  expect(first.matches).toHaveLength(5);
  const { next, next_col, epoch } = first;
  const rest = await call('screen.search', { id, pattern: 'q', from_row: next, from_col: next_col, epoch });
  expect(rest).toMatchObject({ total: 7, matches: [{ row: 1, col: 4 }, ...Array.from({ length: 6 }, () => ({}))] });
  expect(Object.keys(rest)).not.toContain('next');
  const stale = await place.client.ask('screen.search', { id, pattern: 'q', from_row: 1, epoch: epoch + 1 });
  expect(stale.error?.message).toBe(`Rows were renumbered: the epoch is ${epoch} now`);
});

test('screen.detect_errors: the documented list, not the good news (R-RPC-053)', async () => {
  const id = await showing('12 passed, 0 failed\\nerror: no such thing\\nls: x: No such file or directory\\nfine');
  expect(await call('screen.detect_errors', { id })).toEqual({
    has_errors: true,
    errors: [
      { row: 1, text: 'error: no such thing', pattern: 'error:', severity: 'error' },
      { row: 2, text: 'ls: x: No such file or directory', pattern: 'No such file or directory', severity: 'error' },
    ],
  });
  const shell = await place.create();
  await call('exec.run_wait', { id: shell, command: 'echo failed on purpose; true' });
  await call('exec.run_wait', { id: shell, command: 'echo all well' });
  expect(await call('screen.detect_errors', { id: shell, scope: 'last_block' })).toEqual({
    has_errors: false,
    errors: [],
    last_exit_code: 0,
  });
});

test('more than there is to give is cut, not refused', async () => {
  const id = await place.create();
  await call('exec.run_wait', { id, command: 'seq 300 | sed s/^/word/' });
  const { matches, total } = await call('screen.search', { id, pattern: 'word', max_results: 100_000 });
  expect([matches.length, total]).toEqual([301, 301]);
  expect((await call('session.history', { id, limit: 10_000_000 })).count).toBeGreaterThan(300);
  expect((await call('screen.scroll', { id, offset: 0, count: 10_000_000 })).count).toBeGreaterThan(300);
  expect((await call('session.audit_log', { limit: 1_000_000 })).length).toBeGreaterThan(1);
});
