import { createHash } from 'node:crypto';
import { visible } from '../../contract/quote.ts';
import type { Caller } from '../call/call.ts';

const longestName = 32;

/** The agent's own name, as a person may see it. */
export function agentName(name: string): string {
  const shown = visible(name);
  return shown.length > longestName ? `${shown.slice(0, longestName - 1)}…` : shown;
}

/**
 * What stays the same while a client is the same one: the conversation or session it names, else its name. A client that is alone with
 * its server (`run` tells that server from others) needs neither.
 */
export function conversationId({ principal, origin, client, name }: Caller, run: string): string {
  const key = client?.key ?? (origin === 'mcp' ? `stdio ${run}` : `${origin} ${name}`);
  const text = JSON.stringify([principal, key]);
  const known = digests.get(text);
  if (known !== undefined) return known;
  const id = `c-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
  if (digests.size >= mostDigests) digests.clear();
  digests.set(text, id);
  return id;
}

/** Every call asks for one, and clients are few. */
const digests = new Map<string, string>();
const mostDigests = 1000;

const counterDigits = 4;
const counters = 36 ** counterDigits;

/** Ids of calls sort as the calls began. */
export const callId = (at: number, count: number): string =>
  `${Math.max(0, Math.round(at)).toString(36).padStart(9, '0')}${(count % counters).toString(36).padStart(counterDigits, '0')}`;

/** When the call with this id began, in ms since the epoch. */
export const beginOf = (id: string): number => Number.parseInt(id.slice(0, 9), 36);
