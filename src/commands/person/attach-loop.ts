import { FairleadError } from '../../contract/errors.ts';
import { rawTerminal } from '../../faces/cli/raw-terminal.ts';
import { Relay } from '../../faces/cli/relay.ts';
import type { SocketClient } from '../../faces/socket/client.ts';
import { followTerminal, resize, see, type } from '../../operations/person/index.ts';
import { TypingLane } from './typing-lane.ts';

/** Ctrl+]: no program of note uses it, and telnet made it known. */
const detachByte = 0x1d;
export const answerMs = 10_000;

/** The answer of the operation that shows a terminal. */
export type AttachedSession = Awaited<ReturnType<typeof see.run>>;

export interface Tty {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** Resolves with how the session ended, or undefined when the person detached. */
export async function attachLoop(
  client: Pick<SocketClient, 'call' | 'stream'>,
  { terminal: session, cols, rows }: AttachedSession,
  { stdin, stdout }: Tty,
): Promise<string | undefined> {
  // By its id: its number may come to mean another, as 0 is whichever session is the default one.
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  const limit = (): AbortSignal => AbortSignal.timeout(answerMs);
  const setSize = async (size: { readonly cols: number; readonly rows: number }): Promise<void> => {
    if (size.cols < 2 || size.rows < 1) return;
    await client.call(resize, { session, ...size }, limit()).catch(unlessUnsupported);
  };
  const fit = (): void => void setSize({ cols: stdout.columns, rows: stdout.rows }).catch(leave);
  const lane = new TypingLane((bytes) => client.call(type, { session }, limit(), bytes), leave);
  const typed = (bytes: Buffer): void => {
    const at = bytes.indexOf(detachByte);
    lane.add(at === -1 ? bytes : bytes.subarray(0, at));
    if (at !== -1) leave();
  };
  const relay = new Relay();
  const put = (base64: string): boolean => stdout.write(relay.pass(Buffer.from(base64, 'base64')));
  // In the size of this terminal, or its rows would not lie where the cursor is put.
  if (stdout.columns !== cols || stdout.rows !== rows) await setSize({ cols: stdout.columns, rows: stdout.rows });
  const { screen, from } = await client.call(see, { session }, limit());
  using _raw = inRawMode({ stdin, stdout }, relay, leave);
  stdin.on('data', typed);
  stdout.on('resize', fit);
  stdout.write(`${relay.start}\x1b[2J\x1b[H`);
  put(screen);
  try {
    for await (const { bytes, focused, ended } of client.stream(followTerminal, { session, from }, leaving.signal)) {
      if (bytes !== '') put(bytes);
      if (focused) stdout.write('\x07');
      if (ended !== undefined) return ended;
    }
    return leaving.signal.aborted ? undefined : 'is gone';
  } catch (error) {
    if (leaving.signal.aborted) return undefined;
    // It ended and was let go of before it could be followed.
    if (error instanceof FairleadError && error.code === 'terminal_not_found') return 'is gone';
    throw error;
  } finally {
    stdin.off('data', typed);
    stdout.off('resize', fit);
    await lane.sent;
    if (stdout.columns !== cols || stdout.rows !== rows) await setSize({ cols, rows }).catch(() => {});
  }
}

/** What cannot be resized is shown as it is. */
function unlessUnsupported(error: unknown): void {
  if (!(error instanceof FairleadError) || error.code !== 'unsupported') throw error;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The terminal in raw mode. However this ends, also by a signal or an uncaught error, it is put back as it was. */
function inRawMode({ stdin, stdout }: Tty, relay: Relay, leave: () => void): Disposable {
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
