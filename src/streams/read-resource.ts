import type { LaneRead } from './lane-read.ts';
import type { Peer } from './peer.ts';
import type { StreamResource, TextContent, TextPart } from './resource.ts';
import { heldBack, lengthOf, longestHeld } from './text-read.ts';
import type { ResourceUri } from './uri.ts';

/** What a read of a resource found. */
export interface ResourceRead {
  readonly resource: StreamResource;
  readonly uri: ResourceUri;
  /** Of a text that was read by its cursor. */
  readonly text?: {
    readonly parts: readonly TextPart[];
    /** Where the next read begins. */
    readonly cursor: number;
    /** Bytes this read skipped because they are no longer kept. */
    readonly truncated: number;
    /** `auto` means nothing to a caller without a connection: it got everything. */
    readonly isStateless: boolean;
  };
  /** Of a resource that is no text: events from its cursor on, where it has one. */
  readonly json?: { readonly cursor: number };
  readonly lane?: LaneRead & { readonly subId: string; readonly isFiltered: boolean };
}

/** Reads a resource by the cursor of the URI, and remembers for this client how far it came. */
export function readResource(resource: StreamResource, uri: ResourceUri, peer: Peer, maxBytes: number): ResourceRead {
  const { content, key } = resource;
  if (content.type === 'json') {
    const { end: cursor } = content;
    acknowledge(peer, key, cursor);
    return { resource, uri, json: { cursor } };
  }
  const isStateless = peer.isStateless && uri.cursor === 'auto';
  const asked = uri.cursor === 'auto' ? (peer.isStateless ? 0 : (peer.offsets.get(key) ?? 0)) : (uri.cursor ?? 0);
  // A caller that names no place wants what there is: only a cursor can have missed something.
  const truncated = uri.cursor === undefined || isStateless ? 0 : Math.max(0, content.start - asked);
  const { parts, cursor } = readText(content, asked, maxBytes, uri, resource.end !== undefined);
  if (!peer.isStateless) {
    peer.offsets.set(key, Math.max(peer.offsets.get(key) ?? 0, cursor));
    acknowledge(peer, key, cursor);
  }
  return { resource, uri, text: { parts, cursor, truncated, isStateless } };
}

function readText(content: TextContent, asked: number, maxBytes: number, uri: ResourceUri, isOver: boolean) {
  let read = content.read({ from: asked, to: content.end }, maxBytes);
  if (uri.raw) return { parts: read.parts, cursor: read.to };
  const isCut = (): boolean => read.to < content.end;
  if (isCut() && lengthOf(read.parts) > 0 && heldBack(read.parts).held === lengthOf(read.parts)) {
    // A limit smaller than a character or an escape sequence: the reader would never get past it.
    read = content.read({ from: asked, to: content.end }, maxBytes + longestHeld);
  }
  const { parts, held } = isOver && !isCut() ? { parts: read.parts, held: 0 } : heldBack(read.parts);
  return { parts, cursor: read.to - held };
}

/** A client that reads in this way needs none of it in its lanes. */
function acknowledge(peer: Peer, key: string, to: number): void {
  if (peer.isStateless) return;
  for (const lane of peer.lanes.values()) if (lane.resource.key === key) lane.acknowledge(to);
}
