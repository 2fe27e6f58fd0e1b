import { z } from 'zod';
import { remoteError } from '../../../src/contract/remote-errors.ts';
import type { ConnectedClient, ResourceNote } from '../../../src/engine/call/connected-client.ts';
import { defineBook, operation } from '../../../src/engine/call/operation.ts';
import type { Catalogue } from '../../../src/faces/mcp/catalogue.ts';
import type { ResourceContent, ResourceList, ResourceTemplates } from '../../../src/faces/mcp/resources/operations.ts';
import { onAbort } from '../../../src/system/on-abort.ts';

interface Contents {
  readonly list: (cursor: string | undefined) => ResourceList;
  readonly templates: ResourceTemplates;
  readonly read: (uri: string) => ResourceContent | undefined;
}

/** A client of such resources. */
export class FakeClient implements ConnectedClient {
  readonly kind: string;
  readonly principal: string;
  readonly slots = new Map<string, string>();
  /** Names it has to be told of. */
  readonly waiting = new Set<string>();
  /** How many notes its door has pulled. */
  pulled = 0;
  readonly presence: { touched: number; touch(): void; streams: number } | undefined;
  hearsOfList = true;
  hearsOfLanes = true;
  isOver = false;
  readonly #forget: () => void;
  #wake: (() => void) | undefined;

  constructor(kind: string, principal: string, forget: (client: FakeClient) => void) {
    this.kind = kind;
    this.principal = principal;
    this.#forget = () => forget(this);
    if (kind === 'session') {
      this.presence = {
        touched: 0,
        touch() {
          this.touched += 1;
        },
        streams: 0,
      };
    }
  }

  async *notes(signal: AbortSignal): AsyncGenerator<ResourceNote, void, void> {
    using _end = onAbort(signal, () => this.#wake?.());
    while (!signal.aborted) {
      const [name] = this.waiting;
      if (name === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      this.waiting.delete(name);
      this.pulled += 1;
      const subId = this.slots.get(name);
      if (name === 'list') yield { kind: 'listed' };
      else if (subId !== undefined) yield { kind: 'updated', uri: name, subIds: [subId], lastSeq: 1, cursor: 10 };
    }
  }

  mark(name: string): void {
    this.waiting.add(name);
    this.#wake?.();
  }

  [Symbol.dispose](): void {
    this.isOver = true;
    this.#forget();
  }
}

export interface FakeResources {
  readonly resources: NonNullable<Catalogue['resources']>;
  readonly clients: ReadonlySet<FakeClient>;
  /** Tells every client that follows it. */
  readonly changed: (uri: string) => void;
  readonly listChanged: () => void;
}

/** Resources without streams behind them: what the face itself does with its operations. */
export function fakeResources({ list, templates, read }: Contents): FakeResources {
  const clients = new Set<FakeClient>();
  let subscriptions = 0;
  const common = { title: 'A part of a test', summary: 'A part of a test.', access: 'observe' } as const;
  const uriOnly = z.object({ uri: z.string() });
  const found = (uri: string): ResourceContent => {
    const content = read(uri);
    if (content) return content;
    throw remoteError('RESOURCE_GONE', `no resource ${uri}`, { context: uri });
  };
  const operations = {
    list: operation({
      ...common,
      input: z.object({ cursor: z.string().optional() }),
      output: z.custom<ResourceList>(),
      run: ({ input }) => Promise.resolve(list(input.cursor)),
    }),
    templates: operation({
      ...common,
      input: z.object({}),
      output: z.custom<ResourceTemplates>(),
      run: () => Promise.resolve(templates),
    }),
    read: operation({
      ...common,
      input: uriOnly,
      output: z.custom<ResourceContent>(),
      run: async ({ input }) => found(input.uri),
    }),
    subscribe: operation({
      ...common,
      input: uriOnly,
      output: z.object({ uri: z.string(), sub_id: z.string() }),
      async run({ input: { uri }, caller }) {
        found(uri);
        const { slots } = caller.connected as FakeClient;
        const sub_id = slots.get(uri) ?? `sub-${++subscriptions}`;
        slots.set(uri, sub_id);
        return { uri, sub_id };
      },
    }),
    unsubscribe: operation({
      ...common,
      input: uriOnly,
      output: z.object({}),
      run: ({ input: { uri }, caller }) => {
        (caller.connected as FakeClient).slots.delete(uri);
        return Promise.resolve({});
      },
    }),
  };
  defineBook({ name: 'resource', summary: 'Resources.', nouns: { resource: operations }, renderError: String });
  return {
    resources: {
      operations,
      connect(kind, principal) {
        const client = new FakeClient(kind, principal, (one) => clients.delete(one));
        clients.add(client);
        return client;
      },
    },
    clients,
    changed(uri) {
      for (const client of clients) if (client.slots.has(uri)) client.mark(uri);
    },
    listChanged() {
      for (const client of clients) if (client.hearsOfList) client.mark('list');
    },
  };
}
