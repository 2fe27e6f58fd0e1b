import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { addFlags, type TextFlags } from '../../lib/plain-text.ts';

/** The text form of an answer: `KEY: value` lines, fenced blocks, then HINT, WARN and NEXT (docs/requirements/remote.md). */

export type Value = string | number | boolean | undefined;

export interface OutputBlock {
  readonly name: 'stdout' | 'stderr' | 'data';
  readonly text: string;
  /** The state that stands first in its annotation, such as `partial`. */
  readonly state?: string | undefined;
  /** Bytes shown and bytes in all, when the head was left out. */
  readonly truncated?: { readonly shown: number; readonly total: number } | undefined;
}

/** The fields that every output shares and every reply prints alike. */
export interface ReplyFacts {
  /** The tool's name, lower case. */
  readonly tool: string;
  /** Lower case; upper case in the first line of the text. */
  readonly status: string;
  readonly warnings?: readonly string[] | undefined;
  /** Characters taken out of the far side's text; reported as a warning. */
  readonly flags?: z.output<typeof RemoteFlags>;
  readonly hint?: string | undefined;
  /** Calls that may follow; none for a final status. */
  readonly next?: string | undefined;
}

export interface ReplyText {
  /** Values that are undefined leave no line. */
  readonly fields?: Readonly<Record<string, Value>>;
  /** Lines of a list, without the dash. */
  readonly rows?: readonly string[];
  readonly blocks?: readonly OutputBlock[];
  /** Where there are several. */
  readonly hints?: readonly string[];
}

/** Rendering the same output again, as a replay does, gives the same fences. */
export function replyText(output: ReplyFacts, reply: ReplyText): string {
  const { tool, status, warnings = [], flags = {}, hint, next } = output;
  const { fields = {}, rows = [], blocks = [], hints = hint === undefined ? [] : [hint] } = reply;
  const lines = [`${tool.toUpperCase()}: ${status.toUpperCase()}`];
  for (const [key, value] of Object.entries(fields))
    if (value !== undefined) lines.push(`${key}: ${oneLine(String(value))}`);
  for (const row of rows) lines.push(`- ${oneLine(row)}`);
  for (const block of blocks) lines.push(...blockLines(block, nonceOf(output)));
  for (const line of hints) lines.push(`HINT: ${oneLine(line)}`);
  for (const warning of [...warnings, ...flagWords(flags)]) lines.push(`WARN: ${oneLine(warning)}`);
  if (next !== undefined) lines.push(`NEXT: ${oneLine(next)}`);
  return lines.join('\n');
}

/** How many characters of each suspicious kind were taken out of what the far side printed. */
export const RemoteFlags = z.record(z.string(), z.number().int()).optional();

/** Absent if none were. */
export function flagged(...all: readonly TextFlags[]): { flags?: Record<string, number> } {
  const flags = addFlags(...all);
  return Object.keys(flags).length === 0 ? {} : { flags: { ...flags } };
}

function flagWords(flags: Readonly<Record<string, number>>): string[] {
  const kinds = Object.entries(flags).map(([kind, count]) => `${count} ${kind}`);
  return kinds.length === 0 ? [] : [`suspicious characters taken out: ${kinds.join(', ')}`];
}

/** How many entries a list shows, and of how many if it leaves some out. */
export const countText = (count: number, total: number): string =>
  count < total ? `${count} (showing ${count} of ${total})` : String(count);

/** Blocks alone, which share a fence. */
export const blocksText = (blocks: readonly OutputBlock[]): string =>
  blocks.flatMap((block) => blockLines(block, nonceOf(blocks))).join('\n');

function blockLines({ name, text, state, truncated }: OutputBlock, nonce: string): string[] {
  const content = text.endsWith('\n') ? text.slice(0, -1) : text;
  const notes = [
    ...(state === undefined ? [] : [state]),
    ...(text === ''
      ? ['empty']
      : truncated === undefined
        ? []
        : [`truncated: showing ${byteSize(truncated.shown)} of ${byteSize(truncated.total)}`]),
  ];
  const fence = `--- ${name} [${nonce}]${notes.length === 0 ? '' : ` (${notes.join(', ')})`} ---`;
  return text === '' ? [fence] : [fence, content];
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes a value so that it cannot begin a line of its own, not even with a Unicode line break. */
export function oneLine(value: string): string {
  return value.replaceAll(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, (control) => escapes[control] ?? '');
}

const units = ['B', 'KB', 'MB', 'GB', 'TB'];

/** `16.0KB`: 1024-based, one decimal from KB on. */
export function byteSize(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)}${units[unit]}`;
}

const nonces = new WeakMap<object, string>();

/** Eight hex characters that no far side can predict. */
export function nonceOf(output: object): string {
  let nonce = nonces.get(output);
  if (nonce === undefined) nonces.set(output, (nonce = randomBytes(4).toString('hex')));
  return nonce;
}

export interface Tail {
  readonly text: string;
  readonly truncated: { readonly shown: number; readonly total: number } | undefined;
}

/** The newest `max` bytes as text, cut at a character's first byte. `total` also counts dropped bytes. */
export function tailText(bytes: Uint8Array, max: number, total: number = bytes.length): Tail {
  const from = Math.max(0, bytes.length - max);
  const kept = bytes.subarray(from > 0 || total > bytes.length ? characterFrom(bytes, from) : from);
  const text = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('utf8');
  return { text, truncated: kept.length < total ? { shown: kept.length, total } : undefined };
}

/** A character has at most three continuation bytes; where more follow it is no text, and nothing is left out. */
function characterFrom(bytes: Uint8Array, from: number): number {
  const first = bytes.subarray(from, from + 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return first === -1 ? (bytes.length - from < 4 ? bytes.length : from) : from + first;
}
