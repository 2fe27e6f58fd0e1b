import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { visible } from '../../contract/quote.ts';
import type { McpResources, ResourceChange } from './surface.ts';

const maxSubscriptions = 1024;

/**
 * Serves resources on one connection. A 2025 client hears of the URIs it subscribed to; a 2026 client opens
 * `subscriptions/listen`, which the SDK serves, so there every change is handed on and filtered by it.
 */
export function offerResources(server: Server, resources: McpResources, era: 'legacy' | 'modern'): void {
  server.registerCapabilities({ resources: { subscribe: true, listChanged: true } });
  server.setRequestHandler('resources/list', async () => ({ resources: [...(await resources.list())] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resources.templates()] }));
  server.setRequestHandler('resources/read', async ({ params }, { mcpReq }) => {
    const found = await resources.read(params.uri, mcpReq.signal);
    if (found === undefined) throw new ResourceNotFoundError(visible(params.uri));
    return found;
  });

  const subscribed = new Set<string>();
  if (era === 'legacy') {
    server.setRequestHandler('resources/subscribe', ({ params }) => {
      if (subscribed.size >= maxSubscriptions && !subscribed.has(params.uri)) {
        const message = `Too many subscriptions (${maxSubscriptions}). Unsubscribe from some first.`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      subscribed.add(params.uri);
      return {};
    });
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      subscribed.delete(params.uri);
      return {};
    });
  }

  const tell = async (change: ResourceChange): Promise<void> => {
    if (change.kind === 'listed') return server.sendResourceListChanged();
    if (era === 'modern' || subscribed.has(change.uri)) return server.sendResourceUpdated({ uri: change.uri });
  };
  const following = resources.on((change) => {
    tell(change).catch((error: unknown) => server.onerror?.(error as Error));
  });
  const closed = server.onclose;
  server.onclose = () => {
    following[Symbol.dispose]();
    closed?.();
  };
}
