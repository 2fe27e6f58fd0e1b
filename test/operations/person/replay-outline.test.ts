import { expect, test } from 'vitest';
import { Served } from '../../support/served.ts';

const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ456789';

interface Outline {
  readonly blocks: {
    readonly n: number;
    readonly command?: string;
    readonly exitCode?: number;
    readonly t: number;
    readonly endT?: number;
    readonly at: number;
    readonly by?: string;
    readonly kind?: string;
  }[];
  readonly state: string;
  readonly playMs: number;
  readonly masked: number;
  readonly people: { readonly by: string; readonly t: number; readonly secret: boolean }[];
  readonly waits: [number, number][];
}

interface Found {
  readonly hits: { readonly recording: string; readonly t: number; readonly where: string; readonly line: string }[];
  readonly searched: number;
  readonly more: boolean;
  readonly before?: string;
}

async function begin() {
  const served = await Served.start(['--port', '0']);
  const api = served.url.replace('/mcp', '/api');
  const headers = { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' };
  const post = (path: string, body: object = {}, more: object = {}): Promise<Response> =>
    fetch(`${api}/${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  const ask = async <T>(path: string, body: object = {}): Promise<T> => {
    const answer = await post(path, body);
    const told = (await answer.json()) as T;
    expect(answer.status, JSON.stringify(told)).toBe(200);
    return told;
  };
  return { served, post, ask, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

/** Both kinds of recordings of one shell that ran these commands. */
async function recorded(at: Awaited<ReturnType<typeof begin>>, commands: readonly string[]) {
  const { ask } = at;
  const { recordingId: cast } = await ask<{ recordingId: string }>('cast/start', { title: 'deploy' });
  const { session_id: log } = await ask<{ session_id: string }>('session/recording_start', { id: 0 });
  for (const command of commands) await ask('terminal/run', { command });
  return {
    cast,
    log,
    async stop() {
      await ask('cast/stop', { recordingId: cast });
      await ask('session/recording_stop', { id: 0 });
    },
  };
}

test('R-RPC-074, 075: the commands of both kinds of recordings, with times, exits and who typed, masked', async () => {
  await using at = await begin();
  const { served, ask } = at;
  const both = await recorded(at, ['echo one', `echo TOKEN=${secret}; false`, 'echo three']);
  for (const id of [both.cast, both.log]) {
    const live = await ask<Outline>('replay/blocks', { recording: id });
    expect(live.state).toBe('recording');
    expect(live.blocks.length).toBeGreaterThanOrEqual(2);
  }
  await both.stop();
  for (const id of [both.cast, both.log]) {
    const outline = await ask<Outline>('replay/blocks', { recording: id });
    expect(outline.blocks.map(({ exitCode }) => exitCode)).toEqual([0, 1, 0]);
    expect(outline.blocks.map(({ command }) => command)).toEqual([
      'echo one',
      expect.stringMatching(/^echo TOKEN=<redacted:[0-9a-f]{8}>; false$/),
      'echo three',
    ]);
    expect(JSON.stringify(outline)).not.toContain(secret);
    // An agent typed all of it.
    expect(outline.blocks.map(({ kind }) => kind)).toEqual(['agent', 'agent', 'agent']);
    expect(outline.people).toEqual([]);
    const [one, two, three] = outline.blocks;
    expect(one?.t).toBeLessThanOrEqual(two?.t ?? 0);
    expect(two?.t).toBeLessThanOrEqual(three?.t ?? 0);
    expect(Math.round(outline.playMs * 1000)).toBeGreaterThanOrEqual(Math.round((three?.endT ?? 0) * 1e6));
    expect(Math.abs((one?.at ?? 0) - Date.now())).toBeLessThan(120_000);
    expect(outline.masked).toBeGreaterThanOrEqual(2);
    // The screen where a command begins does not show what it prints; the one at its end does.
    const seek = (t = 0) => ask<{ text: string }>('replay/seek', { recording: id, t });
    expect((await seek((three?.t ?? 0) - 0.001)).text).not.toMatch(/^three$/m);
    expect((await seek(three?.endT)).text).toMatch(/^three$/m);
    // Raw logs have keyframes, too.
    const { keys } = await ask<{ keys: { block?: number }[] }>('replay/keys', { recording: id });
    expect(keys.filter(({ block }) => block !== undefined).length).toBeGreaterThanOrEqual(3);
    const said = await served.fairlead(['replay', 'blocks', id]);
    expect(said).toMatch(/^ +2 .* +1 {2}echo TOKEN=<redacted:[0-9a-f]{8}>; false/m);
    expect(said).toContain('secrets are masked.');
  }
  const { recordings } = await ask<{ recordings: object[] }>('replay/list');
  expect(recordings).toMatchObject([
    { id: both.log, blocks: { n: 3, failed: 1 }, target: 'local' },
    { id: both.cast, title: 'deploy', blocks: { n: 3, failed: 1 }, target: 'local', recovered: false },
  ]);
}, 120_000);

test('R-RPC-075: a search in one recording or all of them finds commands and masked output, and tells of more', async () => {
  await using at = await begin();
  const { served, post, ask } = at;
  const both = await recorded(at, ['seq -f "line %g of many" 1 30', `echo TOKEN=${secret}`]);
  await both.stop();
  for (const id of [both.cast, both.log]) {
    const found = await ask<Found>('replay/search', { text: 'LINE 7 of', recording: id });
    expect(found).toMatchObject({ hits: [{ recording: id, where: 'output', line: 'line 7 of many' }], more: false });
    const commands = await ask<Found>('replay/search', { text: 'seq -f', recording: id });
    expect(commands.hits).toMatchObject([{ where: 'command', line: 'seq -f "line %g of many" 1 30' }]);
    expect(await ask<Found>('replay/search', { text: secret, recording: id })).toMatchObject({ hits: [] });
    expect(await ask<Found>('replay/search', { text: 'of many', recording: id, limit: 5 })).toMatchObject({
      hits: { length: 5 },
      more: true,
    });
  }
  const all = await ask<Found>('replay/search', { text: 'line 7 of' });
  expect(new Set(all.hits.map(({ recording }) => recording))).toEqual(new Set([both.cast, both.log]));
  const first = await ask<Found>('replay/search', { text: 'line 7 of', limit: 1 });
  expect(first).toMatchObject({ hits: [{ recording: both.log }], more: true, before: both.log });
  expect(await ask<Found>('replay/search', { text: 'line 7 of', before: both.log })).toMatchObject({
    hits: [{ recording: both.cast }],
    searched: 1,
    more: false,
  });
  expect(await served.fairlead(['replay', 'search', 'line 7 of'])).toContain('line 7 of many');
  expect((await post('replay/search', { text: ' ' })).status).toBe(400);
  expect((await post('replay/search', { text: 'x', recording: '../x' })).status).toBe(404);
}, 120_000);

test('R-RPC-075: every export is masked, a clip holds its stretch, and files are attachments with our own names', async () => {
  await using at = await begin();
  const { served, post, ask } = at;
  // The stretch ends a millisecond before the third command: what the second printed is well before that.
  const both = await recorded(at, ['echo before', `echo TOKEN=${secret}; sleep 0.3`, 'echo after']);
  await both.stop();
  for (const id of [both.cast, both.log]) {
    const { blocks } = await ask<Outline>('replay/blocks', { recording: id });
    for (const format of ['cast', 'txt', 'md', 'svg', 'gif']) {
      const answer = await post(`recordings/${id}/export`, { format });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="fairlead-\\d{8}-\\d{4}-[\\w-]+\\.${format}"$`),
      );
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(bytes.includes(secret)).toBe(false);
      if (format === 'gif') expect(bytes.subarray(0, 3).toString()).toBe('GIF');
      else expect(bytes.toString()).toMatch(/after/);
      if (format === 'md') expect(bytes.toString()).toMatch(/^## 3\. `echo after`$/m);
    }
    const [, second, third] = blocks;
    // A log notes the beginning of a command a moment after its first output.
    const stretch = { from: (second?.t ?? 0) - 0.005, to: (third?.t ?? 0) - 0.001 };
    const clip = await (await post(`recordings/${id}/export`, { format: 'cast', ...stretch })).text();
    const [header, ...events] = clip
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(header).toMatchObject({ version: 2, width: 120, height: 30 });
    expect((events[0] as [number])[0]).toBe(0);
    expect(JSON.stringify(events[0])).toContain('before');
    expect(clip).toContain('<redacted:');
    expect(clip).not.toContain(secret);
    const { lines } = await ask<{ lines: { t: number; text: string }[] }>('replay/masked', {
      recording: id,
      ...stretch,
    });
    expect(lines.map(({ text }) => text)).toContainEqual(expect.stringMatching(/^TOKEN=<redacted:[0-9a-f]{8}>$/));
    expect(await ask('replay/masked', { recording: id, from: third?.endT })).toMatchObject({ lines: [] });
    expect(await served.fairlead(['replay', 'export', id, 'md'])).toContain('## 1. `echo before`');
    expect(await served.fairlead(['replay', 'masked', id])).toContain('<redacted:');
    expect((await post('replay/export', { recording: id, format: 'exe' })).status).toBe(400);
    expect((await post('replay/export', { recording: id, from: 3, to: 1 })).status).toBe(400);
    expect((await post('replay/masked', { recording: id, from: 3, to: 1 })).status).toBe(400);
  }
}, 120_000);

test('recordings are removed together, not while they are made, and the audit trail names them', async () => {
  await using at = await begin();
  const { post, ask } = at;
  const both = await recorded(at, ['echo one']);
  const refused = await post('replay/remove', { recordings: [both.cast, both.log] });
  expect(refused.status).toBe(409);
  expect(JSON.stringify(await refused.json())).toContain('Nothing was removed.');
  await both.stop();
  expect((await post('replay/remove', { recordings: [both.cast, 'not-there'] })).status).toBe(404);
  expect((await post('replay/remove', { recordings: [] })).status).toBe(400);
  expect(await ask<{ recordings: object[] }>('replay/list')).toMatchObject({ recordings: { length: 2 } });
  const gone = await ask<{ removed: object[] }>('replay/remove', { recordings: [both.cast, both.log] });
  expect(gone.removed).toMatchObject([{ id: both.cast, title: 'deploy' }, { id: both.log }]);
  expect(await ask('replay/list')).toMatchObject({ recordings: [] });
  const { entries } = await ask<{ entries: object[] }>('session/audit_log', {});
  expect(JSON.stringify(entries)).toContain(both.log);
}, 120_000);

test('a recording is followed while it is made, masked, to its end', async () => {
  await using at = await begin();
  const { post, ask } = at;
  const both = await recorded(at, ['echo before']);
  for (const id of [both.cast, both.log]) {
    const answer = await post('replay/follow', { recording: id }, { accept: 'text/event-stream' });
    const items = itemsOf(answer);
    const first = (await items.next()).value as { screen: string; cols: number };
    expect(first.cols).toBe(120);
    let text = first.screen;
    await ask('terminal/run', { command: `echo TOKEN=${secret} for ${id.slice(0, 4)}` });
    if (id === both.cast) await ask('cast/stop', { recordingId: id });
    else await ask('session/recording_stop', { id: 0 });
    let ended = false;
    for await (const item of items) {
      text += item.events.map(([, , data]) => data).join('');
      ended = item.ended;
    }
    expect(ended).toBe(true);
    expect(text).toContain('before');
    expect(text).toMatch(new RegExp(`TOKEN=<redacted:[0-9a-f]{8}> for ${id.slice(0, 4)}`));
    expect(text).not.toContain(secret);
  }
}, 120_000);

interface Item {
  readonly screen?: string;
  readonly cols?: number;
  readonly events: [number, string, string][];
  readonly ended: boolean;
}

/** The items of a stream of server-sent events. */
async function* itemsOf(answer: Response): AsyncGenerator<Item, void, void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (!part.startsWith('data: ') && !part.startsWith('event: end')) throw new Error(part);
    for (const part of parts) if (part.startsWith('data: ')) yield JSON.parse(part.slice(6)) as Item;
  }
}
