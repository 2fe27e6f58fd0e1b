import { plainOutput } from '../../engine/reading/plain-output.ts';
import { addFlags, type TextFlags } from '../../lib/plain-text.ts';
import type { ResourceRead } from '../../streams/read-resource.ts';
import type { StreamResource, TextContent, TextPart } from '../../streams/resource.ts';
import { lengthOf } from '../../streams/text-read.ts';
import { blocksText, flagged } from '../remote/text.ts';

/** What a client gets of a resource: exactly one of `text` and `blob`. */
export interface ResourceBody {
  readonly mime_type: string;
  readonly text?: string;
  /** Base64. */
  readonly blob?: string;
  readonly flags?: Record<string, number>;
}

/** The body of a resource, or of a lane (docs/requirements/remote.md section 3.3). */
export function resourceBody(read: ResourceRead): ResourceBody {
  const { resource, uri, text, lane } = read;
  const { content, scheme } = resource;
  if (content.type === 'json') {
    const body = lane ? { snapshot: content.body(), events: lane.events } : content.body();
    return { mime_type: 'application/json', text: JSON.stringify(body) };
  }
  const { parts = [], cursor = content.end } = lane ?? text ?? {};
  if (uri.raw) return { mime_type: 'application/octet-stream', blob: joined(parts).toString('base64') };
  // Where a lane left something out, the byte before its first one is not the one that its reader saw last.
  const isWhole = !lane || (lane.truncated === 0 && !lane.isFiltered);
  const before = isWhole ? byteBefore(content, cursor - lengthOf(parts)) : undefined;
  const plain = scheme === 'command' ? commandBlocks(resource, parts, before) : slice(joined(parts), before?.bytes[0]);
  return { mime_type: 'text/plain', text: plain.text, ...flagged(plain.flags) };
}

function byteBefore(content: TextContent, at: number): TextPart | undefined {
  return at <= content.start ? undefined : content.read({ from: at - 1, to: at }, 1).parts[0];
}

/** Each stream of a command in a block of its own: only what is in this slice. */
function commandBlocks(resource: StreamResource, parts: readonly TextPart[], before: TextPart | undefined) {
  const streams = (['stdout', 'stderr'] as const).map((name) => {
    const own = parts.filter(({ stream = 'stdout' }) => stream === name);
    return { name, ...slice(joined(own), before?.stream === name ? before.bytes[0] : undefined) };
  });
  const state = resource.status === 'completed' ? undefined : resource.status;
  return {
    text: blocksText(streams.map(({ name, text }) => ({ name, text, state }))),
    flags: addFlags(...streams.map(({ flags }) => flags)),
  };
}

/** Plain text of a piece of output: where it was cut, a line end is neither lost nor counted twice. */
function slice(bytes: Buffer, before: number | undefined): { readonly text: string; readonly flags: TextFlags } {
  const printed = bytes.toString('utf8');
  if (before === undefined) return plainOutput(printed);
  if (before === 0x0d) return plainOutput(printed.replace(/^\r*\n/, ''));
  if (before === 0x0a || !printed.startsWith('\r')) return plainOutput(printed);
  const { text, flags } = plainOutput(`.${printed}`);
  return { text: text.slice(1), flags };
}

const joined = (parts: readonly TextPart[]): Buffer => Buffer.concat(parts.map(({ bytes }) => bytes));
