import { FairleadError } from '../../contract/errors.ts';
import { rawTerminal } from '../../faces/cli/raw-terminal.ts';
import { Relay } from '../../faces/cli/relay.ts';
import type { SocketClient } from '../../faces/socket/client.ts';

/** Ctrl+]: no program of note uses it, and telnet taught it to everybody. */
const detachByte = 0x1d;
const pollMs = 30_000;
export const answerMs = 10_000;

export interface AttachedSession {
  readonly session: number;
  /** The id that programs in it have in FAIRLEAD_SESSION. */
  readonly terminal?: string;
  readonly name: string;
  readonly screen: string;
  readonly from: number;
  readonly cols: number;
  readonly rows: number;
}

interface OutputPage {
  readonly bytes: string;
  readonly next: number;
  readonly focused?: boolean;
  readonly ended?: string;
}

export interface Tty {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** Resolves with how the session ended, or undefined when the person left. */
export async function attachLoop(
  client: SocketClient,
  before: AttachedSession,
  { stdin, stdout }: Tty,
): Promise<string | undefined> {
  const { terminal, cols, rows } = before;
  // Its number may come to mean another: 0 is whichever session is the default one.
  const session = terminal ?? before.session;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  const ask = (method: string, params: object): Promise<unknown> =>
    client.request(method, { session, ...params }, AbortSignal.timeout(answerMs));
  const resize = async (size: { readonly cols: number; readonly rows: number }): Promise<void> => {
    if (size.cols >= 2 && size.rows >= 1) await ask('attach.resize', size).catch(unlessUnsupported);
  };
  const fit = (): void => void resize({ cols: stdout.columns, rows: stdout.rows }).catch(leave);
  const typed = (bytes: Buffer): void => {
    const at = bytes.indexOf(detachByte);
    const kept = at === -1 ? bytes : bytes.subarray(0, at);
    if (kept.length > 0) ask('attach.write', { bytes: kept.toString('base64') }).catch(leave);
    if (at !== -1) leave();
  };
  const relay = new Relay();
  const put = (bytes: Uint8Array): boolean => stdout.write(relay.pass(bytes));
  // In the size of this terminal, or its rows would not lie where the cursor is put.
  if (stdout.columns !== cols || stdout.rows !== rows) await resize({ cols: stdout.columns, rows: stdout.rows });
  const { screen, from } = (await ask('attach.open', {})) as AttachedSession;
  using _seat = seated({ stdin, stdout }, relay, leave);
  stdin.on('data', typed);
  stdout.on('resize', fit);
  stdout.write(`${relay.start}\x1b[2J\x1b[H`);
  put(Buffer.from(screen, 'base64'));
  try {
    for (let at = from; ; ) {
      const params = { session, from: at, waitMs: pollMs };
      const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(pollMs + answerMs)]);
      const news = (await client.request('attach.read', params, signal)) as OutputPage;
      at = news.next;
      if (news.bytes !== '') put(Buffer.from(news.bytes, 'base64'));
      if (news.focused === true) stdout.write('\x07');
      if (news.ended !== undefined) return news.ended;
    }
  } catch (error) {
    if (leaving.signal.aborted) return undefined;
    // It ended and was let go of between two looks at it.
    if (error instanceof FairleadError && error.code === 'terminal_not_found') return 'is gone';
    throw error;
  } finally {
    stdin.off('data', typed);
    stdout.off('resize', fit);
    if (stdout.columns !== cols || stdout.rows !== rows) await resize({ cols, rows }).catch(() => {});
  }
}

/** What cannot be resized is shown as it is. */
function unlessUnsupported(error: unknown): void {
  if (!(error instanceof FairleadError) || error.code !== 'unsupported') throw error;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The terminal in raw mode. It is restored however this ends, also after a signal or an uncaught error. */
function seated({ stdin, stdout }: Tty, relay: Relay, leave: () => void): Disposable {
  const raw = rawTerminal(stdin);
  const restore = (): void => {
    stdout.write(`${relay.undo()}\r\n\x1b[J`);
    raw[Symbol.dispose]();
  };
  for (const signal of signals) process.on(signal, leave);
  process.once('exit', restore);
  return {
    [Symbol.dispose]() {
      process.off('exit', restore);
      for (const signal of signals) process.off(signal, leave);
      restore();
    },
  };
}
