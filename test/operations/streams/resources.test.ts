import { expect, test } from 'vitest';
import type { AnyOperation } from '../../../src/engine/call/operation.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { open } from '../../../src/operations/streams/lanes.ts';
import { list, listen, read, subscribe, templates, unsubscribe } from '../../../src/operations/streams/resources.ts';
import { Following } from '../../support/following.ts';
import { StreamBench } from '../../support/streams/stream-bench.ts';

const isServed = (...schemes: string[]) => ({ offers: (name: string) => schemes.includes(name) });

test('3.1: every terminal of the caller is listed, once, with what it is', async () => {
  await using at = new Following();
  const [mine, everyones] = [await at.terminal('me'), await at.terminal()];
  await at.terminal('you');
  const { resources, next_cursor, warnings } = await at.run(list, {});
  expect(resources).toEqual(
    [mine, everyones].map(({ uri, terminal }) => ({
      uri,
      name: `terminal ${terminal.id}`,
      description: 'sh on echo, 80x24',
      mime_type: 'text/plain',
    })),
  );
  expect([next_cursor, warnings]).toEqual([undefined, undefined]);
  await expect(at.run(list, { cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(at.run(list, { cursor: '2' })).resolves.toEqual({ resources: [] });
});

test('3.1: templates in their order, of what is served alone; unserved schemes are refused', async () => {
  await using at = new Following();
  const { uri } = await at.terminal();
  expect(await at.run(templates, {})).toEqual({
    templates: [
      {
        uri_template: 'terminal://{terminal_id}/output{?cursor}',
        name: 'terminal',
        description: 'Output of any terminal',
        mime_type: 'text/plain',
      },
    ],
  });
  const other = isServed('shell://');
  expect(await at.run(templates, {}, other)).toEqual({ templates: [] });
  expect(await at.run(list, {}, other)).toEqual({ resources: [] });
  await expect(at.run(read, { uri }, other)).rejects.toMatchObject({ data: { wire: 'FEATURE_DISABLED' } });
});

test('3.2: a connection drains with auto, a number reads from there, and no cursor everything', async () => {
  await using at = new Following();
  const { uri, say, end } = await at.terminal();
  using connected = at.streams.connect('connection', 'me');
  const text = async (query: string) => {
    const { text: body, meta } = await at.run(read, { uri: `${uri}${query}` }, { connected });
    return [body, meta['cursor'], meta['eof']];
  };
  await say('one\r\n');
  expect(await text('?cursor=auto')).toEqual(['one\n', 5, false]);
  expect(await text('?cursor=auto')).toEqual(['', 5, false]);
  // Half of an é stays until the other half is there.
  await say('tw\u001b[1mo');
  expect(await text('?cursor=auto')).toEqual(['two', 12, false]);
  expect(await text('?cursor=6')).toEqual(['wo', 12, false]);
  expect(await text('')).toEqual(['one\ntwo', 12, false]);
  await end();
  expect(await text('?cursor=auto')).toEqual(['', 12, true]);
});

test('3.2: `_meta` of a text', async () => {
  await using at = new Following();
  const { uri, say, end } = await at.terminal();
  await say('a\u202eb');
  const first = await at.run(read, { uri: `${uri}?cursor=auto` });
  expect(first).toEqual({
    uri: `${uri}?cursor=auto`,
    mime_type: 'text/plain',
    text: 'ab',
    meta: {
      kind: 'terminal',
      cursor: 5,
      buffer_size: 5,
      buffer_start: 0,
      last_seq: 1,
      status: expect.any(String),
      eof: false,
      flags: { bidi: 1 },
      auto: 'stateless',
    },
  });
  await end();
  expect((await at.run(read, { uri })).meta).toMatchObject({ eof: true, exit_code: 0, status: 'exited' });
});

test('3.3: raw=true gives the very bytes, also the beginning of a sequence', async () => {
  await using at = new Following();
  const { uri, say } = await at.terminal();
  await say('x\u001b[3');
  expect(await at.run(read, { uri })).toMatchObject({ text: 'x', meta: { cursor: 1 } });
  const { blob, mime_type, meta } = await at.run(read, { uri: `${uri}?raw=true` });
  expect([Buffer.from(blob ?? '', 'base64').toString(), mime_type, meta['cursor']]).toEqual([
    'x\u001b[3',
    'application/octet-stream',
    4,
  ]);
});

test.each([
  ['a\r', '\nb', 'a\nb'],
  ['a\r\n', '\r\nb', 'a\n\nb'],
  ['50%', '\r60%', '50%\n60%'],
  ['50%\r', '60%', '50%\n60%'],
  ['50%\r', '\r60%', '50%\n60%'],
])('3.3: %j and %j in two reads are %j: a line end is neither lost nor counted twice', async (one, two, whole) => {
  await using at = new Following();
  const { uri, say } = await at.terminal();
  using connected = at.streams.connect('connection', 'me');
  const next = async () => (await at.run(read, { uri: `${uri}?cursor=auto` }, { connected })).text ?? '';
  await say(one);
  const first = await next();
  await say(two);
  expect(first + (await next())).toBe(whole);
});

test.each([
  ['http://x/output', 'BadScheme'],
  ['terminal:///output', 'MissingId'],
  ['terminal://a b/output', 'BadIdCharset'],
  ['terminal://x/screen', 'BadSubPath'],
  ['terminal://x/output?cursor=-1', 'BadCursor'],
  ['terminal://x/output?sub=%1b[2J%0aNEXT', 'BadIdCharset'],
])('2.2: %s is %s', async (uri, reason) => {
  await using at = new Following();
  for (const op of [read, subscribe] as AnyOperation[])
    await expect(at.run(op, { uri }, { connected: at.streams.connect('connection', 'me') })).rejects.toMatchObject({
      code: 'invalid_input',
      data: { wire: 'INVALID_ARGUMENT', reason },
    });
});

test('3.4: a connection subscribes, hears, and unsubscribes; what has no connection is told to listen', async () => {
  await using at = new Following();
  const { uri, say } = await at.terminal();
  using connected = at.streams.connect('connection', 'me');
  const notes = connected.notes(AbortSignal.timeout(20_000));
  await expect(at.run(subscribe, { uri })).rejects.toMatchObject({ data: { wire: 'FEATURE_DISABLED' } });
  const { sub_id } = await at.run(subscribe, { uri: `${uri}?cursor=auto` }, { connected });
  // Once more refreshes it.
  expect(await at.run(subscribe, { uri: `${uri}?cursor=auto` }, { connected })).toMatchObject({ sub_id });
  await say('new');
  at.clock.advance(200);
  expect(await notes.next()).toEqual({
    done: false,
    value: { kind: 'updated', uri: `${uri}?cursor=auto`, subIds: [sub_id], lastSeq: 1, cursor: 3 },
  });
  await at.run(unsubscribe, { uri, holders: 'one' }, { connected });
  expect(at.streams.counts.subscriptions).toBe(1);
  await at.run(unsubscribe, { uri }, { connected });
  await at.run(unsubscribe, { uri }, { connected });
  expect(at.streams.counts).toMatchObject({ subscriptions: 0, topics: 0 });
});

test('3.4: listening acknowledges what it can serve, tells of changes, and leaves nothing behind', async () => {
  await using at = new Following();
  const { uri, say } = await at.terminal();
  const other = await at.terminal('you');
  const leave = new AbortController();
  const items = callStream(
    listen,
    { uris: [uri, other.uri, 'nothing'], list: true },
    {
      engine: at.engine,
      caller: { name: 'me', principal: 'me', origin: 'http', may: () => true },
      signal: leave.signal,
    },
  );
  const next = async () => (await items.next()).value as unknown;
  expect(await next()).toEqual({ kind: 'acknowledged', uris: [uri] });
  await say('new');
  at.clock.advance(200);
  expect(await next()).toMatchObject({ kind: 'updated', uri, last_seq: 1, cursor: 3, sub_ids: [expect.any(String)] });
  await at.terminal();
  expect(await next()).toEqual({ kind: 'listed' });
  expect(at.streams.counts.subscriptions).toBe(1);
  leave.abort();
  await items.next();
  await expect.poll(() => at.streams.counts).toEqual({ peers: 0, topics: 0, subscriptions: 0 });
});

test.each([
  [{ uris: ['terminal://t_nowhere/output'] }, { data: { wire: 'RESOURCE_GONE' } }],
  [{ uris: ['nothing', 'terminal://t_nowhere/output'] }, { data: { wire: 'INVALID_ARGUMENT', reason: 'BadScheme' } }],
  [{}, { code: 'invalid_input', message: expect.stringContaining('uris') }],
])('3.4: listening to %j is refused: it would be silent for ever', async (input, error) => {
  await using at = new Following();
  const caller = { name: 'me', principal: 'me', origin: 'http', may: () => true } as const;
  const items = callStream(listen, input, { engine: at.engine, caller, signal: AbortSignal.timeout(5000) });
  await expect(items.next()).rejects.toMatchObject(error);
  expect(at.streams.counts).toEqual({ peers: 0, topics: 0, subscriptions: 0 });
});

test('2.2: a lane that is not there comes with those that look like it', async () => {
  await using at = new Following();
  const { uri } = await at.terminal();
  using connected = at.streams.connect('connection', 'me');
  const { sub_id = '' } = await at.run(open, { uri }, { connected });
  const wrong = `${sub_id.slice(0, -1)}${sub_id.endsWith('0') ? '1' : '0'}`;
  await expect(at.run(read, { uri: `${uri}?sub=${wrong}` }, { connected })).rejects.toMatchObject({
    data: { wire: 'SUB_NOT_FOUND', closest: [sub_id] },
  });
});

test('3.1: a list of more than 1000 comes in pages, each thing once; a cursor of another list is refused', async () => {
  const bench = new StreamBench();
  for (let at = 0; at < 1001; at += 1) bench.resource(`r${at}`);
  const engine = { service: () => bench.streams };
  const page = async (cursor?: string) =>
    await list.run({ input: { cursor }, engine, caller: { principal: 'ann' } } as unknown as Parameters<
      typeof list.run
    >[0]);
  const first = await page();
  const second = await page(first.next_cursor);
  expect([first.resources.length, second.resources.length, second.next_cursor]).toEqual([1000, 1, undefined]);
  expect(new Set([...first.resources, ...second.resources].map(({ uri }) => uri)).size).toBe(1001);
  expect(list.render(first)).toContain('More: --cursor 1000');
  await expect(page('x')).rejects.toMatchObject({ data: { wire: 'INVALID_ARGUMENT' } });
});

test('4.7: the text of the list has its warnings, too', () => {
  const warning = { code: 'SUB_LEAK_RISK', kind: 'shell', age_ms: 2500, severity: 'warn', msg: 'm' } as const;
  const words = list.render({ resources: [], warnings: [{ ...warning, resource: 'shell://a/output' }] });
  expect(words).toContain('WARN: SUB_LEAK_RISK shell://a/output age_ms=2500 severity=warn');
});
