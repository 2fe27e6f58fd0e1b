import { z } from 'zod';
import { remoteError } from '../../contract/remote-errors.ts';
import { mayReadAll } from '../../engine/call/call.ts';
import { operation, stream } from '../../engine/call/operation.ts';
import type { Engine } from '../../engine/engine.ts';
import { type LeakWarning, leakWords } from '../../streams/leak-watch.ts';
import type { StreamResource } from '../../streams/resource.ts';
import { streams } from '../../streams/streams.ts';
import { resourceUri } from '../../streams/uri.ts';
import { oneLine } from '../remote/text.ts';
import { resourceBody } from './body.ts';
import { metaOf } from './meta.ts';
import { mimeTypeOf, templatesFor } from './templates.ts';

/** A longer list comes in pages of this size. */
const pageSize = 1000;
const mostUris = 1024;

const Uri = z.string().max(2048).describe('Such as terminal://<id>/output; resource list has them');
const aboutUri = ({ uri }: { readonly uri: string }) => ({ detail: uri });

const LeakShape = z.object({
  code: z.literal('SUB_LEAK_RISK'),
  resource: z.string(),
  kind: z.string(),
  age_ms: z.number(),
  severity: z.enum(['warn', 'kill']),
  msg: z.string(),
}) satisfies z.ZodType<LeakWarning>;

export const list = operation({
  title: 'List what can be followed',
  summary: 'List every terminal, shell, command and session whose output or state can be read and followed by a URI.',
  access: 'observe',
  input: z.strictObject({ cursor: z.string().max(16).optional().describe('next_cursor of the last page') }),
  output: z.object({
    resources: z.array(z.object({ uri: z.string(), name: z.string(), description: z.string(), mime_type: z.string() })),
    next_cursor: z.string().optional(),
    warnings: z.array(LeakShape).optional().describe('Resources that no client follows and nothing will end'),
  }),
  cliDefault: true,
  async run({ input, engine, caller }) {
    const service = engine.service(streams);
    const all = service.list(caller);
    const from = pageStart(input.cursor);
    const to = from + pageSize;
    const warnings = service.warnings(caller);
    return {
      resources: all.slice(from, to).map(listed),
      ...(to < all.length && { next_cursor: String(to) }),
      ...(warnings.length > 0 && { warnings: [...warnings] }),
    };
  },
  render: ({ resources, next_cursor, warnings = [] }) =>
    [
      ...(resources.length === 0 ? ['Nothing to follow.'] : []),
      ...resources.map(({ uri, description }) => `${uri}  ${description}`),
      ...warnings.map((warning) => `WARN: ${leakWords(warning)}`),
      ...(next_cursor === undefined ? [] : [`More: --cursor ${next_cursor}`]),
    ].join('\n'),
});

function pageStart(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d+$/.test(cursor)) return Number(cursor);
  throw remoteError('INVALID_ARGUMENT', `cursor: ${JSON.stringify(cursor)} is not one of this list`, {
    context: 'list again without it',
  });
}

const listed = ({ scheme, id, description }: StreamResource) => ({
  uri: resourceUri(scheme, id),
  name: `${scheme} ${id}`,
  description: oneLine(description),
  mime_type: mimeTypeOf(scheme),
});

export const templates = operation({
  title: 'Kinds of things to follow',
  summary: 'The forms of the URIs that can be read and followed.',
  access: 'observe',
  input: z.strictObject({}),
  output: z.object({
    templates: z.array(
      z.object({ uri_template: z.string(), name: z.string(), description: z.string(), mime_type: z.string() }),
    ),
  }),
  run: async ({ engine, caller }) => ({ templates: templatesFor(engine.service(streams).schemes(caller)) }),
  render: (output) =>
    output.templates.map(({ uri_template, description }) => `${uri_template}  ${description}`).join('\n'),
});

export const read = operation({
  title: 'Read what can be followed',
  summary:
    'Read a resource by its URI: ?cursor=N or auto for what is new, ?sub=SUB_ID for a lane, ?raw=true for bytes.',
  access: 'observe',
  input: z.strictObject({ uri: Uri }),
  output: z.object({
    uri: z.string(),
    mime_type: z.string(),
    text: z.string().optional(),
    blob: z.string().optional().describe('Base64'),
    meta: z
      .record(z.string(), z.unknown())
      .describe('kind, status, cursor for the next read, eof once nothing more can come'),
  }),
  positional: ['uri'],
  about: aboutUri,
  async run({ input: { uri }, engine, caller }) {
    const found = engine.service(streams).read(uri, caller);
    const { flags, blob, ...body } = resourceBody(found);
    // Answers are masked as text on their way out: a value inside Base64 would not be recognised there.
    const shown = blob === undefined || mayReadAll(caller, {}) ? blob : withoutKnown(blob, engine);
    return { uri, ...body, ...(shown !== undefined && { blob: shown }), meta: metaOf(found, flags) };
  },
  render: ({ text, blob }) => text ?? blob ?? '',
});

/** The same bytes; where there are known secrets among them, a text without these. */
function withoutKnown(blob: string, engine: Engine): string {
  const text = Buffer.from(blob, 'base64').toString('utf8');
  const shown = engine.withoutKnown(text);
  return shown === text ? blob : Buffer.from(shown).toString('base64');
}

export const subscribe = operation({
  title: 'Follow a resource',
  summary: 'Have this connection told when a resource changes. Without a connection of your own, use listen.',
  access: 'observe',
  input: z.strictObject({ uri: Uri }),
  output: z.object({ uri: z.string(), sub_id: z.string() }),
  positional: ['uri'],
  about: aboutUri,
  async run({ input: { uri }, engine, caller }) {
    if (!caller.connected) {
      throw remoteError('FEATURE_DISABLED', 'This connection cannot be told of changes', {
        context: 'use resource listen, or read with a cursor',
      });
    }
    const { subId } = engine.service(streams).subscribe(uri, caller);
    return { uri, sub_id: subId };
  },
});

export const unsubscribe = operation({
  title: 'Stop following a resource',
  summary: 'End a subscription of this connection. Without one, nothing happens.',
  access: 'observe',
  input: z.strictObject({
    uri: Uri,
    holders: z.enum(['one', 'all']).default('all').describe('one: only what a single subscribe asked for (all)'),
  }),
  output: z.object({}),
  positional: ['uri'],
  about: aboutUri,
  async run({ input: { uri, holders }, engine, caller }) {
    engine.service(streams).unsubscribe(uri, caller, holders === 'all');
    return {};
  },
  render: () => 'Not followed any more.',
});

export const listen = stream({
  title: 'Be told of changes',
  summary:
    'Follow resources: first which of them are followed, then a note at each change, to be read from your cursor.',
  access: 'observe',
  input: z.strictObject({
    uris: z.array(z.string().max(2048)).max(mostUris).default([]).describe('URIs to follow, at most 1024'),
    list: z.boolean().default(false).describe('Also tell when resources come or go'),
  }),
  item: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('acknowledged'), uris: z.array(z.string()) }),
    z.object({
      kind: z.literal('updated'),
      uri: z.string(),
      sub_ids: z.array(z.string()),
      last_seq: z.number(),
      cursor: z.number(),
    }),
    z.object({ kind: z.literal('listed') }),
  ]),
  positional: ['uris'],
  about: ({ uris }) => ({ detail: uris.join(' ') }),
  async *run({ input, engine, caller, signal }) {
    const service = engine.service(streams);
    using client = service.connect('listener', caller.principal);
    client.hearsOfList = input.list;
    const faults: unknown[] = [];
    const uris = input.uris.filter((uri) => {
      try {
        return service.subscribe(uri, { ...caller, connected: client });
      } catch (fault) {
        return void faults.push(fault);
      }
    });
    // What cannot be followed is left out of the acknowledgement. With nothing left, the stream would be silent for ever.
    if (uris.length === 0 && !input.list) {
      throw faults[0] ?? remoteError('INVALID_ARGUMENT', 'uris: name at least one, or set list');
    }
    yield { kind: 'acknowledged' as const, uris };
    for await (const note of client.notes(signal)) {
      if (note.kind === 'listed') yield note;
      else {
        const { kind, uri, subIds, lastSeq, cursor } = note;
        yield { kind, uri, sub_ids: [...subIds], last_seq: lastSeq, cursor };
      }
    }
  },
  render(item) {
    if (item.kind === 'acknowledged') return item.uris.map((uri) => `${uri}  followed\n`).join('');
    if (item.kind === 'listed') return 'the list has changed\n';
    return `${item.uri}  changed, ends at ${item.cursor}\n`;
  },
});
