import { FairleadError } from '../../contract/errors.ts';
import { operationId } from '../../engine/call/operation.ts';
import { namedSession } from '../../engine/sessions/lookup.ts';
import { UsageError } from '../../faces/cli/args.ts';
import { list as listSessions } from '../../operations/session/sessions.ts';
import { type Field, holdsSessions } from '../../faces/cli/fields.ts';
import type { RpcClient } from '../../faces/jsonrpc/client.ts';

type Listed = Awaited<ReturnType<typeof listSessions.run>>['sessions'][number];

const list = async (rpc: RpcClient): Promise<readonly Listed[]> =>
  ((await rpc.call(operationId(listSessions), {})) as { sessions: Listed[] }).sessions;

/** The session that a word names. Methods know numbers only (R-RPC-020); people may say its name. */
export async function sessionCalled(word: string, rpc: RpcClient): Promise<string | number> {
  if (/^\s*\d+\s*$/.test(word)) return word;
  const sessions = (await list(rpc)).map(({ id, terminal, name, is_dead }) => ({
    number: id,
    id: terminal,
    name,
    isLive: !is_dead,
  }));
  return namedSession(word, sessions).number;
}

/** An input in which every session that was named has its number. */
export async function numbered(
  input: Readonly<Record<string, unknown>>,
  fields: readonly Field[],
  rpc: RpcClient,
): Promise<Record<string, unknown>> {
  const result = { ...input };
  for (const { name } of fields.filter(holdsSessions)) {
    const words = result[name];
    if (typeof words === 'string') result[name] = await sessionCalled(words, rpc);
    if (Array.isArray(words)) result[name] = await Promise.all(words.map((word) => sessionCalled(String(word), rpc)));
  }
  return result;
}

/** The only session there is. The one the caller sits in may be looked at where there is no other, and never changed. */
export async function onlySession(rpc: RpcClient, own: string | undefined, looks: boolean): Promise<number> {
  const live = (await list(rpc)).filter(({ is_dead }) => !is_dead);
  const others = live.filter(({ id, terminal }) => terminal !== own && String(id) !== own);
  const [only, ...more] = looks && others.length === 0 ? live : others;
  if (only && more.length === 0) return only.id;
  if (!only)
    throw new FairleadError('not_found', 'There is no session.', { hint: 'Create one: fairlead session create' });
  const names = others.map(({ id, title, name }) => `${id} (${name ?? title})`).join(', ');
  throw new UsageError(`Several sessions are open. Say which with --session: ${names}.`);
}
