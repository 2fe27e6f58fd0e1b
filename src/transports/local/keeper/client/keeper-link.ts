import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { FairleadError } from '../../../../contract/errors.ts';
import { type Deferred, deferred } from '../../../../lib/deferred.ts';
import { settledWithin } from '../../../../system/settled-within.ts';
import { type Frame, FrameReader, type FrameType, frame, frameHead, frameTypes, frameVersion } from '../frames.ts';
import { decode, encode } from '../../../resumable/messages.ts';
import type { Hello, KeeperRefused, Welcome } from '../messages.ts';

/** Kept of a terminal before anybody has it: what came with the welcome. */
export interface SavedTerminal {
  meta?: Uint8Array;
  snapshot?: { readonly at: number; readonly bytes: Uint8Array };
}

export interface LinkEvents {
  readonly frame: (frame: Frame) => void;
  /** Once; not when it was closed from here. */
  readonly closed: () => void;
}

/** Bodies up to this size are copied behind their heads; larger ones are sent from where they are. */
const copied = 8 << 10;
const welcomeMs = 5000;
const pongMs = 1000;
/** How long a client that has the keeper may take to leave it, and how often it is looked after. */
const patienceMs = 2000;
const againMs = 50;

/** A connection to a keeper that has welcomed us. */
export class KeeperLink {
  readonly welcome: Welcome;
  readonly remembered: ReadonlyMap<string, SavedTerminal>;
  readonly #socket: Socket;
  readonly #pongs: Deferred<void>[] = [];

  private constructor(socket: Socket, welcome: Welcome, remembered: ReadonlyMap<string, SavedTerminal>) {
    this.#socket = socket;
    this.welcome = welcome;
    this.remembered = remembered;
  }

  /** Nothing when nobody listens there. Throws `conflict` when another living instance has the keeper. */
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
    return await greeted(socket, events, AbortSignal.any([signal, AbortSignal.timeout(welcomeMs)]));
  }

  static make(socket: Socket, welcome: Welcome, remembered: ReadonlyMap<string, SavedTerminal>): KeeperLink {
    return new KeeperLink(socket, welcome, remembered);
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
   * Settles when the keeper has everything posted before, or is not going to. Never rejects. That it was written is not
   * enough: closing a socket in which something is unread takes from the other side what it has not read yet.
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

/** Tries again while another client has the keeper: it may be on its way out. */
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

function reach(path: string, signal: AbortSignal): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(cancelled(signal));
    const socket = connect({ path });
    const abort = (): void => {
      socket.destroy();
      reject(cancelled(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', abort);
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined);
      else reject(new FairleadError('unavailable', `The keeper at ${path} cannot be reached: ${error.message}.`));
    });
  });
}

function greeted(socket: Socket, events: LinkEvents, signal: AbortSignal): Promise<KeeperLink | undefined> {
  return new Promise((resolve, reject) => {
    const reader = new FrameReader();
    const remembered = new Map<string, SavedTerminal>();
    let isWelcome = false;
    const refuse = (error: FairleadError): void => {
      socket.destroy();
      reject(error);
    };
    const abort = (): void => refuse(cancelled(signal));
    signal.addEventListener('abort', abort, { once: true });
    const greet = ({ type, id, body, offset }: Frame): void => {
      const before = remembered.get(id) ?? {};
      if (type === frameTypes.meta) remembered.set(id, { ...before, meta: new Uint8Array(body) });
      if (type === frameTypes.snapshot)
        remembered.set(id, { ...before, snapshot: { at: offset, bytes: new Uint8Array(body) } });
      if (type === frameTypes.refused) refuse(busy(decode<KeeperRefused>(body) ?? {}));
      if (type !== frameTypes.welcome) return;
      isWelcome = true;
      signal.removeEventListener('abort', abort);
      resolve(KeeperLink.make(socket, decode<Welcome>(body) as Welcome, remembered));
    };
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const one of reader.push(chunk)) {
          if (isWelcome) events.frame(one);
          else greet(one);
        }
      } catch {
        // It is no keeper, or we made a mistake: a new connection sets right what is behind by then, and ending would not.
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      signal.removeEventListener('abort', abort);
      if (isWelcome) events.closed();
      // It was just ending, or takes nobody: as if nobody had been there.
      else resolve(undefined);
    });
  });
}

function busy({ reason, pid, silent }: Partial<KeeperRefused>): FairleadError {
  if (reason === 'version') {
    return new FairleadError('unsupported', 'The keeper of these terminals does not speak with a program this old.');
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
