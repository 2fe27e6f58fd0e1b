import { FairleadError } from '../../../contract/errors.ts';
import type { OpenedChannel } from '../../../engine/terminal/transport.ts';
import type { SshSession } from '../sessions/session.ts';

/** Opens a terminal's channel on a session, which counts as busy while the channel lives and ends it when it ends itself. */
export async function onSession(
  session: Pick<SshSession, 'adopt'>,
  signal: AbortSignal,
  open: (signal: AbortSignal) => Promise<OpenedChannel>,
): Promise<OpenedChannel> {
  const leaving = new AbortController();
  let opened: OpenedChannel | undefined;
  const business = session.adopt({
    kind: 'shell',
    sessionEnded: async () => {
      leaving.abort(new FairleadError('unavailable', 'The session has ended.'));
      await opened?.channel[Symbol.asyncDispose]();
    },
  });
  try {
    opened = await open(AbortSignal.any([signal, leaving.signal]));
  } catch (error) {
    business[Symbol.dispose]();
    throw error;
  }
  opened.channel.ended.then(
    () => business[Symbol.dispose](),
    () => {},
  );
  return opened;
}
