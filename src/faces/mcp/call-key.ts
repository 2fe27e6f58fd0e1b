import type { ServerContext } from '@modelcontextprotocol/server';
import type { CallKey } from '../../engine/call/idempotency.ts';

/** Where clients put the id their model gave a tool call: it stays the same when they send the call again. */
const toolUseIds = ['claudecode/toolUseId'];

/** Longer ones are left alone: nobody meant them as a key, so nobody is to be told off for them. */
const maxImplied = 200;

/** What makes a request the same as an earlier one. A retry that brings answers is not the same: it goes on. */
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
