import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio';
import { CallsEnd } from '../door/calls-end.ts';
import type { HungUp } from './held-input.ts';
import { LineTransport } from './line-transport.ts';
import { ListeningTransport } from './resources/listening-transport.ts';
import { notificationOf } from './resources/notes.ts';
import { createServer } from './server.ts';
import { hasResources, type McpSurface } from './surface.ts';

export interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Whose things the client sees. */
  readonly principal: string;
  /** Absent: while answers are unread, the end of input may go unnoticed. */
  readonly hungUp?: HungUp | undefined;
  /** Ends the connection as the end of input does, but without waiting for calls to finish by themselves. */
  readonly signal: AbortSignal;
  readonly onError?: (error: Error) => void;
  /** Input has ended. */
  readonly onInputEnd?: () => void;
  /** No call is under way any more; only answers are still being written. */
  readonly onAnswered?: () => void;
  /** After the end of input the client still takes bytes of its last answers: the end may take longer. */
  readonly onFlow?: () => void;
  /** How long what remains may take after the end of input. Together under 2 s, unless answers flow. */
  readonly patience?: Partial<Patience>;
}

interface Patience {
  /** For calls in flight to finish by themselves. */
  readonly finishMs: number;
  /** For calls to answer once they are told to stop waiting. */
  readonly stopMs: number;
  /** For everything from the end of input on, when the client takes nothing. */
  readonly totalMs: number;
  /** How long the client may take nothing once it has taken something. */
  readonly stallMs: number;
  /** For all answers, however steadily they flow. */
  readonly longestMs: number;
}

const defaults: Patience = { finishMs: 400, stopMs: 200, totalMs: 1600, stallMs: 2000, longestMs: 55_000 };
/** The same, when so much is unread that waiting for all of it is pointless. */
const unreadMs = 800;

/**
 * MCP on a pair of streams, both protocol eras: the first message decides. Resolves when the input has ended and
 * every answer is written, or when the client has stopped reading.
 */
export async function serveStdio(surface: McpSurface, options: StdioOptions): Promise<void> {
  const { signal, principal } = options;
  const patience = { ...defaults, ...options.patience };
  const { finishMs, stopMs } = patience;
  const ending = new CallsEnd();
  const transport = new LineTransport(options.stdin, options.stdout, options.hungUp);
  const followed = follow(surface, transport, options);
  const { connected, listening } = followed ?? {};
  const factory: McpServerFactory = ({ era }) => {
    const server = createServer(surface, { era, principal, ending, connected });
    // Since 2026 a client hears only of what it names in a listen request.
    if (connected) connected.hearsOfLanes = era === 'legacy';
    if (era === 'legacy' && listening) {
      server.oninitialized = () => listening.tell((note) => server.notification(notificationOf(note)));
    }
    return server;
  };
  const connection = serveConnection(factory, {
    transport: listening ?? transport,
    ...(options.onError !== undefined && { onerror: options.onError }),
  });
  const done = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: done.signal });
  });
  const within = (ms: number): Promise<void> => delay(ms, undefined, { signal: done.signal }).catch(() => {});
  const { outputLost } = transport;
  try {
    await Promise.race([transport.inputEnded, outputLost, aborted]);
    options.onInputEnd?.();
    transport.stopReading();
    // A client that does not read needs no call to finish.
    const { isFull } = transport;
    const flow = new Flow({ ...patience, totalMs: isFull ? unreadMs : patience.totalMs });
    transport.onTaken = () => {
      flow.moved();
      options.onFlow?.();
    };
    await Promise.race([transport.answered(), outputLost, aborted, within(isFull ? 0 : finishMs)]);
    ending.begin('The client closed the connection.');
    await Promise.race([transport.answered(), outputLost, within(stopMs)]);
    options.onAnswered?.();
    await connection.close();
    await followed?.[Symbol.asyncDispose]();
    for (let leftMs = flow.leftMs; leftMs > 0 && transport.unwritten > 0; leftMs = flow.leftMs) {
      await Promise.race([transport.settled(), outputLost, within(leftMs)]);
    }
    const { unwritten } = transport;
    if (unwritten > 0) options.onError?.(new Error(cutOff(unwritten)));
  } finally {
    done.abort();
    await followed?.[Symbol.asyncDispose]();
  }
}

/** The connection's side of what its client follows. Disposing frees all of it. */
function follow(surface: McpSurface, wire: LineTransport, { principal, onError = () => {} }: StdioOptions) {
  if (!hasResources(surface)) return undefined;
  const connected = surface.resources.connect('connection', principal);
  const listening = new ListeningTransport(wire, { surface, principal, connected, onError });
  return {
    connected,
    listening,
    async [Symbol.asyncDispose](): Promise<void> {
      connected[Symbol.dispose]();
      await listening[Symbol.asyncDispose]();
    },
  };
}

/** How long the last answers are waited for. */
class Flow {
  readonly #endsAt: number;
  readonly #stallMs: number;
  #stallsAt: number;

  constructor({ totalMs, stallMs, longestMs }: Patience) {
    const now = performance.now();
    this.#endsAt = now + longestMs;
    this.#stallsAt = now + totalMs;
    this.#stallMs = stallMs;
  }

  moved(): void {
    this.#stallsAt = Math.max(this.#stallsAt, performance.now() + this.#stallMs);
  }

  get leftMs(): number {
    return Math.min(this.#stallsAt, this.#endsAt) - performance.now();
  }
}

const cutOff = (bytes: number): string =>
  `The last answers were cut off: of ${bytes} bytes not all were read within the time there is at the end.`;
