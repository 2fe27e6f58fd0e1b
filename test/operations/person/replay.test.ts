import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Served } from '../../support/served.ts';

const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ456789';

interface Listed {
  readonly id: string;
  readonly kind: 'cast' | 'log';
  readonly state: string;
  readonly masked: boolean;
  readonly terminal: string;
  readonly bytes: number;
}

interface Range {
  readonly events: [number, string, string][];
  readonly to: number;
  readonly more: boolean;
  readonly cols: number;
}

async function begin() {
  const served = await Served.start(['--port', '0']);
  const post = async (path: string, body: object = {}): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await fetch(`${served.url.replace('/mcp', '/api')}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const ask = async <T>(path: string, body: object = {}): Promise<T> => {
    const { status, body: answer } = await post(path, body);
    expect(status, JSON.stringify(answer)).toBe(200);
    return answer as T;
  };
  return { served, post, ask, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

const outputOf = ({ events }: Range): string =>
  events.flatMap(([, code, data]) => (code === 'o' ? [data] : [])).join('');

test('R-RPC-075: what was recorded unmasked is listed, sought and played masked, over HTTP and on the command line', async () => {
  await using at = await begin();
  const { served, post, ask } = at;
  const { recordingId } = await ask<{ recordingId: string }>('cast/start', {});
  const { session_id: logId } = await ask<{ session_id: string }>('session/recording_start', { id: 0 });
  await ask('terminal/run', { command: `echo export TOKEN=${secret}; echo the end` });
  await ask('cast/stop', { recordingId });
  await ask('session/recording_stop', { id: 0 });

  const { recordings } = await ask<{ recordings: Listed[] }>('replay/list');
  expect(recordings).toMatchObject([
    { id: logId, kind: 'log', state: 'finished', masked: false },
    { id: recordingId, kind: 'cast', state: 'finished', masked: false },
  ]);
  // The files themselves have it: that they are masked on the way out is what is shown here.
  const cast = JSON.parse(await served.fairlead(['recordings', 'show', recordingId, '--json'])) as { path: string };
  expect(await readFile(cast.path, 'utf8')).toContain(secret);

  for (const { id } of recordings) {
    const range = await ask<Range>('replay/range', { recording: id });
    expect(outputOf(range)).toContain('export TOKEN=<redacted:');
    expect(range).toMatchObject({ more: false, cols: 120 });
    const sought = await ask<{ text: string; screen: string }>('replay/seek', { recording: id, t: 1e6 });
    expect(sought.text).toMatch(/TOKEN=<redacted:[0-9a-f]{8}>\nthe end/);
    const first = await ask<{ text: string }>('replay/seek', { recording: id, t: 0 });
    expect(first.text).not.toContain('the end');
    const keys = await ask<{ keys: { block?: number; screen?: string }[] }>('replay/keys', { recording: id });
    if (id === recordingId) expect(keys.keys.map(({ block }) => block)).toContain(1);
    expect(JSON.stringify([range, sought, keys])).not.toContain(secret);
    const bare = await ask<{ keys: object[] }>('replay/keys', { recording: id, screens: false });
    expect(bare.keys.every((key) => !('screen' in key))).toBe(true);
    expect(await served.fairlead(['replay', 'seek', id, '1000000'])).toContain('the end');
    expect(await served.fairlead(['replay', 'range', id])).toMatch(/^\{"version":2,"width":120,"height":30\}\n\[0/);
  }

  expect(await served.fairlead(['replay', 'list'])).toContain(recordingId);
  for (const [input, status] of [
    [{ recording: '../../etc/passwd', t: 0 }, 404],
    [{ recording: cast.path, t: 0 }, 404],
    [{ recording: recordingId, t: -1 }, 400],
    [{ recording: recordingId }, 400],
    [{ recording: recordingId, t: 0, more: 1 }, 400],
  ] as const) {
    expect((await post('replay/seek', input)).status, JSON.stringify(input)).toBe(status);
  }
  expect((await post('replay/range', { recording: recordingId, from: 2, to: 1 })).status).toBe(400);
  expect((await post('replay/list', { limit: 0 })).status).toBe(400);

  // No tool of a model: the person plays recordings.
  const client = await served.connect();
  const { tools } = await client.listTools();
  expect(tools.filter(({ name }) => name.startsWith('replay'))).toEqual([]);
  await client.close();
}, 120_000);

test('R-TERM-082: recordings and play know casts and the logs of sessions', async () => {
  await using at = await begin();
  const { served, ask } = at;
  const { recordingId } = await ask<{ recordingId: string }>('cast/start', { title: 'a demo' });
  const { session_id: logId } = await ask<{ session_id: string }>('session/recording_start', { id: 0 });
  await ask('terminal/run', { command: `echo TOKEN=${secret}; echo the end` });
  expect(await served.fairlead(['recordings', 'rm', logId])).toContain('is being recorded');
  await ask('cast/stop', { recordingId });
  await ask('session/recording_stop', { id: 0 });
  const list = await served.fairlead(['recordings', 'list']);
  expect(list).toMatch(/^ID +Kind +Started +Length +Size +State +Title\n/);
  expect(list).toMatch(new RegExp(`^${logId} +log +`, 'm'));
  expect(list).toMatch(new RegExp(`^${recordingId} +cast +.* ok +a demo$`, 'm'));
  const shown = await served.fairlead(['recordings', 'show', logId]);
  expect(shown).toMatch(/^kind +raw log of a session$/m);
  expect(shown).toMatch(/^commands +1$/m);

  for (const id of [logId, recordingId]) {
    const played = await served.fairlead(['play', id, '--speed', '1000']);
    expect(played).toContain('the end');
    const file = join(served.home, `${id}.svg`);
    expect(await served.fairlead(['recordings', 'export', id, '--format', 'svg', '--output', file])).toContain('Wrote');
    expect(await readFile(file, 'utf8')).toContain('>the end</text>');
    expect(await served.fairlead(['recordings', 'export', id, '--format', 'txt', '--output', '-'])).toContain(
      'the end',
    );
    const markdown = await served.fairlead(['recordings', 'export', id, '--format', 'md', '--output', '-']);
    expect(markdown).toContain('the end');
    // What is made of a raw log is masked; a cast is what it was recorded as.
    expect((played + markdown).includes(secret)).toBe(id === recordingId);
    if (id === logId) expect(await readFile(file, 'utf8')).not.toContain(secret);
  }
  expect(await served.fairlead(['recordings', 'rm', logId.slice(0, 20), recordingId])).toBe(
    `Removed ${logId}, ${recordingId}.\n`,
  );
  expect(await served.fairlead(['recordings', 'list'])).toMatch(/^No recordings in /);
}, 120_000);
