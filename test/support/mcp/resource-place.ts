import { Client, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { call } from '../../../src/engine/call/call.ts';
import { mcpSurface } from '../../../src/faces/mcp/catalogue.ts';
import type { McpSurface } from '../../../src/faces/mcp/surface.ts';
import { resourceOperations, subBook } from '../../../src/operations/streams/index.ts';
import type { StreamSettings } from '../../../src/streams/settings.ts';
import { Following } from '../following.ts';

/** The MCP surface over terminals that say what a test tells them to, with time that stands still. */
export class ResourcePlace extends Following {
  readonly surface: McpSurface;

  constructor(settings: Partial<StreamSettings> = {}) {
    super(settings);
    const { engine } = this;
    this.surface = mcpSurface({
      name: 'fairlead',
      version: '1.2.3',
      instructions: 'Follow.',
      // Terminals are offered by other books, whose tools no test needs here.
      books: [{ ...subBook, schemes: ['terminal://'] }],
      toolsets: ['all'],
      prompts: [],
      readOnly: false,
      call: (op, raw, context) => call(op, raw, { ...context, engine }),
      resources: {
        operations: resourceOperations,
        connect: (kind, principal) => this.streams.connect(kind, principal),
      },
    });
  }

  /** What clients hold; one peer stands for requests without a connection, once there was one. */
  get held(): { readonly subscriptions: number; readonly topics: number } {
    const { subscriptions, topics } = this.streams.counts;
    return { subscriptions, topics };
  }
}

export interface Update {
  readonly uri: string;
  readonly meta: Record<string, unknown>;
}

export const eras = {
  '2025-11-25': 'legacy',
  '2026-07-28': { pin: '2026-07-28' },
} as const satisfies Record<string, VersionNegotiationMode>;
export type Era = keyof typeof eras;

/** The official client of one era, and what it was told of resources. */
export class ResourceClient {
  readonly client: Client;
  readonly era: Era;
  readonly updates: Update[] = [];
  lists = 0;
  #wake: (() => void)[] = [];

  constructor(era: Era) {
    this.era = era;
    this.client = new Client({ name: 'official', version: '2' }, { versionNegotiation: { mode: eras[era] } });
    this.client.setNotificationHandler('notifications/resources/updated', ({ params: { uri, _meta = {} } }) => {
      this.updates.push({ uri, meta: _meta });
      this.#woken();
    });
    this.client.setNotificationHandler('notifications/resources/list_changed', () => {
      this.lists += 1;
      this.#woken();
    });
  }

  /** Follows these URIs in the way of its era; what it returns ends it. */
  async follow(...uris: string[]): Promise<() => Promise<unknown>> {
    const { client } = this;
    if (this.era === '2026-07-28') {
      const listen = await client.listen({ resourceSubscriptions: uris, resourcesListChanged: true });
      return () => listen.close();
    }
    for (const uri of uris) await client.subscribeResource({ uri });
    return () => Promise.all(uris.map((uri) => client.unsubscribeResource({ uri })));
  }

  /** Waits until it was told of so many changes. */
  async told(count: number): Promise<Update> {
    await this.until(() => this.updates.length >= count);
    return this.updates[count - 1] as Update;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** The text and the `_meta` of a read. */
  async read(uri: string): Promise<{ readonly text: string; readonly meta: Record<string, unknown> }> {
    const { contents } = await this.client.readResource({ uri });
    const [content] = contents as { text?: string; _meta?: Record<string, unknown> }[];
    return { text: content?.text ?? '', meta: content?._meta ?? {} };
  }

  #woken(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
