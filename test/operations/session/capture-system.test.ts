import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { systemClipboard } from '../../../src/engine/capture/system-clipboard.ts';
import { systemTools } from '../../../src/engine/capture/system-tools.ts';
import { drawPng } from '../../../src/engine/picture/png.ts';
import { screen } from '../../../src/operations/session/capture/screen.ts';
import { exists } from '../../../src/system/process-identity.ts';
import { gridOf, text } from '../../support/pictures.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

// Programs of the desktop stand in as small scripts: what they are told, and what is made of their answers, is real.

const folder = mkdtempSync(join(tmpdir(), 'fairlead-desktop-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { bytes: picture } = await drawPng(gridOf([text('desktop')], 10), { scale: 1 }, AbortSignal.timeout(20_000));
const pictureFile = join(folder, 'desktop.png');
writeFileSync(pictureFile, picture);

/** An environment with these programs, as scripts, and the given display. */
function machine(programs: Readonly<Record<string, string>>, display: Readonly<Record<string, string>> = {}) {
  const bin = mkdtempSync(join(folder, 'bin-'));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, ...display };
}

const placeWith = (tools: Readonly<Record<string, string>>) => RpcPlace.open(undefined, {}, {}, {}, tools);
const wayland = { WAYLAND_DISPLAY: 'wayland-7' };
const x11 = { DISPLAY: ':7' };

test('os: the first program that takes a picture of the desktop (R-RPC-123)', async () => {
  const env = machine({ grim: 'exit 1', 'gnome-screenshot': `cp ${pictureFile} "$2"` }, wayland);
  await using place = await placeWith(env);
  const { image, mode, tool, captures, sheet } = await place.client.call('capture.screen', { os: true });
  expect({ mode, tool, captures, sheet }).toEqual({
    mode: 'desktop',
    tool: 'gnome-screenshot',
    captures: [],
    sheet: undefined,
  });
  expect(basename(image.path)).toMatch(/^screen_/);
  expect(readFileSync(image.path).equals(Buffer.from(picture))).toBe(true);
  expect(statSync(image.path).mode & 0o777).toBe(0o600);
  const region = await place.client.call('capture.select', { os: true });
  expect(region).toMatchObject({ mode: 'desktop', type: 'image/png', image: { width: image.width } });
  const log = await place.client.call('session.audit_log');
  expect(log).toMatchObject([
    { method: 'capture.select', detail: 'desktop', allowed: true },
    { method: 'capture.screen', detail: 'desktop', allowed: true },
  ]);
  expect(readdirSync(tmpdir()).filter((name) => /^fairlead-desktop-\w{6}$/.test(name))).toEqual([]);
});

test.each([
  [
    'there is no display',
    machine({ grim: `cp ${pictureFile} "$1"` }),
    /no display \(neither WAYLAND_DISPLAY nor DISPLAY/,
  ],
  [
    'every program fails',
    machine({ scrot: 'exit 1', maim: 'echo text > "$1"' }, x11),
    /none of .*scrot, maim took a picture/,
  ],
])('os is an honest error when %s (R-RPC-123)', async (_why, env, words) => {
  await using place = await placeWith(env);
  const { error } = await place.client.ask('capture.screen', { os: true });
  expect(error?.message).toMatch(words);
  expect(error?.data).toMatchObject({ code: 'NOT_SUPPORTED', hint: expect.stringContaining('Leave os out') as string });
});

test('a caller that may only look at sessions does not get the desktop', async () => {
  await using place = await placeWith(machine({ grim: `cp ${pictureFile} "$1"` }, wayland));
  const caller = { ...localPerson, may: (access: string) => access === 'observe' };
  const context = { engine: place.engine, caller, signal: AbortSignal.timeout(20_000) };
  await expect(call(screen, { os: true }, context)).rejects.toMatchObject({ code: 'not_permitted' });
  expect((await call(screen, {}, context)).image.width).toBeGreaterThan(0);
});

test('the clipboard holds what programs copied with OSC 52, the newest wins (R-RPC-124)', async () => {
  await using place = await placeWith(machine({}));
  const copying = (words: string) => `printf '\\033]52;c;%s\\a' "$(printf %s "${words}" | base64)"; exec sleep 600`;
  const one = await place.create({ argv: ['sh', '-c', copying('from one 漢字')] });
  await place.running(one, 'sleep');
  expect(await place.client.call('capture.clipboard')).toEqual({
    type: 'text',
    content: 'from one 漢字',
    source: 'osc52',
    session_id: String(one),
    copied_at: expect.stringMatching(/^\d{4}-/) as string,
  });
  const two = await place.create({ argv: ['sh', '-c', copying('from two')] });
  await place.running(two, 'sleep');
  expect(await place.client.call('capture.clipboard')).toMatchObject({ content: 'from two', session_id: String(two) });
});

test('a caller sets the clipboard and empties it; both are audited without the text (R-RPC-124, R-RPC-035)', async () => {
  await using place = await placeWith(machine({}));
  const set = await place.client.call('capture.clipboard', { set: 'hello there' });
  expect(set).toMatchObject({ type: 'text', content: 'hello there', source: 'set' });
  expect(await place.client.call('capture.clipboard')).toEqual(set);
  expect(await place.client.call('capture.clipboard', { set: '' })).toMatchObject({ content: '' });
  expect((await place.client.ask('capture.clipboard')).error?.message).toBe(
    'The clipboard is empty: no session has copied anything, and there is no desktop here (neither WAYLAND_DISPLAY nor DISPLAY is set).',
  );
  const log = await place.client.call('session.audit_log', { method: 'capture.clipboard' });
  expect(log.map(({ detail, error }: { detail: string; error?: string }) => [detail, error])).toEqual([
    ['read', 'not_found'],
    ['set', undefined],
    ['read', undefined],
    ['set', undefined],
  ]);
  expect(JSON.stringify(log)).not.toContain('hello');
});

test('secrets on the clipboard are masked unless they are asked for', async () => {
  await using place = await placeWith(machine({}));
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  await place.client.call('capture.clipboard', { set: `token ${token} end` });
  const masked = await place.client.call('capture.clipboard');
  expect(masked).toMatchObject({
    redacted: true,
    content: expect.stringMatching(/^token .*redacted.* end$/) as string,
  });
  expect(JSON.stringify(masked)).not.toContain(token);
  expect((await place.client.call('capture.clipboard', { reveal: true })).content).toBe(`token ${token} end`);
});

test('what the person typed as a secret is masked when a program copies it, revealed or not', async () => {
  await using place = await placeWith(machine({}));
  const id = await place.create({
    argv: ['sh', '-c', `read x; printf '\\033]52;c;%s\\a' "$(printf %s "pw: $x" | base64)"; exec sleep 600`],
  });
  const terminal = place.terminal(id);
  terminal.person.secrets.add('hunter2-secret');
  await place.client.call('session.input', { id, input: 'hunter2-secret\r' });
  await place.running(id, 'sleep');
  expect((await place.client.call('capture.clipboard', { reveal: true })).content).toBe('pw: •••');
});

test('a program that asks for the clipboard gets no answer (R-RPC-124)', async () => {
  await using place = await placeWith(machine({}));
  await place.client.call('capture.clipboard', { set: 'private' });
  // It prints what it is sent, raw and without echo: the answer to a question about the cursor, and to nothing else.
  const script = `stty raw -echo; printf '\\033]52;c;?\\a\\033[6n'; head -c 6 | od -An -c; exec sleep 600`;
  const id = await place.create({ argv: ['sh', '-c', script], cols: 60, rows: 5 });
  await place.running(id, 'sleep');
  const { lines } = await place.client.call('screen.text', { id });
  expect(lines[0].trim().split(/\s+/)).toEqual(['033', '[', '1', ';', '1', 'R']);
});

test('an empty clipboard asks the desktop: a picture before text (R-RPC-124)', async () => {
  const env = machine(
    {
      'wl-paste': `case "$*" in --list-types) echo image/png;; *image/png*) cat ${pictureFile};; *) echo words;; esac`,
    },
    wayland,
  );
  await using place = await placeWith(env);
  const { image_path, base64, ...facts } = await place.client.call('capture.clipboard');
  expect(facts).toEqual({
    type: 'image',
    source: 'os',
    format: 'png',
    width: 116,
    height: 49,
    bit_depth: 8,
    size_bytes: picture.length,
  });
  expect(image_path).toMatch(/clipboard\/clipboard_\d{8}_\d{6}_\d{3}\.png$/);
  expect(readFileSync(image_path).equals(Buffer.from(picture))).toBe(true);
  expect(statSync(image_path).mode & 0o777).toBe(0o600);
  expect(Buffer.from(base64, 'base64').equals(Buffer.from(picture))).toBe(true);
});

test.each([
  [
    'xclip',
    machine({ xclip: 'case "$*" in *TARGETS*) echo UTF8_STRING;; *) printf "from xclip";; esac' }, x11),
    'from xclip',
  ],
  ['xsel, where xclip fails', machine({ xclip: 'exit 1', xsel: 'printf "from xsel"' }, x11), 'from xsel'],
])('text of the desktop by %s (R-RPC-124)', async (_tool, env, content) => {
  await using place = await placeWith(env);
  expect(await place.client.call('capture.clipboard')).toEqual({ type: 'text', content, source: 'os' });
});

test('a program of the desktop that hangs is ended when the time is up (R-RPC-124)', async () => {
  const pid = join(folder, 'pid');
  const env = machine({ xclip: `echo $$ > ${pid}; exec sleep 600` }, x11);
  const asked = systemClipboard({ ...systemTools(env), platform: 'linux' }, AbortSignal.timeout(20_000), 300);
  expect(await asked).toBe('the desktop did not tell its clipboard in time');
  await expect.poll(() => exists(Number(readFileSync(pid, 'utf8')))).toBe(false);
});

test('OSC 52 in the middle of a flood is not lost, and one that is too long is dropped whole', async () => {
  await using place = await placeWith(machine({}));
  const copied = Buffer.from('in the flood').toString('base64');
  const script = `seq 1 30000; printf '\\033]52;c;${copied}\\a'; seq 1 30000; printf '\\033]52;c;'; head -c 1500000 /dev/zero | base64 -w0; printf '\\a'; seq 1 1000; exec sleep 600`;
  const id = await place.create({ argv: ['sh', '-c', script] });
  await place.running(id, 'sleep');
  expect((await place.client.call('capture.clipboard')).content).toBe('in the flood');
});
