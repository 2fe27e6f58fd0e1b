import type { RequestId } from '@modelcontextprotocol/server';

/** The two ends of a message that was too long to keep. */
export interface Ends {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** How much of each end is kept: clients write the id first or last. */
export const endBytes = 1024;

/** Keys and values as they are written. */
type Members = ReadonlyMap<string, string>;

const forward = /\s*("(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+)/y;
/** The same, read from the end: a quote belongs to the text when an odd number of backslashes is before it. */
const backward = /\s*("(?:[^"]|"(?=\\(?:\\\\)*(?!\\)))*"(?!\\(?:\\\\)*(?!\\))|[{}[\]:,]|[^\s"{}[\]:,]+)/y;

/**
 * The id of a JSON-RPC request of which only the ends are known, so that its caller does not wait for ever. Null unless it
 * is certain: an `id` further in or inside a text is not that of the request, and a response has the id of another call.
 */
export function oversizedId({ head, tail }: Ends): RequestId | null {
  const start = head.toString('utf8');
  if (!start.trimStart().startsWith('{')) return null;
  const members = new Map([...fromEnd(tail.toString('utf8')), ...fromStart(start)]);
  return members.has('"method"') ? parsed(members.get('"id"')) : null;
}

function fromStart(text: string): Members {
  return membersOf(outermost(text, forward), '{}', (at) => [at - 1, at + 1]);
}

function fromEnd(text: string): Members {
  const tokens = outermost(reversed(text), backward).map(reversed);
  return membersOf(tokens, '}{', (at) => [at + 1, at - 1]);
}

/** The tokens of the outermost object, as far as they are whole; what is inside of them is left out. */
function outermost(text: string, token: RegExp): string[] {
  const found: string[] = [];
  let depth = 0;
  token.lastIndex = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [, word = ''] = match;
    const opens = depth === 0 || (token === forward ? '{[' : '}]').includes(word);
    const closes = !opens && (token === forward ? '}]' : '{[').includes(word);
    if (depth === 1 || (opens && depth === 0)) found.push(word);
    depth += opens ? 1 : closes ? -1 : 0;
    if (depth === 0) break;
  }
  return found;
}

/** `keyAndValue` says where they are around a colon. Both neighbours must be there: a number may be cut short. */
function membersOf(
  tokens: readonly string[],
  [first = '', last = '']: string,
  keyAndValue: (colon: number) => readonly [number, number],
): Members {
  const members = new Map<string, string>();
  if (tokens[0] !== first) return members;
  for (const [at, token] of tokens.entries()) {
    const [key, value] = keyAndValue(at).map((place) => tokens[place]);
    if (token !== ':' || key === undefined || value === undefined) continue;
    const isWhole = [first, ','].includes(tokens[at - 2] ?? '') && [last, ','].includes(tokens[at + 2] ?? '');
    if (isWhole) members.set(key, value);
  }
  return members;
}

function parsed(value = 'null'): RequestId | null {
  try {
    const id: unknown = JSON.parse(value);
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    return null;
  }
}

const reversed = (text: string): string => text.split('').reverse().join('');
