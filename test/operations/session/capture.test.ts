import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { call as callOperation } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { screen as captureScreen } from '../../../src/operations/session/capture/screen.ts';
import { personSettings } from '../../../src/engine/settings/settings.ts';
import { select } from '../../../src/operations/session/capture/select.ts';
import { window } from '../../../src/operations/session/capture/window.ts';
import { run_wait } from '../../../src/operations/session/exec.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { limit, transportsOf } from '../../support/engine.ts';
import { decodePng } from '../../support/pictures.ts';
import { sshEngine } from '../../support/ssh/home.ts';
import { startSshd } from '../../support/ssh/sshd.ts';
import { RpcPlace, withPlace } from '../../support/rpc-place.ts';

let place: RpcPlace;
withPlace((opened) => (place = opened));

const call = (method: string, params?: unknown) => place.client.call(method, params);
const refusal = async (method: string, params: unknown): Promise<string> => {
  const { error } = await place.client.ask(method, params);
  const hint = error?.data?.['hint'];
  return `${error?.message} ${typeof hint === 'string' ? hint : ''}`.trim();
};

/** A session that shows exactly this and then stays. */
async function showing(text: string, more: Readonly<Record<string, unknown>> = {}): Promise<number> {
  const id = await place.create({ argv: ['sh', '-c', 'printf "%b" "$1"; exec sleep 600', 'sh', text], ...more });
  await place.running(id, 'sleep');
  return id;
}

const fileOf = (path: string): Buffer => readFileSync(path);

test('capture.screen: the text of every session and one picture of all (R-RPC-121, R-RPC-123)', async () => {
  const id = await showing('\\033]0;my title\\007漢字 🙂 \\033[31mred\\033[0m', { cols: 40, rows: 5 });
  const { captures, image, type, text_snapshot, sheet, note } = await call('capture.screen');
  expect(captures).toContainEqual({ session_id: String(id), title: 'my title', screen: '漢字 🙂 red', type: 'text' });
  expect({ type, text_snapshot, note }).toEqual({ type: 'image/png', text_snapshot: true, note: undefined });
  expect(sheet).toMatchObject({ sessions: captures.length, cropped: 0, omitted: 0 });
  expect(Object.keys(image).toSorted()).toEqual(['height', 'path', 'sha256', 'size_bytes', 'width']);
  expect(basename(image.path)).toMatch(/^screen_\d{8}_\d{6}_\d{3}\.png$/);
  const bytes = fileOf(image.path);
  expect(statSync(image.path).mode & 0o777).toBe(0o600);
  expect(bytes).toHaveLength(image.size_bytes);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(image.sha256);
  expect(decodePng(bytes)).toMatchObject({ width: image.width, height: image.height });
  const again = (await call('capture.screen', { include_base64: true })).image;
  expect(again.sha256).toBe(image.sha256);
  expect(Buffer.from(again.base64, 'base64').equals(bytes)).toBe(true);
  expect(again.path).not.toBe(image.path);
});

test('capture.window finds a session by number, title, part of its number, and process (R-RPC-121)', async () => {
  const id = await showing('\\033]0;find me\\007here', { cols: 40, rows: 5, name: 'findable' });
  const found = await call('capture.window', { session_id: String(id) });
  expect(found).toMatchObject({ session_id: String(id), title: 'find me', screen: 'here', text_snapshot: true });
  expect(found).toMatchObject({ type: 'image/png', rows: { from: 0, count: 5, left_out: 0 } });
  expect(basename(found.image.path)).toMatch(/^window_\d{8}_\d{6}_\d{3}\.png$/);
  // Two pixels to a point: 40 columns and 5 rows with their padding.
  expect(found.image).toMatchObject({ width: 736, height: 234 });
  expect((await call('capture.window', { id })).image.sha256).toBe(found.image.sha256);
  for (const filter of [{ title: 'find m' }, { title: 'findable' }, { title: 'find', id }]) {
    expect((await call('capture.window', filter)).session_id).toBe(String(id));
  }
  expect((await call('capture.window')).session_id).toBe('0');
  expect(await refusal('capture.window', { session_id: '9999' })).toMatch(/^Session 9999 not found/);
});

test('capture.window by a process that a session started, and by one that it did not (R-RPC-121)', async () => {
  const id = await place.create({
    argv: ['sh', '-c', 'sh -c "$1" & wait', 'sh', 'sleep 600 & echo pid:$!; wait'],
  });
  let child: number | undefined;
  await vi.waitUntil(
    async () => {
      const { lines } = await call('screen.text', { id });
      const [, pid] = /pid:(\d+)/.exec(lines.join('\n')) ?? [];
      child = pid === undefined ? undefined : Number(pid);
      return child !== undefined;
    },
    { timeout: 20_000, interval: 5 },
  );
  expect((await call('capture.window', { pid: child })).session_id).toBe(String(id));
  const none = await call('capture.window', { pid: process.pid });
  expect(none).toMatchObject({ type: 'image/png', text_snapshot: false, matched: false });
  expect(none.candidates).toContainEqual({ session_id: String(id), title: expect.any(String) as string });
  expect(none).not.toHaveProperty('session_id');
  expect(none).not.toHaveProperty('screen');
  expect(none.image.width).toBeGreaterThan(0);
  expect((await call('capture.window', { title: 'no such title' })).matched).toBe(false);
});

test('capture.window with the scrollback: a tall picture, and its text (R-RPC-121)', async () => {
  const id = await showing(`${Array.from({ length: 300 }, (_, at) => `line ${at}`).join('\\n')}`, {
    cols: 20,
    rows: 10,
  });
  const tall = await call('capture.window', { id, scrollback: true });
  expect(tall.rows).toEqual({ from: 0, count: 300, left_out: 0 });
  expect(tall.image.height).toBe(300 * 17 + 32);
  expect(tall.screen.split('\n')).toHaveLength(300);
  const newest = await call('capture.window', { id, scrollback: true, max_rows: 50 });
  expect(newest.rows).toEqual({ from: 250, count: 50, left_out: 0 });
  expect(newest.screen.startsWith('line 250\n')).toBe(true);
});

test('rows that left the emulator are on pictures, too (R-RPC-121, R-RPC-122)', async () => {
  const id = await place.create({
    cols: 20,
    rows: 10,
    argv: ['sh', '-c', 'seq -f "line %g 漢" 0 2999; exec sleep 600'],
  });
  await place.running(id, 'sleep');
  const tall = await call('capture.window', { id, scrollback: true });
  expect(tall.rows).toEqual({ from: 1001, count: 2000, left_out: 0 });
  expect(tall.screen.split('\n')).toHaveLength(1999);
  expect(tall.screen.startsWith('line 1001 漢\nline 1002 漢\n')).toBe(true);
  expect(tall.note).toMatch(/^Rows before \d+ come back from the log, without their colours\.$/);
  const far = await call('capture.select', { id, row: 40, rows: 2 });
  expect(far).toMatchObject({ text: 'line 40 漢\nline 41 漢', region: { row: 40, rows: 2 } });
  const found = await call('capture.select', { id, pattern: 'line 77 漢', context: 1 });
  expect(found).toMatchObject({ text: 'line 76 漢\nline 77 漢\nline 78 漢', region: { row: 76, rows: 3, total: 1 } });
  expect(found.image.height).toBe(2 * (3 * 17 + 32));
});

test('a picture has the colours of the theme in force, unless it names another (R-RPC-120, R-RPC-142)', async () => {
  const settings = place.engine.service(personSettings);
  const id = await showing('theme', { cols: 20, rows: 3 });
  const corner = async (method: string, params: object = {}): Promise<string> => {
    const { image } = await call(method, { id, ...params });
    return decodePng(fileOf(image.path)).at(1, 1);
  };
  settings.setTheme('daylight');
  try {
    expect(await corner('capture.window')).toBe('#fdf6e3');
    expect(await corner('capture.select', { row: 0 })).toBe('#fdf6e3');
    expect(await corner('capture.window', { theme: 'classic' })).toBe('#000000');
    const light = (await call('capture.screen')).image.sha256;
    settings.setTheme('standard');
    expect((await call('capture.screen')).image.sha256).not.toBe(light);
  } finally {
    settings.setTheme('standard');
  }
  expect(await corner('capture.window')).toBe('#1e1e2e');
});

test('capture.select: rows and columns by their absolute numbers (R-RPC-122)', async () => {
  const id = await showing(`${Array.from({ length: 30 }, (_, at) => `row ${at} 漢字`).join('\\n')}`, {
    cols: 20,
    rows: 5,
  });
  const region = await call('capture.select', { session_id: id, row: 3, col: 4, rows: 2, cols: 5 });
  expect(region).toMatchObject({ mode: 'region', session_id: String(id), type: 'image/png', text: '3 漢字\n4 漢字' });
  expect(region.region).toEqual({ row: 3, col: 4, rows: 2, cols: 5, epoch: 0 });
  expect(basename(region.image.path)).toMatch(/^region_\d{8}_\d{6}_\d{3}\.png$/);
  expect(region.image).toMatchObject({ width: 2 * (42 + 32), height: 2 * (34 + 32) });
  const rest = await call('capture.select', { id, row: 28 });
  expect(rest).toMatchObject({ text: 'row 28 漢字\nrow 29 漢字', region: { row: 28, col: 0, rows: 2, cols: 20 } });
  expect((await call('capture.select', { id })).region).toMatchObject({ row: 25, rows: 5 });
});

test('capture.select: one command with its output, though it scrolled away (R-RPC-122)', async () => {
  const id = await place.create({ cols: 200, rows: 6 });
  await place.prompted(id);
  await call('exec.run_wait', { id, command: "printf '\\033[32mgreen\\033[0m\\n漢字\\n'" });
  await call('exec.run_wait', { id, command: 'seq 1 50' });
  const { blocks } = place.terminal(id);
  const first = await call('capture.select', { session_id: id, block: blocks.list[0]?.id });
  expect(first.mode).toBe('region');
  expect(first.text).toMatch(/^.*printf .*\ngreen\n漢字$/);
  expect(first.region).toEqual({ block: blocks.list[0]?.id, col: 0, rows: 3, cols: 200 });
  const colours = new Set<string>();
  const picture = decodePng(fileOf(first.image.path));
  for (let x = 0; x < picture.width; x += 1) for (let y = 0; y < picture.height; y += 1) colours.add(picture.at(x, y));
  expect(colours.has('#a6e3a1')).toBe(true);
  const second = await call('capture.select', { session_id: id, block: blocks.last?.id });
  expect(second.text.split('\n')).toHaveLength(51);
  expect(await refusal('capture.select', { id, block: 99 })).toMatch(/has no block 99\. Its blocks are 1 to 2\./);
});

test('capture.select: the newest line with a text, in any session or in one (R-RPC-122)', async () => {
  const id = await showing('one needle\\ntwo\\nthree needle-xyz\\nfour\\nfive\\nsix', { cols: 30, rows: 8 });
  const found = await call('capture.select', { pattern: 'needle', session_id: id, context: 1 });
  expect(found.text).toBe('two\nthree needle-xyz\nfour');
  expect(found.region).toMatchObject({ row: 1, rows: 3, match: 'needle', total: 2 });
  expect((await call('capture.select', { pattern: 'needle-x.z', regex: true, context: 0 })).text).toBe(
    'three needle-xyz',
  );
  expect((await call('capture.select', { pattern: 'needle-xyz' })).session_id).toBe(String(id));
  expect(await refusal('capture.select', { pattern: 'not on any screen' })).toMatch(/^No session shows/);
});

test('capture.select without arguments keeps the documented answer (R-RPC-122)', async () => {
  const { image, sheet, ...rest } = await call('capture.select');
  expect(rest).toEqual({
    type: 'image/png',
    mode: 'screen_fallback',
    message: 'Interactive region selection is not available in headless MCP mode; captured the screen instead.',
  });
  expect(sheet.sessions).toBeGreaterThan(0);
  expect(decodePng(fileOf(image.path)).width).toBe(image.width);
});

test.each([
  ['capture.screen', { include_base64: 'yes' }, /include_base64/],
  ['capture.screen', { theme: 'neon' }, /theme/],
  ['capture.window', { pid: -1 }, /pid/],
  ['capture.window', { pid: 'x' }, /pid/],
  ['capture.window', { title: 7 }, /title/],
  ['capture.window', { max_rows: 2001, scrollback: true }, /max_rows/],
  ['capture.window', { max_rows: 0 }, /max_rows/],
  ['capture.window', { scale: 5 }, /scale/],
  ['capture.window', { id: 'first' }, /^Invalid session_id: first/],
  ['capture.select', { row: 1 }, /^Missing 'id' or 'session_id' parameter/],
  ['capture.select', { block: 1 }, /^Missing 'id' or 'session_id' parameter/],
  ['capture.select', { id: 0, row: 1_000_000 }, /^There is no row 1000000: the rows are 0 to \d+\./],
  ['capture.select', { id: 0, row: 0, col: 1000 }, /^There is no column 1000: the columns are 0 to \d+\./],
  ['capture.select', { id: 0, row: -1 }, /row/],
  ['capture.select', { id: 0, row: 0, rows: 0 }, /rows/],
  ['capture.select', { id: 0, row: 0, epoch: 77 }, /^Rows were renumbered/],
  ['capture.select', { id: 0, row: 0, block: 1 }, /^A region is given by one of row, block/],
  ['capture.select', { pattern: '' }, /pattern/],
  ['capture.select', { pattern: '(', regex: true }, /\(/],
  ['capture.clipboard', { set: 5 }, /set/],
])('%s %j says what is wrong', async (method, params, words) => {
  expect(await refusal(method, params)).toMatch(words);
});

test('a text too long for the clipboard is refused', async () => {
  expect(await refusal('capture.clipboard', { set: 'x'.repeat((1 << 20) + 1) })).toMatch(/set/);
});

test('a row that scrolled out of what is kept is refused with the rows that are there', async () => {
  const id = await showing('', { cols: 20, rows: 5 });
  const { screen } = place.terminal(id);
  screen.feed(Buffer.from('x\r\n'.repeat(1500)));
  expect(await refusal('capture.select', { id, row: 0 })).toMatch(
    /^There is no row 0: the rows are \d+ to \d+\. Older/,
  );
});

test('every kind of terminal: one that is no process of this machine (R-RPC-121)', async () => {
  const channels: EchoChannel[] = [];
  const far = () => {
    const channel = new EchoChannel({ cols: 30, rows: 4 }, { echo: false });
    channels.push(channel);
    return Promise.resolve({ channel, program: 'far' });
  };
  await using other = await RpcPlace.open(undefined, { transports: transportsOf({ far }) });
  const id = await other.create({ cols: 30, rows: 4, title: 'far away' });
  channels[0]?.say('漢字 from far\r\n');
  await vi.waitUntil(() => other.terminal(id).log.end > 10);
  const { captures, image } = await other.client.call('capture.screen');
  expect(captures).toEqual([{ session_id: '0', title: 'far away', screen: '漢字 from far', type: 'text' }]);
  expect(decodePng(fileOf(image.path)).width).toBe(image.width);
  expect((await other.client.call('capture.window', { title: 'far' })).screen).toBe('漢字 from far');
  // It has no process that could be one of these.
  expect((await other.client.call('capture.window', { pid: process.pid })).matched).toBe(false);
});

test('a session behind a real sshd: sheet, window, and a command (R-RPC-121, R-RPC-122)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-capture-far-'));
  try {
    await using sshd = await startSshd();
    await using engine = sshEngine(sshd, folder, userInfo().username);
    const signal = limit();
    const context = { engine, caller: localPerson, signal };
    const { identity } = await engine.sessions.create({ target: 'ssh:far', cols: 80, rows: 10 }, localPerson, signal);
    const id = identity.number;
    await callOperation(run_wait, { id, command: "printf '漢字 %s\\n' over-ssh; seq 1 20" }, context);
    const { captures, image } = await callOperation(captureScreen, {}, context);
    expect(captures).toMatchObject([{ session_id: String(id), screen: expect.stringContaining('20') as string }]);
    expect(decodePng(fileOf(image.path)).width).toBe(image.width);
    expect((await callOperation(window, { id, scrollback: true }, context)).screen).toContain('漢字 over-ssh\n1\n2\n');
    const { text } = await callOperation(select, { id, block: 1 }, context);
    expect(text).toMatch(/printf .*\n漢字 over-ssh\n1\n(?:.*\n)*20$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('no session at all: an empty sheet, and no window', async () => {
  await using empty = await RpcPlace.open();
  expect(await empty.client.call('capture.screen')).toMatchObject({ captures: [], sheet: { sessions: 0 } });
  expect(await empty.client.call('capture.window')).toMatchObject({ matched: false, candidates: [] });
});
