import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
  type ServerOptions,
  type Transport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import { type HttpClient, identify } from './client-identity.ts';
import type { Caller } from '../../engine/call/call.ts';
import type { ConnectedClient } from '../../engine/call/connected-client.ts';
import type { Work } from './elicit/held.ts';
import { plainly } from './elicit/elicit.ts';
import type { CallsEnd } from '../door/calls-end.ts';
import { peerOf } from './http/web.ts';
import { progressOf } from './progress.ts';
import { getPrompt } from './prompts.ts';
import { withOldNumber } from './resources/errors.ts';
import { offerResources } from './resources/requests.ts';
import type { McpSurface } from './surface.ts';

const firstWithEnvelope = '2026-07-28';

export interface ServerSetting {
  readonly era: 'legacy' | 'modern';
  /** Whose things its callers see. */
  readonly principal: string;
  /** Absent: it is the only client, and the default terminal of the instance belongs to it. */
  readonly client?: HttpClient | undefined;
  /** The client's connection, where it has one. */
  readonly connected?: ConnectedClient | undefined;
  /** Begins shortly before the connection ends. */
  readonly ending: CallsEnd;
}

/** One protocol server over the surface: for a stdio connection, a legacy HTTP session or a single modern request. */
export function createServer(surface: McpSurface, setting: ServerSetting): Server {
  const { name, version, title, description, instructions } = surface;
  const server = new PlainSpokenServer(
    { name, version, ...(title !== undefined && { title }), ...(description !== undefined && { description }) },
    {
      instructions,
      capabilities: { tools: { listChanged: true }, ...(surface.prompts.length > 0 && { prompts: {} }) },
    },
    setting.era,
  );
  const callerOf = (context: ServerContext): Caller => {
    const { principal, connected } = setting;
    const { may, offers } = surface;
    const [name, peer] = [clientName(server, context), peerOf(context.http?.req)];
    const client = setting.client && identify(setting.client, name, context);
    return { name, principal, origin: 'mcp', peer, may, offers, client, connected };
  };
  server.setRequestHandler('tools/list', () => surface.tools.list());
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const progress = progressOf(context);
    const { era, principal, ending } = setting;
    const caller = callerOf(context);
    const visit = { era, server, context, principal, params, ending: ending.signal, progress: progress.report };
    const work: Work = (parts) =>
      surface.tools.call(params.name, params.arguments ?? {}, { caller, context, ...parts });
    const result = await ending.attend(surface.person?.serve(visit, work) ?? plainly(visit, work));
    await progress.settled();
    return result;
  });
  if (surface.prompts.length > 0) {
    server.setRequestHandler('prompts/list', () => ({ prompts: surface.prompts.map(({ definition }) => definition) }));
    server.setRequestHandler('prompts/get', ({ params }, context) =>
      getPrompt(surface.prompts, params.name, params.arguments ?? {}, context),
    );
  }
  const { resources } = surface;
  if (resources !== undefined) offerResources(server, { resources, era: setting.era, callerOf });
  surface.extend?.(server);
  return server;
}

/** The client's name: in every request since 2026, before that once. It is a claim, good enough for a log. */
function clientName(server: Server, { mcpReq }: ServerContext): string {
  const { [CLIENT_INFO_META_KEY]: info } = (mcpReq.envelope ?? {}) as { [CLIENT_INFO_META_KEY]?: Implementation };
  return (info ?? server.getClientVersion())?.name.slice(0, 100) ?? 'mcp';
}

/** The SDK answers malformed requests with a multi-line dump of its validator. Here every error is one line. */
class PlainSpokenServer extends Server {
  readonly #era: ServerSetting['era'];

  constructor(info: Implementation, options: ServerOptions, era: ServerSetting['era']) {
    super(info, options);
    this.#era = era;
  }

  override async connect(transport: Transport): Promise<void> {
    if (this.#era === 'legacy') {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => send(withOldNumber(message), options);
    }
    await super.connect(transport);
  }

  protected override _wrapHandler(
    method: string,
    handler: (request: JSONRPCRequest, context: ServerContext) => Promise<Result>,
  ): (request: JSONRPCRequest, context: ServerContext) => Promise<Result> {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      this.#mustSpeak(context);
      // Some clients write `"arguments": null` for none.
      if (request.params?.['arguments'] === null) delete request.params['arguments'];
      try {
        return await wrapped(request, context);
      } catch (thrown) {
        throw thrown instanceof Error && thrown.message.includes('\n') ? inOneLine(method, thrown.message) : thrown;
      }
    };
  }

  /** Since 2026 every request names its protocol version; the SDK checks only the first one of a connection. */
  #mustSpeak({ mcpReq }: ServerContext): void {
    const served = this.getNegotiatedProtocolVersion();
    const { [PROTOCOL_VERSION_META_KEY]: requested } = (mcpReq.envelope ?? {}) as Record<string, string | undefined>;
    if (served === undefined || served < firstWithEnvelope || requested === undefined || requested === served) return;
    throw new UnsupportedProtocolVersionError({ supported: [served], requested });
  }
}

function inOneLine(method: string, dump: string): ProtocolError {
  const detail = issuesOf(dump) ?? dump.replaceAll(/\s+/g, ' ');
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${detail}`);
}

/** The validator's issues are a JSON array at the end of its message. */
function issuesOf(dump: string): string | undefined {
  try {
    const issues = JSON.parse(dump.slice(dump.indexOf('['))) as { path: (string | number)[]; message: string }[];
    return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  } catch {
    return undefined;
  }
}
