import type { Caller } from '../engine/call/call.ts';
import { type Book, entriesOf } from '../engine/call/operation.ts';

/**
 * What a page can offer its person, and the operation behind it. A page asks by the name on the left (`GET /api/me`, `can`) and shows
 * nothing that is not there; where a host has no such operation, or its callers may not use it, the name is absent. Add the row with the
 * operation.
 */
export const capabilities: Readonly<Record<string, string>> = {
  'terminals.open': 'terminal.open',
  'terminals.close': 'terminal.close',
  'terminals.type': 'person.type',
  'terminals.take': 'person.take',
  'terminals.resize': 'person.resize',
  'terminals.rename': 'person.rename',
  'terminals.record': 'terminal.record',
  'agents.pause': 'agents.pause',
  'agents.resume': 'agents.resume',
  'agents.revoke': 'agents.revoke',
  'agents.approve': 'agents.approve',
  'commands.stop': 'running.stop',
  'terminals.end': 'terminals.end',
  'asks.answer': 'person.answer',
  'asks.decline': 'person.decline',
  'machines.list': 'targets.list',
  'recordings.list': 'replay.list',
  'recordings.search': 'replay.search',
  'recordings.export': 'replay.export',
  'recordings.remove': 'replay.remove',
  'recordings.always': 'logs.set',
  'audit.read': 'trail.list',
  'audit.export': 'trail.export',
  'workspaces.list': 'workspace.list',
  'workspaces.save': 'workspace.save',
  'workspaces.restore': 'workspace.restore',
  'workspaces.remove': 'workspace.delete',
  'settings.read': 'settings.state',
  'settings.change': 'scrollback.set',
  'policy.change': 'policy.set',
  'proxy.change': 'proxy.configure',
  'health.read': 'health.check',
  'health.selftest': 'selftest.run',
  'clients.connect': 'client.list',
  'logins.list': 'login.list',
  'logins.end': 'login.end',
};

/** Names of what callers of these books may do, in the order of the table. */
export function capabilitiesOf(books: readonly Book[], may: Caller['may']): string[] {
  const accesses = new Map(
    books.flatMap(({ nouns, streams = {} }) =>
      [...entriesOf(nouns), ...entriesOf(streams)].map(([id, { access }]) => [id, access] as const),
    ),
  );
  return Object.entries(capabilities).flatMap(([name, id]) => {
    const access = accesses.get(id);
    return access !== undefined && may(access) ? [name] : [];
  });
}
