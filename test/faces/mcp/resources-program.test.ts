import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { LineTransport } from '../../../src/faces/mcp/line-transport.ts';
import { type Era, eras, ResourceClient } from '../../support/mcp/resource-place.ts';
import { Mcp } from '../../support/mcp-client.ts';
import { Served } from '../../support/served.ts';

// The built program, a real shell, and the official client of each era (docs/requirements/remote.md 3).

const doors = {
  async stdio(client: Client): Promise<AsyncDisposable> {
    const mcp = await Mcp.raw();
    await client.connect(new LineTransport(mcp.child.stdout, mcp.child.stdin));
    return mcp;
  },
  async http(client: Client): Promise<AsyncDisposable> {
    const served = await Served.start();
    const requestInit = { headers: { authorization: `Bearer ${served.token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit }));
    return served;
  },
};

test.each(
  Object.entries(doors).flatMap(([door, open]) => (Object.keys(eras) as Era[]).map((era) => ({ door, open, era }))),
)(
  'a client of $era over $door follows a shell: it is told of output, and reads what is new',
  async ({ open, era }) => {
    const own = new ResourceClient(era);
    const { client } = own;
    await using _program = await open(client);
    await client.callTool({ name: 'terminal_wait', arguments: { prompt: true, timeoutMs: 50_000 } });
    const { resources } = await client.listResources();
    const uri = resources[0]?.uri ?? '';
    expect(uri).toMatch(/^terminal:\/\/[\w-]+\/output$/);
    await own.follow(uri);
    let { meta } = await own.read(uri);
    await client.callTool({ name: 'type', arguments: { text: "echo hel''lo-there", submit: true } });
    let seen = '';
    for (let told = 1; !seen.includes('hello-there'); told++) {
      await own.told(told);
      const more = await own.read(`${uri}?cursor=${String(meta['cursor'])}`);
      seen += more.text;
      meta = more.meta;
    }
    expect(meta).toMatchObject({ kind: 'terminal', buffer_start: 0 });
    await client.close();
  },
  60_000,
);
