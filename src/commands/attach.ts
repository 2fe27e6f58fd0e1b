import { places } from '../config.ts';
import { FairleadError } from '../contract/errors.ts';
import { UsageError } from '../faces/cli/args.ts';
import { styleFor } from '../faces/cli/style.ts';
import type { SocketClient } from '../faces/socket/client.ts';
import { liveSockets, socketsOf } from '../faces/socket/directory.ts';
import type { Invocation } from './command.ts';

/** Ctrl+]: no program of note uses it, and telnet taught it to everybody. */
const detachByte = 0x1d;
const answerMs = 10_000;
const pollMs = 30_000;

interface Opened {
  readonly session: number;
  readonly name: string;
  readonly screen: string;
  readonly from: number;
  readonly cols: number;
  readonly rows: number;
}

interface News {
  readonly bytes: string;
  readonly next: number;
  readonly focused?: boolean;
  readonly ended?: string;
}

/** Sits down in a session of a running instance; Ctrl+] gets up again, and the session goes on. */
export async function attach(invocation: Invocation): Promise<number> {
  const { settings, env, words, stdin, stdout, stderr } = invocation;
  const [session, ...more] = words;
  if (more.length > 0) throw new UsageError('Name one session.');
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new UsageError(
      'fairlead attach needs a terminal. In scripts use: fairlead session text, fairlead exec wait.',
    );
  }
  const sockets = await liveSockets(socketsOf(places(settings, env).home));
  try {
    const found = await findSession(
      sockets.map(({ client }) => client),
      session,
    );
    if (!found) throw notThere(session, sockets.length);
    const { bold, dim } = styleFor(stderr, env);
    stderr.write(`${bold(`Session ${found.opened.session}`)} ${dim(`${found.opened.name}, Ctrl+] leaves it`)}\n`);
    const ended = await sit(found.client, found.opened, stdin, stdout);
    stdout.write('\x1b[0m\x1b[?25h\x1b[?1049l\r\n');
    stderr.write(ended === undefined ? 'Left; the session goes on.\n' : `The session ${ended}.\n`);
    return 0;
  } finally {
    await Promise.all(sockets.map((socket) => socket[Symbol.asyncDispose]()));
  }
}

async function findSession(
  clients: readonly SocketClient[],
  session: string | undefined,
): Promise<{ readonly client: SocketClient; readonly opened: Opened } | undefined> {
  for (const client of clients) {
    try {
      const opened = await client.request('attach.open', { session: session ?? '0' }, AbortSignal.timeout(answerMs));
      return { client, opened: opened as Opened };
    } catch (error) {
      // Another process may have it; one that is no instance has no such method.
      const code = error instanceof FairleadError ? error.code : undefined;
      if (code !== 'terminal_not_found' && code !== 'unknown_operation') throw error;
    }
  }
  return undefined;
}

function notThere(session: string | undefined, running: number): FairleadError {
  if (running === 0)
    return new FairleadError('unavailable', 'No Fairlead of yours is running.', {
      hint: 'Start one with: fairlead serve',
    });
  return new FairleadError('terminal_not_found', `There is no session ${session ?? '0'}.`, {
    hint: 'See: fairlead session list',
  });
}

/** Resolves with how the session ended, or undefined when the person left. */
async function sit(
  client: SocketClient,
  { session, screen, from, cols, rows }: Opened,
  stdin: NodeJS.ReadStream,
  stdout: NodeJS.WriteStream,
): Promise<string | undefined> {
  const leaving = new AbortController();
  const tell = (method: string, params: object): void => {
    client.request(method, { session, ...params }, AbortSignal.timeout(answerMs)).catch(() => leaving.abort());
  };
  const fit = (): void => {
    if (stdout.columns >= 2 && stdout.rows >= 1) tell('attach.resize', { cols: stdout.columns, rows: stdout.rows });
  };
  const typed = (bytes: Buffer): void => {
    const at = bytes.indexOf(detachByte);
    const kept = at === -1 ? bytes : bytes.subarray(0, at);
    if (kept.length > 0) tell('attach.write', { bytes: kept.toString('base64') });
    if (at !== -1) leaving.abort();
  };
  stdin.setRawMode(true);
  stdin.on('data', typed);
  stdout.on('resize', fit);
  stdout.write(`\x1b[2J\x1b[H${Buffer.from(screen, 'base64').toString('latin1')}`, 'latin1');
  fit();
  try {
    for (let at = from; ; ) {
      const params = { session, from: at, waitMs: pollMs };
      const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(pollMs + answerMs)]);
      const news = (await client.request('attach.read', params, signal)) as News;
      at = news.next;
      if (news.bytes !== '') stdout.write(Buffer.from(news.bytes, 'base64'));
      if (news.focused === true) stdout.write('\x07');
      if (news.ended !== undefined) return news.ended;
    }
  } catch (error) {
    if (leaving.signal.aborted) return undefined;
    throw error;
  } finally {
    stdin.off('data', typed);
    stdout.off('resize', fit);
    stdin.setRawMode(false);
    stdin.pause();
    if (stdout.columns !== cols || stdout.rows !== rows) tell('attach.resize', { cols, rows });
  }
}
