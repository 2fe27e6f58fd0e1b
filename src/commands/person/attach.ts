import { places } from '../../config.ts';
import { FairleadError } from '../../contract/errors.ts';
import { UsageError } from '../../faces/cli/args.ts';
import { cleanAnswer } from '../../faces/cli/clean.ts';
import { styleFor } from '../../faces/cli/style.ts';
import type { SocketClient } from '../../faces/socket/client.ts';
import { liveSockets, socketsOf } from '../../faces/socket/directory.ts';
import { see } from '../../operations/person/index.ts';
import type { Invocation } from '../command.ts';
import { noneRunning } from '../find-instance.ts';
import { clientsInOrder } from './clients-in-order.ts';
import { answerMs, type AttachedSession, attachLoop } from './attach-loop.ts';

/** Attaches this terminal to a session of a running instance. Ctrl+] detaches; the session keeps running. */
export async function attach(invocation: Invocation): Promise<number> {
  const { settings, env, words, flags, stdin, stdout, stderr } = invocation;
  const named = flags.get('session')?.toString();
  const [session = '0', ...more] = named === undefined ? words : [named, ...words];
  if (more.length > 0) throw new UsageError('Name one session.');
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new UsageError(
      'fairlead attach needs a terminal. In scripts use: fairlead session text, fairlead exec wait.',
    );
  }
  const { home } = places(settings, env);
  const instance = flags.get('instance')?.toString() ?? env['FAIRLEAD_INSTANCE'];
  const sockets = await liveSockets(socketsOf(home));
  try {
    const found = await findSession(clientsInOrder(sockets, home, instance), session);
    if (!found) throw notThere(session, sockets.length);
    const { client, opened } = found;
    if (opened.terminal === env['FAIRLEAD_SESSION']) {
      throw new FairleadError('conflict', `This is session ${opened.session}: a session cannot attach to itself.`);
    }
    const { bold, dim } = styleFor(stderr, env);
    stderr.write(`${bold(`Session ${opened.session}`)} ${dim(`${cleanAnswer(opened.name)}, Ctrl+] detaches`)}\n`);
    const ended = await attachLoop(client, opened, { stdin, stdout });
    stderr.write(ended === undefined ? 'Detached; the session keeps running.\n' : `The session ${ended}.\n`);
    return 0;
  } finally {
    await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()));
  }
}

async function findSession(
  clients: readonly SocketClient[],
  session: string,
): Promise<{ readonly client: SocketClient; readonly opened: AttachedSession } | undefined> {
  for (const client of clients) {
    try {
      return { client, opened: await client.call(see, { session }, AbortSignal.timeout(answerMs)) };
    } catch (error) {
      // Another process may have it; one of another version has no such method.
      const code = error instanceof FairleadError ? error.code : undefined;
      if (code !== 'terminal_not_found' && code !== 'unknown_operation') throw error;
    }
  }
  return undefined;
}

function notThere(session: string, running: number): FairleadError {
  if (running === 0) return noneRunning();
  return new FairleadError('terminal_not_found', `There is no session ${session}.`, {
    hint: 'See: fairlead session list',
  });
}
