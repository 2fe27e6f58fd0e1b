import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { FairleadError } from '../../../../contract/errors.ts';
import { type Deferred, deferred } from '../../../../lib/deferred.ts';
import { onAbort } from '../../../../system/on-abort.ts';
import { settledWithin } from '../../../../system/settled-within.ts';
import { decode, encode } from '../../../resumable/messages.ts';
import { type Frame, FrameReader, type FrameType, frame, frameHead, frameTypes, frameVersion } from '../frames.ts';
import type { Hello, KeeperRefused, Welcome } from '../messages.ts';
import { timeLimit } from '../../../../system/time-limit.ts';

/** What an earlier instance stored about a terminal; it comes with the welcome. */
export interface SavedTerminal {
  meta?: Uint8Array;
  snapshot?: { readonly at: number; readonly bytes: Uint8Array };
}

interface LinkEvents {
  readonly frame: (frame: Frame) => void;
  /** Called once, unless this side closed the connection. */
  readonly closed: () => void;
}

/** Bodies up to this size are copied behind their heads; larger ones are sent from where they are. */
const copied = 8 << 10;
const welcomeMs = 5000;
const pongMs = 1000;
/** How long another client may take to leave the keeper, and the pause between two attempts. */
const patienceMs = 2000;
const againMs = 50;

/** A connection to a keeper that has welcomed us. */
export class KeeperLink {
  readonly welcome: Welcome;
  readonly remembered: ReadonlyMap<string, SavedTerminal>;
  readonly #socket: Socket;
  readonly #pongs: Deferred<void>[] = [];

  constructor(socket: Socket, welcome: Welcome, remembered: ReadonlyMap<string, SavedTerminal>) {
    this.#socket = socket;
    this.welcome = welcome;
    this.remembered = remembered;
  }

  /** Undefined if no keeper listens there. Throws `conflict` if another living instance has the keeper. */
  static async open(
    path: string,
    asked: Pick<Hello, 'wanted' | 'direct'>,
    events: LinkEvents,
    signal: AbortSignal,
  ): Promise<KeeperLink | undefined> {
    const socket = await reach(path, signal);
    if (!socket) return undefined;
    const hello: Hello = { version: frameVersion, pid: process.pid, ...asked };
    socket.write(frame('hello', '', encode(hello)));
    using limit = timeLimit(signal, welcomeMs);
    return await greeted(socket, events, limit.signal);
  }

  post(type: FrameType, id: string, body?: Uint8Array, offset?: number): void {
    if (this.#socket.destroyed) return;
    if (!body || body.length <= copied) {
      this.#socket.write(frame(type, id, body, offset));
      return;
    }
    this.#socket.cork();
    this.#socket.write(frameHead(type, id, body.length, offset));
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /**
   * Settles when the keeper has everything posted before, or never will. Never rejects. Written is not enough: closing a socket
   * that has unread data discards what the other side has not read yet.
   */
  async posted(): Promise<void> {
    if (this.#socket.destroyed) return;
    const pong = deferred();
    this.#pongs.push(pong);
    this.post('ping', '');
    await settledWithin(pong.promise, pongMs);
  }

  /** The answer to a ping came. */
  ponged(): void {
    this.#pongs.shift()?.resolve();
  }

  async close(): Promise<void> {
    await this.posted();
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }
}

/** Tries again while another client has the keeper: that client may be about to leave. */
export async function patiently(open: () => Promise<KeeperLink | undefined>): Promise<KeeperLink | undefined> {
  for (const limit = performance.now() + patienceMs; ; ) {
    try {
      return await open();
    } catch (thrown) {
      const isBusy = thrown instanceof FairleadError && thrown.code === 'conflict';
      if (!isBusy || performance.now() > limit) throw thrown;
      await setTimeout(againMs);
    }
  }
}

async function reach(path: string, signal: AbortSignal): Promise<Socket | undefined> {
  const socket = connect({ path });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (thrown) {
    socket.destroy();
    if (signal.aborted) throw cancelled(signal);
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined;
    throw new FairleadError('unavailable', `The keeper at ${path} cannot be reached: ${message}.`);
  }
}

/** Undefined if the far side closes the connection, or is no keeper. */
async function greeted(socket: Socket, events: LinkEvents, signal: AbortSignal): Promise<KeeperLink | undefined> {
  const reader = new FrameReader();
  const remembered = new Map<string, SavedTerminal>();
  const answer = deferred<KeeperLink | undefined>();
  let isWelcome = false;
  const greet = ({ type, id, body, offset }: Frame): void => {
    const before = remembered.get(id) ?? {};
    if (type === frameTypes.meta) remembered.set(id, { ...before, meta: new Uint8Array(body) });
    if (type === frameTypes.snapshot)
      remembered.set(id, { ...before, snapshot: { at: offset, bytes: new Uint8Array(body) } });
    if (type === frameTypes.refused) answer.reject(busy(decode<KeeperRefused>(body) ?? {}));
    if (type !== frameTypes.welcome) return;
    isWelcome = true;
    answer.resolve(new KeeperLink(socket, decode<Welcome>(body) as Welcome, remembered));
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const one of reader.push(chunk)) {
        if (isWelcome) events.frame(one);
        else greet(one);
      }
    } catch {
      // A far side that is no keeper, or a fault of ours, which the next connection makes good.
      socket.destroy();
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => (isWelcome ? events.closed() : answer.resolve(undefined)));
  using _ = onAbort(signal, () => answer.reject(cancelled(signal)));
  try {
    return await answer.promise;
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}

function busy({ reason, pid, silent }: Partial<KeeperRefused>): FairleadError {
  if (reason === 'version') {
    return new FairleadError('unsupported', 'This version of Fairlead is too old for the running keeper.');
  }
  if (silent) {
    return new FairleadError('conflict', `Process ${pid} has the terminals of this instance and does not answer.`, {
      hint: `Resume it (kill -CONT ${pid}) and stop it, or kill it (kill -9 ${pid}): its terminals stay.`,
      data: { pid },
    });
  }
  return new FairleadError('conflict', `Process ${pid} runs this instance already.`, {
    hint: 'End it first.',
    data: { pid },
  });
}

function cancelled(signal: AbortSignal): FairleadError {
  const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return late
    ? new FairleadError('timeout', 'The keeper of the terminals does not answer.')
    : new FairleadError('cancelled', 'The terminal was no longer wanted.', { cause: signal.reason });
}
