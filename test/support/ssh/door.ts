import type { VersionNegotiationMode } from '@modelcontextprotocol/client';
import { Mcp, type ToolResult } from '../mcp-client.ts';
import { Served } from '../served.ts';

export interface PublishedTool {
  readonly name: string;
  readonly description: string;
  readonly outputSchema?: object;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** A client of the built program, whichever way it is connected. */
export interface Door extends AsyncDisposable {
  readonly home: string;
  readonly tools: () => Promise<readonly PublishedTool[]>;
  readonly call: (name: string, input?: object, meta?: object) => Promise<ToolResult>;
  /** Everything the server said besides its answers. */
  readonly said: () => string;
}

export interface DoorOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function stdio(options: DoorOptions = {}): Promise<Door> {
  const mcp = await Mcp.start(options);
  const request = async (method: string, params: object): Promise<object> => {
    const { result, error } = await mcp.request(method, params);
    if (error) throw new Error(error.message);
    return result as object;
  };
  return {
    home: mcp.home,
    tools: async () => ((await request('tools/list', {})) as { tools: PublishedTool[] }).tools,
    call: async (name, input = {}, meta = {}) =>
      (await request('tools/call', { name, arguments: input, _meta: meta })) as ToolResult,
    said: () => mcp.stderr,
    [Symbol.asyncDispose]: () => mcp[Symbol.asyncDispose](),
  };
}

const http =
  (mode: VersionNegotiationMode) =>
  async ({ args = [], env = {} }: DoorOptions = {}): Promise<Door> => {
    const served = await Served.start(['--port', '0', ...args], { ...env });
    const client = await served.connect(served.token, mode);
    return {
      home: served.home,
      tools: async () => (await client.listTools()).tools as unknown as PublishedTool[],
      call: async (name, input = {}, meta = {}) =>
        (await client.callTool({ name, arguments: { ...input }, _meta: meta as never })) as ToolResult,
      said: () => served.err,
      async [Symbol.asyncDispose]() {
        await client.close();
        await served[Symbol.asyncDispose]();
      },
    };
  };

/** Both transports, and both eras of the protocol. */
export const doors = { stdio, http: http('legacy'), 'http of 2026': http({ pin: '2026-07-28' }) };

/** The text of an answer, with the fences' nonce made the same everywhere. */
export function words({ content }: ToolResult): string {
  return (content[0]?.text ?? '').replaceAll(/^(--- \w+) \[[0-9a-f]{8}\]/gm, '$1 [nonce]');
}
