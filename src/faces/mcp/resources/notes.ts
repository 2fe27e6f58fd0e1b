import type { ConnectedClient, ResourceNote } from '../../../engine/call/connected-client.ts';

type Updated = Extract<ResourceNote, { kind: 'updated' }>;

/**
 * Hands a client its notes, one at a time: the next is pulled when `send` has room for it, so a slow client costs no memory. `send`
 * resolves with false when its note did not reach the client: the note stays with the client, and so do those behind it.
 */
export async function tellNotes(
  client: ConnectedClient,
  signal: AbortSignal,
  send: (note: ResourceNote) => Promise<boolean>,
): Promise<void> {
  for await (const note of client.notes(signal)) if (!(await send(note))) return;
}

/** What a notification says besides the URI. */
export const noteMeta = ({ subIds, lastSeq, cursor }: Updated): Record<string, unknown> => ({
  sub_ids: [...subIds],
  last_seq: lastSeq,
  cursor,
});

/** A note as a notification of the protocol. */
export const notificationOf = (note: ResourceNote) =>
  note.kind === 'listed'
    ? ({ method: 'notifications/resources/list_changed', params: {} } as const)
    : ({ method: 'notifications/resources/updated', params: { uri: note.uri, _meta: noteMeta(note) } } as const);
