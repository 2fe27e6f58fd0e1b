import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { FairleadError } from '../../../contract/errors.ts';
import type { Caller } from '../../../engine/call/call.ts';
import type { McpResources } from '../surface.ts';
import { resourceError } from './errors.ts';
import type { Gives } from './operations.ts';

interface Input {
  readonly uri?: string;
  readonly cursor?: string;
}

interface Offer {
  readonly resources: McpResources;
  readonly era: 'legacy' | 'modern';
  readonly callerOf: (context: ServerContext) => Caller;
}

/** Serves the methods for resources on one server. What a client follows in the 2026 era it names in `subscriptions/listen`. */
export function offerResources(server: Server, { resources, era, callerOf }: Offer): void {
  const { operations } = resources;
  const ask = async <Out>(op: Gives<Out>, input: Input, context: ServerContext): Promise<Out> => {
    try {
      return (await resources.call(op, input, { caller: callerOf(context), signal: context.mcpReq.signal })) as Out;
    } catch (thrown) {
      throw thrown instanceof FairleadError ? resourceError(thrown, input.uri) : thrown;
    }
  };
  server.registerCapabilities({ resources: { subscribe: true, listChanged: true } });
  server.setRequestHandler('resources/list', async ({ params }, context) => {
    const { cursor } = params ?? {};
    const found = await ask(operations.list, cursor === undefined ? {} : { cursor }, context);
    const { next_cursor: nextCursor, warnings = [] } = found;
    return {
      resources: found.resources.map(({ mime_type: mimeType, ...rest }) => ({ ...rest, mimeType })),
      ...(nextCursor !== undefined && { nextCursor }),
      ...(warnings.length > 0 && { _meta: { warnings } }),
    };
  });
  server.setRequestHandler('resources/templates/list', async (_request, context) => {
    const { templates } = await ask(operations.templates, {}, context);
    return {
      resourceTemplates: templates.map(({ uri_template: uriTemplate, mime_type: mimeType, ...rest }) => ({
        uriTemplate,
        mimeType,
        ...rest,
      })),
    };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const { mime_type: mimeType, text, blob, meta } = await ask(operations.read, { uri }, context);
    const body = blob === undefined ? { text: text ?? '' } : { blob };
    return { contents: [{ uri, mimeType, ...body, _meta: { ...meta } }] };
  });
  if (era === 'modern') return;
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    const { sub_id } = await ask(operations.subscribe, { uri }, context);
    return { _meta: { sub_id } };
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }, context) => {
    await ask<unknown>(operations.unsubscribe, { uri }, context);
    return {};
  });
}
