import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { deferred } from '../../lib/deferred.ts';
import { HeldInput, type HungUp } from './held-input.ts';
import { maxLineBytes, MessageLines } from './message-lines.ts';
import { oversizedId } from './oversized-id.ts';
import { PieceWriter } from './piece-writer.ts';

const tooLong = `Parse error: a message may have at most ${maxLineBytes} bytes`;
const maxCallsInFlight = 1000;
/** While more output than this is unread, no input is read: a client that never reads cannot fill the memory. */
const maxUnreadBytes = 64 << 20;

interface Waiter {
  readonly holds: () => boolean;
  readonly resolve: () => void;
}

/**
 * JSON-RPC as lines on a pair of streams. Unlike the SDK's own transport it survives a malformed line, and the end of input does not end it:
 * its owner decides how long answers may still be written.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The other side has taken some bytes of an answer. */
  onTaken?: () => void;

  readonly #input: HeldInput;
  readonly #output: Writable;
  readonly #writer: PieceWriter;
  readonly #lines = new MessageLines();
  readonly #unanswered = new Set<RequestId>();
  readonly #outputLost = deferred();
  #waiters: Waiter[] = [];
  #unwritten = 0;
  #closed = false;

  constructor(input: Readable, output: Writable, hungUp?: HungUp) {
    this.#input = new HeldInput(input, hungUp);
    this.#output = output;
    this.#writer = new PieceWriter(output, (bytes) => this.#taken(bytes));
  }

  /** Settles when nothing more will be read. */
  get inputEnded(): Promise<void> {
    return this.#input.ended;
  }

  /** Settles when the other side stopped listening. */
  get outputLost(): Promise<void> {
    return this.#outputLost.promise;
  }

  /** Too much output is unread. */
  get isFull(): boolean {
    return this.#unwritten > maxUnreadBytes;
  }

  /** Bytes of answers that are not written yet. */
  get unwritten(): number {
    return this.#unwritten;
  }

  start(): Promise<void> {
    this.#output.on('error', this.#lost);
    this.#output.on('close', this.#lost);
    this.#input.start((chunk) => {
      for (const line of this.#lines.push(chunk)) {
        if (typeof line === 'string') this.#take(line);
        else this.#reject(-32700, tooLong, oversizedId(line));
      }
    });
    return Promise.resolve();
  }

  /** Resolves when every request has been answered; the answers may still have to be written. */
  answered(): Promise<void> {
    return this.#when(() => this.#unanswered.size === 0);
  }

  /** Resolves when every request has been answered and every answer written. */
  settled(): Promise<void> {
    return this.#when(() => this.#unanswered.size === 0 && this.#unwritten === 0);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#answered(message.id);
    return this.#write(`${JSON.stringify(message)}\n`);
  }

  /** Reads no more. Answers still go out. */
  stopReading(): void {
    this.#input.stop();
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    this.stopReading();
    this.#unanswered.clear();
    this.#changed();
    this.onclose?.();
    return Promise.resolve();
  }

  // A broken pipe is how clients leave. The listener stays for good: a late write error must not end the process.
  readonly #lost = (): void => {
    this.#unwritten = 0;
    this.#changed();
    this.#outputLost.resolve();
  };

  #take(line: string): void {
    if (line.trim() === '') return;
    let raw: unknown;
    try {
      raw = JSON.parse(line);
    } catch {
      return this.#reject(-32700, 'Parse error: not JSON');
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(raw);
    } catch {
      return this.#reject(-32600, 'Invalid request: not a JSON-RPC 2.0 message', idOf(raw));
    }
    if (isJSONRPCRequest(message)) {
      if (this.#unanswered.size >= maxCallsInFlight) {
        const refusal = `More than ${maxCallsInFlight} calls in flight. Wait for answers first.`;
        return this.#reject(-32000, refusal, message.id);
      }
      // A subscription is answered when the connection ends.
      if (message.method !== 'subscriptions/listen') this.#unanswered.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      // A cancelled call gets no answer.
      this.#answered(message.params?.['requestId'] as RequestId | undefined);
    }
    this.onmessage?.(message);
  }

  /** JSON-RPC wants null where the id could not be read, a shape the SDK's types leave out. */
  #reject(code: number, message: string, id: RequestId | null = null): void {
    this.onerror?.(new Error(message));
    this.#write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`).catch(() => {});
  }

  #write(line: string): Promise<void> {
    if (this.#closed || this.#output.destroyed || this.#output.writableEnded) {
      return Promise.reject(new Error('The connection is closed.'));
    }
    const bytes = Buffer.from(line, 'utf8');
    this.#unwritten += bytes.length;
    if (this.isFull) this.#input.hold();
    return this.#writer.write(bytes);
  }

  #taken(bytes: number): void {
    this.#unwritten = Math.max(0, this.#unwritten - bytes);
    if (!this.isFull) this.#input.release();
    this.#changed();
    this.onTaken?.();
  }

  #answered(id: RequestId | undefined): void {
    if (id !== undefined) this.#unanswered.delete(id);
    this.#changed();
  }

  #when(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ holds, resolve }));
  }

  #changed(): void {
    const done = this.#waiters.filter(({ holds }) => holds());
    if (done.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
    for (const { resolve } of done) resolve();
  }
}

function idOf(raw: unknown): RequestId | null {
  if (typeof raw !== 'object' || raw === null || !('id' in raw)) return null;
  return typeof raw.id === 'string' || typeof raw.id === 'number' ? raw.id : null;
}
