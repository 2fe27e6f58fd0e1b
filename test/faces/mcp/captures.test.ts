import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../support/both-halves.ts';
import { Mcp } from '../../support/mcp-client.ts';

let mcp: Mcp;
beforeAll(async () => {
  mcp = await Mcp.start({ args: ['--toolsets', 'session,core', '--cols', '80', '--rows', '24'] });
}, 30_000);
afterAll(() => mcp[Symbol.asyncDispose]());

test('a capture is a picture that a model sees, with every fact in words beside it (R-RPC-121)', async () => {
  await mcp.call('terminal_run', { command: 'printf "\\033]0;titled\\007"; echo seen-by-$((40+2))' });
  const { content, structuredContent } = await mcp.call('capture_screen');
  expect(structuredContent).toBeUndefined();
  expect(content.map(({ type, mimeType }) => [type, mimeType])).toEqual([
    ['image', 'image/png'],
    ['text', undefined],
  ]);
  const words = content[1]?.text ?? '';
  const [, size, sha256, path] = /^PNG (\d+x\d+), \d+ bytes, sha256 (\w{64}): (.*)$/m.exec(words) ?? [];
  expect(size).toMatch(/^\d+x\d+$/);
  expect(sha256).toHaveLength(64);
  expect(readFileSync(path ?? '').toString('base64')).toBe(content[0]?.data);
  expect(words).toContain('1 sessions in 1 columns, 0 cropped, 0 omitted');
  expect(words).toMatch(/--- session 0: .*\n(?:.*\n)*seen-by-42/);
});

test('a window, a region and no match say in words what the structure has elsewhere', async () => {
  expect(textOf(await mcp.call('capture_window', { id: 0 }))).toMatch(
    /session 0: .*\nrows from 0, 24 of them, 0 left out/,
  );
  const region = textOf(await mcp.call('capture_select', { pattern: 'seen-by-42', context: 0 }));
  expect(region).toMatch(
    /mode: region\nsession 0: .*\nrow \d+, column 0, 1 rows, 80 columns, epoch \d+, match .*seen-by-42.*, one of 1/,
  );
  const none = textOf(await mcp.call('capture_window', { title: 'no such title' }));
  expect(none).toMatch(/No session fits; the picture is of all\. Candidates: 0 /);
  const missing = await mcp.call('capture_select', { pattern: 'nowhere at all' });
  expect(missing.isError).toBe(true);
  expect(textOf(missing)).toContain('No session shows');
});

test('a picture larger than models take comes as its path and its text', async () => {
  await mcp.call('terminal_run', { command: 'seq 1 700' });
  const { content, structuredContent } = await mcp.call('capture_window', { id: 0, scrollback: true });
  expect(content.map(({ type }) => type)).toEqual(['text']);
  expect(content[0]?.text).toMatch(
    /PNG 704x1\d{4}, .*\nIt is too large to be shown here: open the file, or take fewer rows\./,
  );
  expect(structuredContent).toMatchObject({ session_id: '0', rows: { left_out: 0 } });
});

test('read-only: pictures of sessions, not of the desktop, and no clipboard', async () => {
  await using reader = await Mcp.start({ args: ['--toolsets', 'session', '--read-only'] });
  expect((await reader.call('capture_screen')).content[0]?.type).toBe('image');
  const refused = await reader.call('capture_screen', { os: true });
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toContain('not at the desktop');
  expect((await reader.call('capture_clipboard')).isError).toBe(true);
});
