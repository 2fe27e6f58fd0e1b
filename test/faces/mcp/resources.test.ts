import type { ProtocolError } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { type Connected, doors } from '../../support/mcp/doors.ts';
import { type Era, eras, ResourceClient, ResourcePlace } from '../../support/mcp/resource-place.ts';

// docs/requirements/remote.md 3 and 4.1: the official client of each era, over each door.

const matrix = Object.entries(doors).flatMap(([door, open]) =>
  (Object.keys(eras) as Era[]).map((era) => ({ door, open, era })),
);

describe.each(matrix)('a client of $era over $door', ({ door, open, era }) => {
  const isStateless = door === 'http' && era === '2026-07-28';
  const connect = async (place: ResourcePlace): Promise<Connected & { readonly own: ResourceClient }> => {
    const own = new ResourceClient(era);
    return Object.assign(await open(place.surface, own.client, { clock: place.clock }), { own });
  };

  test('finds what it can follow, and how to write it (3.1)', async () => {
    await using place = new ResourcePlace();
    const { uri, terminal } = await place.terminal();
    await using connected = await connect(place);
    const { client } = connected;
    expect(client.getServerCapabilities()?.resources).toEqual({ subscribe: true, listChanged: true });
    expect((await client.listResources()).resources).toEqual([
      { uri, name: `terminal ${terminal.id}`, description: expect.any(String), mimeType: 'text/plain' },
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      expect.stringMatching(/^terminal:\/\/\{terminal_id\}\/output/),
    ]);
  });

  test('is told of output once per flush, and reads what is new (3.2, 3.4)', async () => {
    await using place = new ResourcePlace();
    const { uri, say } = await place.terminal();
    await using connected = await connect(place);
    const { own } = connected;
    await own.follow(uri);
    await say('one\r\n');
    await say('two\r\n');
    place.clock.advance(200);
    const { uri: named, meta } = await own.told(1);
    expect(named).toBe(uri);
    expect(meta).toMatchObject({ sub_ids: [expect.any(String)], last_seq: 2, cursor: 10 });
    const first = await own.read(`${uri}?cursor=auto`);
    expect(first).toMatchObject({ text: 'one\ntwo\n', meta: { kind: 'terminal', cursor: 10 } });
    await say('three\r\n');
    place.clock.advance(200);
    await own.told(2);
    // Between two requests of 2026 over HTTP there is no client that could be remembered.
    const second = await own.read(`${uri}?cursor=auto`);
    if (isStateless) expect(second).toMatchObject({ text: 'one\ntwo\nthree\n', meta: { auto: 'stateless' } });
    else expect(second.text).toBe('three\n');
    expect((await own.read(`${uri}?cursor=10`)).text).toBe('three\n');
    expect(own.updates).toHaveLength(2);
  });

  test('is told by the name it used, with a query (3.1)', async () => {
    await using place = new ResourcePlace();
    const { uri, say } = await place.terminal();
    await using connected = await connect(place);
    await connected.own.follow(`${uri}?cursor=auto`);
    await say('x');
    place.clock.advance(200);
    expect((await connected.own.told(1)).uri).toBe(`${uri}?cursor=auto`);
  });

  test('drains a lane with ?sub= (4.1)', async () => {
    await using place = new ResourcePlace();
    const { uri, say } = await place.terminal();
    await using connected = await connect(place);
    const { own, client } = connected;
    const { structuredContent } = await client.callTool({ name: 'sub_open', arguments: { uri } });
    const { sub_id: lane } = structuredContent as { sub_id: string };
    await own.follow(uri);
    await say('first\r\n');
    place.clock.advance(200);
    const { meta } = await own.told(1);
    expect(meta['sub_ids']).toEqual([expect.any(String), lane]);
    expect(await own.read(`${uri}?sub=${lane}`)).toMatchObject({ text: 'first\n', meta: { sub_id: lane } });
    await say('second\r\n');
    place.clock.advance(200);
    await own.told(2);
    expect((await own.read(`${uri}?sub=${lane}`)).text).toBe('second\n');
    expect((await own.read(`${uri}?sub=${lane}`)).text).toBe('');
  });

  test.runIf(era === '2026-07-28')('hears of a lane once it names its URI, and then at once (3.4)', async () => {
    await using place = new ResourcePlace();
    const [one, two] = [await place.terminal(), await place.terminal()];
    await using connected = await connect(place);
    const { own, client } = connected;
    await client.callTool({ name: 'sub_open', arguments: { uri: one.uri } });
    await own.follow(two.uri);
    await one.say('before');
    place.clock.advance(200);
    await two.say('x');
    place.clock.advance(200);
    expect((await own.told(1)).uri).toBe(two.uri);
    await own.follow(one.uri);
    expect(await own.told(2)).toMatchObject({ uri: one.uri, meta: { cursor: 6 } });
  });

  test('moves no offset and no lane of another client (3.2)', async () => {
    await using place = new ResourcePlace();
    const { uri, say } = await place.terminal();
    await using first = await connect(place);
    await using second = await connect(place);
    await first.own.follow(uri);
    await second.own.follow(uri);
    await say('hello\r\n');
    place.clock.advance(200);
    const [one, two] = await Promise.all([first.own.told(1), second.own.told(1)]);
    expect(one.meta['sub_ids']).not.toEqual(two.meta['sub_ids']);
    expect((await first.own.read(`${uri}?cursor=auto`)).text).toBe('hello\n');
    expect((await second.own.read(`${uri}?cursor=auto`)).text).toBe('hello\n');
    if (isStateless) return;
    expect((await first.own.read(`${uri}?cursor=auto`)).text).toBe('');
    const { structuredContent } = await first.client.callTool({ name: 'sub_open', arguments: { uri } });
    const { sub_id: lane } = structuredContent as { sub_id: string };
    await expect(second.own.read(`${uri}?sub=${lane}`)).rejects.toMatchObject({ data: { code: 'SUB_NOT_FOUND' } });
  });

  test('hears of changes to the list at most once a second (3.1)', async () => {
    await using place = new ResourcePlace();
    const { uri } = await place.terminal();
    await using connected = await connect(place);
    const { own } = connected;
    await own.follow(uri);
    place.clock.advance(1000);
    const before = own.lists;
    for (let opened = 0; opened < 5; opened++) await place.terminal();
    await own.until(() => own.lists > before);
    for (let opened = 0; opened < 5; opened++) await place.terminal();
    // The answer comes after every notification that was sent before it.
    expect((await connected.client.listResources()).resources).toHaveLength(11);
    expect(own.lists).toBe(before + 1);
    place.clock.advance(999);
    await connected.client.listResources();
    expect(own.lists).toBe(before + 1);
    place.clock.advance(1);
    await own.until(() => own.lists > before + 1);
    expect(own.lists).toBe(before + 2);
  });

  test('that stops following is told no more, and holds nothing (3.4)', async () => {
    await using place = new ResourcePlace();
    const [one, two] = [await place.terminal(), await place.terminal()];
    await using connected = await connect(place);
    const { own } = connected;
    const stop = await own.follow(one.uri);
    await own.follow(two.uri);
    expect(place.held).toEqual({ subscriptions: 2, topics: 2 });
    await stop();
    await connected.client.listResources();
    while (place.held.subscriptions > 1) await new Promise((resolve) => setImmediate(resolve));
    await one.say('x');
    await two.say('x');
    place.clock.advance(200);
    expect((await own.told(1)).uri).toBe(two.uri);
    place.clock.advance(1000);
    await connected.client.listResources();
    expect(own.updates).toHaveLength(1);
  });

  test('that goes leaves nothing behind (3.4)', async () => {
    await using place = new ResourcePlace();
    const { uri } = await place.terminal();
    await place.terminal();
    {
      await using connected = await connect(place);
      await connected.own.follow(uri);
      if (!isStateless) await connected.client.callTool({ name: 'sub_open', arguments: { uri } });
      expect(place.held).toEqual({ subscriptions: isStateless ? 1 : 2, topics: 1 });
    }
    expect(place.held).toEqual({ subscriptions: 0, topics: 0 });
    expect(place.streams.counts.peers).toBe(0);
  });

  test('is told what is wrong with a URI, in numbers, codes and words (2.2)', async () => {
    await using place = new ResourcePlace({ maxSubsPerUri: 1 });
    const { uri, terminal } = await place.terminal();
    await using connected = await connect(place);
    const { client, own } = connected;
    const fault = async (written: string): Promise<unknown> => {
      try {
        return await client.readResource({ uri: written });
      } catch (thrown) {
        const { code, data, message } = thrown as ProtocolError & { readonly data: Record<string, unknown> };
        expect(message).not.toContain('\n');
        expect(data['hint']).toEqual(expect.stringMatching(/\w/));
        return [code, data['code'], data['reason']];
      }
    };
    expect(await fault('gopher://x/output')).toEqual([-32602, 'INVALID_ARGUMENT', 'BadScheme']);
    expect(await fault('terminal:///output')).toEqual([-32602, 'INVALID_ARGUMENT', 'MissingId']);
    expect(await fault('terminal://a%00b/output')).toEqual([-32602, 'INVALID_ARGUMENT', 'BadIdCharset']);
    expect(await fault(`terminal://${terminal.id}/progress`)).toEqual([-32602, 'INVALID_ARGUMENT', 'BadSubPath']);
    expect(await fault(`${uri}?cursor=-1`)).toEqual([-32602, 'INVALID_ARGUMENT', 'BadCursor']);
    const unknown = era === '2026-07-28' ? -32602 : -32002;
    expect(await fault('terminal://t_nowhere/output')).toEqual([unknown, 'RESOURCE_GONE', undefined]);
    expect(await fault(`${uri}?sub=none`)).toEqual([unknown, 'SUB_NOT_FOUND', undefined]);
    expect(await fault('shell://x/output')).toEqual([-32603, 'FEATURE_DISABLED', undefined]);
    await own.follow(uri);
    if (era === '2026-07-28') {
      const { honoredFilter } = await client.listen({ resourceSubscriptions: ['terminal://t_no/output', 'nonsense'] });
      expect(honoredFilter.resourceSubscriptions ?? []).toEqual([]);
      return;
    }
    await using other = await connect(place);
    const full = { code: -32603, data: { code: 'MAX_SUBS_PER_URI_EXCEEDED' } };
    await expect(other.client.subscribeResource({ uri })).rejects.toMatchObject(full);
    // Twice is once, and its id is the same; ending it twice is no mistake.
    const again = (await client.subscribeResource({ uri })) as { _meta?: { sub_id: string } };
    expect(((await client.subscribeResource({ uri })) as typeof again)._meta).toEqual(again._meta);
    expect(again._meta?.sub_id).toMatch(/^[0-9a-f-]{36}$/);
    await client.unsubscribeResource({ uri });
    await client.unsubscribeResource({ uri });
    expect(place.held.subscriptions).toBe(0);
  });
});
