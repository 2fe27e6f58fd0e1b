import type { ServerContext } from '@modelcontextprotocol/server';
import type { CallKey } from '../../engine/call/idempotency.ts';

/** Where clients put the id their model gave a tool call: it stays the same when they send the call again. */
const toolUseIds = ['claudecode/toolUseId'];

/** Longer ids are ignored: they were not meant as keys, so they cause no error either. */
const maxImplied = 200;

/** The key that marks a request as a repetition. A retry that brings answers has none: it continues the call. */
export function callKey({ mcpReq }: ServerContext): CallKey | undefined {
  if (mcpReq.inputResponses !== undefined) return undefined;
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  const { idempotency_key: value } = meta;
  if (value !== undefined && value !== '') return { value };
  for (const name of toolUseIds) {
    const id = meta[name];
    if (typeof id === 'string' && id !== '' && Buffer.byteLength(id) <= maxImplied) return { value: id, implied: true };
  }
  return undefined;
}
