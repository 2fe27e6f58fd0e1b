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
import { endBytes, oversizedId } from './oversized-id.ts';
import { type Deferred, deferred } from '../../lib/deferred.ts';
import { PieceWriter } from './piece-writer.ts';

export const maxLineBytes = 16 << 20;
const tooLong = `Parse error: a message may have at most ${maxLineBytes} bytes`;
const maxCallsInFlight = 1000;
/** Past this much unread output no more is read in: a client that never reads cannot make us hold everything. */
const maxUnreadBytes = 64 << 20;
/** How often a client that does not read is looked at: whether it is still there. */
const lookMs = 100;
const newline = 0x0a;

/** Whether the other side has closed its end, without reading what it sent before. Never rejects. */
export type HungUp = () => boolean | Promise<boolean>;

/**
 * JSON-RPC as lines on a pair of streams. Unlike the SDK's own, it survives a bad line, and the end of input does
 * not end it: the owner decides how long answers may still be written.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The other side has taken some bytes of an answer. */
  onTaken?: () => void;

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #writer: PieceWriter;
  readonly #hungUp: HungUp | undefined;
  readonly #unanswered = new Set<RequestId>();
  readonly #inputEnded = deferred();
  readonly #outputLost = deferred();
  #allAnswered: Deferred<void> | undefined;
  #idle: Deferred<void> | undefined;
  #line: Buffer[] = [];
  /** Where a line began that is too long: then only its ends are kept. */
  #head: Buffer | undefined;
  #lineBytes = 0;
  #unwritten = 0;
  #reading = false;
  #looking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(input: Readable, output: Writable, hungUp?: HungUp) {
    this.#input = input;
    this.#output = output;
    this.#writer = new PieceWriter(output, (bytes) => this.#taken(bytes));
    this.#hungUp = hungUp;
  }

  /** Settles when nothing more will be read. */
  get inputEnded(): Promise<void> {
    return this.#inputEnded.promise;
  }

  /** Settles when the other side stopped listening. */
  get outputLost(): Promise<void> {
    return this.#outputLost.promise;
  }

  /** More is unread than is kept for anyone. */
  get isFull(): boolean {
    return this.#unwritten > maxUnreadBytes;
  }

  /** Bytes of answers that are not written, or not to their end. */
  get unwritten(): number {
    return this.#unwritten;
  }

  start(): Promise<void> {
    this.#reading = true;
    this.#output.on('error', this.#lost);
    this.#output.on('close', this.#lost);
    this.#input.on('data', this.#read);
    for (const end of ['end', 'close', 'error']) this.#input.on(end, this.#end);
    if (this.#input.readableEnded || this.#input.destroyed) this.#end();
    return Promise.resolve();
  }

  /** Resolves when every request has been answered; the answers may still have to be written. */
  answered(): Promise<void> {
    if (this.#unanswered.size === 0) return Promise.resolve();
    this.#allAnswered ??= deferred();
    return this.#allAnswered.promise;
  }

  /** Resolves when every request has been answered and every answer written. */
  settled(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    this.#idle ??= deferred();
    return this.#idle.promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#answered(message.id);
    return this.#write(`${JSON.stringify(message)}\n`);
  }

  /** Reads no more. What was written before still goes out. */
  stopReading(): void {
    this.#reading = false;
    this.#input.off('data', this.#read);
    this.#hold();
    this.#end();
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    this.stopReading();
    for (const end of ['end', 'close', 'error']) this.#input.off(end, this.#end);
    this.#unanswered.clear();
    this.#checkIdle();
    this.onclose?.();
    return Promise.resolve();
  }

  readonly #end = (): void => this.#inputEnded.resolve();

  // A broken pipe is how clients leave. The listener stays for good: a late write error must not end the process.
  readonly #lost = (): void => {
    this.#unwritten = 0;
    this.#checkIdle();
    this.#outputLost.resolve();
  };

  readonly #read = (chunk: Buffer): void => {
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#gather(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#line);
      const head = this.#head;
      this.#line = [];
      this.#head = undefined;
      this.#lineBytes = 0;
      if (head) this.#reject(-32700, tooLong, oversizedId({ head, tail: line }));
      else if (line.length > 0) this.#take(line.toString('utf8'));
    }
    this.#gather(chunk.subarray(from));
  };

  #gather(part: Buffer): void {
    this.#lineBytes += part.length;
    if (part.length > 0) this.#line.push(part);
    if (this.#lineBytes <= maxLineBytes) return;
    const line = Buffer.concat(this.#line);
    this.#head ??= Buffer.from(line.subarray(0, endBytes));
    this.#line = [Buffer.from(line.subarray(-endBytes))];
  }

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
        return this.#reject(
          -32000,
          `More than ${maxCallsInFlight} calls in flight. Wait for answers first.`,
          message.id,
        );
      }
      // A subscription is answered when it ends, which is when the connection does.
      if (message.method !== 'subscriptions/listen') this.#unanswered.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      // A cancelled call is not answered, so nothing waits for its answer.
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
    if (this.isFull) this.#hold();
    return this.#writer.write(bytes);
  }

  #taken(bytes: number): void {
    this.#unwritten = Math.max(0, this.#unwritten - bytes);
    if (!this.isFull) this.#goOn();
    this.#checkIdle();
    this.onTaken?.();
  }

  /** Reads no more for now. A stream that is not read does not tell of its end, so the end is looked for. */
  #hold(): void {
    this.#input.pause();
    if (this.#reading && this.#hungUp) this.#looking ??= setInterval(() => void this.#look(), lookMs).unref();
    if (!this.#reading) this.#lookNoMore();
  }

  #goOn(): void {
    this.#lookNoMore();
    if (this.#reading) this.#input.resume();
  }

  #lookNoMore(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  async #look(): Promise<void> {
    if (await this.#hungUp?.()) this.#end();
  }

  #answered(id: RequestId | undefined): void {
    if (id !== undefined) this.#unanswered.delete(id);
    this.#checkIdle();
  }

  #isIdle(): boolean {
    return this.#unanswered.size === 0 && this.#unwritten === 0;
  }

  #checkIdle(): void {
    if (this.#unanswered.size === 0) {
      this.#allAnswered?.resolve();
      this.#allAnswered = undefined;
    }
    if (!this.#isIdle()) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}

function idOf(raw: unknown): RequestId | null {
  if (typeof raw !== 'object' || raw === null || !('id' in raw)) return null;
  return typeof raw.id === 'string' || typeof raw.id === 'number' ? raw.id : null;
}
