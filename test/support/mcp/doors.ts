import { PassThrough } from 'node:stream';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { localOwner } from '../../../src/engine/call/principal.ts';
import { LineTransport } from '../../../src/faces/mcp/line-transport.ts';
import { serveStdio } from '../../../src/faces/mcp/stdio.ts';
import type { McpSurface } from '../../../src/faces/mcp/surface.ts';
import { type McpHttpOptions, serveMcpHttp } from './http.ts';

export interface Connected extends AsyncDisposable {
  readonly client: Client;
}

/** Ways for the official client to reach a surface. Leaving the scope ends both sides. */
export const doors = {
  async stdio(surface: McpSurface, client: Client): Promise<Connected> {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    const { signal } = new AbortController();
    const served = serveStdio(surface, { stdin: toServer, stdout: toClient, principal: localOwner, signal });
    await client.connect(new LineTransport(toClient, toServer));
    return {
      client,
      async [Symbol.asyncDispose]() {
        await client.close();
        toServer.end();
        await served;
      },
    };
  },
  async http(surface: McpSurface, client: Client, options: Partial<McpHttpOptions> = {}): Promise<Connected> {
    const token = 'open-sesame';
    const server = await serveMcpHttp(surface, {
      host: '127.0.0.1',
      port: 0,
      token,
      allowedHosts: [],
      allowedOrigins: [],
      ...options,
    });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    return {
      client,
      async [Symbol.asyncDispose]() {
        await client.close();
        await server[Symbol.asyncDispose]();
      },
    };
  },
};
