import { visible } from '../contract/quote.ts';
import { remoteError } from '../contract/remote-errors.ts';

/** What can be followed, and the last word of its URIs. */
export const schemes = {
  shell: 'output',
  command: 'output',
  transfer: 'progress',
  session: 'health',
  serial: 'output',
  forward: 'events',
  rsync: 'progress',
  terminal: 'output',
} as const;
export type Scheme = keyof typeof schemes;

/** Why a URI cannot be used. */
export type UriFault = 'BadScheme' | 'MissingId' | 'BadIdCharset' | 'BadSubPath' | 'BadCursor';

export interface ResourceUri {
  readonly scheme: Scheme;
  readonly id: string;
  /** Without its query: what subscriptions are known by. */
  readonly plain: string;
  /** As the client wrote it. */
  readonly written: string;
  /** `auto`: where the client stopped reading. Undefined: all there is. */
  readonly cursor: number | 'auto' | undefined;
  readonly raw: boolean;
  /** The lane to read. */
  readonly sub: string | undefined;
}

/** Subscriptions keep the URI as it was written, and notifications repeat it. */
const longestQuery = 1024;

const withCursor: readonly Scheme[] = ['shell', 'command', 'serial', 'forward', 'terminal'];

export const resourceUri = (scheme: Scheme, id: string): string => `${scheme}://${id}/${schemes[scheme]}`;

/** Reads `scheme://id/sub?key=value`. Throws INVALID_ARGUMENT, with the fault in `data.reason`. */
export function parseUri(written: string): ResourceUri {
  const [, name = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(written) ?? [];
  if (!Object.hasOwn(schemes, name)) throw bad('BadScheme', written, `use ${Object.keys(schemes).join(', ')}`);
  const scheme = name as Scheme;
  const [path, query = ''] = split(rest, '?');
  const [id, sub] = split(path, '/');
  if (id === '') throw bad('MissingId', written, `write ${resourceUri(scheme, '<id>')}`);
  if (!isId(id)) throw bad('BadIdCharset', written, 'an id has letters, digits, _ and -');
  if (sub !== schemes[scheme]) throw bad('BadSubPath', written, `write ${resourceUri(scheme, id)}`);
  if (query.length > longestQuery) throw bad('BadCursor', written, `a query has at most ${longestQuery} characters`);
  const keys = new URLSearchParams(query);
  const lane = keys.get('sub') ?? undefined;
  if (lane !== undefined && !isId(lane)) throw bad('BadIdCharset', written, 'sub is a SUB_ID of sub_open');
  return {
    scheme,
    id,
    plain: resourceUri(scheme, id),
    written,
    cursor: withCursor.includes(scheme) ? cursorOf(keys.get('cursor'), written) : undefined,
    raw: keys.get('raw') === 'true',
    sub: lane,
  };
}

const isId = (text: string): boolean => /^[A-Za-z0-9_-]{1,128}$/.test(text);

function cursorOf(value: string | null, written: string): ResourceUri['cursor'] {
  if (value === null || value === '0') return undefined;
  if (value === 'auto') return 'auto';
  const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw bad('BadCursor', written, 'a cursor is auto or a whole number');
}

function split(text: string, at: string): [string, string | undefined] {
  const place = text.indexOf(at);
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + 1)];
}

function bad(reason: UriFault, written: string, cure: string) {
  const shown = visible(written.length > 200 ? `${written.slice(0, 200)}…` : written);
  return remoteError('INVALID_ARGUMENT', `uri: ${JSON.stringify(shown)} is no resource (${reason})`, {
    context: cure,
    data: { reason },
  });
}
