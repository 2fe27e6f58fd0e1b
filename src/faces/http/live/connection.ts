import type { RawData, WebSocket } from 'ws';
import { FairleadError } from '../../../contract/errors.ts';
import type { Caller, CallOperation } from '../../../engine/call/call.ts';
import type { CallStream } from '../../../engine/call/call-stream.ts';
import type { BrowserLogin } from '../../../engine/instances/browser-logins.ts';
import type { PersonReach } from '../../../engine/person/questions/question.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deferred } from '../../../lib/deferred.ts';
import { onAbort } from '../../../system/on-abort.ts';
import { errorBody, jsonText } from '../reply.ts';
import type { LiveTable } from './table.ts';

interface ConnectionParts {
  readonly table: LiveTable;
  readonly call: CallOperation;
  readonly stream: CallStream;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly login: BrowserLogin | undefined;
  readonly over: () => void;
}

/** One stream on the connection. */
interface Channel {
  readonly stop: AbortController;
  /** Bytes sent and not acknowledged. */
  unread: number;
  room: { promise: Promise<void>; resolve: () => void } | undefined;
}

const helloMs = 5000;
const beatMs = 15_000;
/** Without a frame for so long the other side counts as lost. */
const silentMs = 20_000;
/** A page that does not take what it is sent gets no more of that stream. */
const windowBytes = 256 << 10;
const mostChannels = 64;
const mostCalls = 64;
/** What a page that does not read may leave unsent: all windows, and answers of calls. Beyond it the page is let go of. */
const mostUnsent = 32 << 20;
/** Closes with a number of our own: 4000 and up are for applications. */
const closes = { bad: 4400, denied: 4401, slow: 4408, ending: 1001 } as const;

/** The page of a person shows whatever waits for them: a call of theirs can wait for the answer. */
const pageReach: PersonReach = { show: () => Promise.resolve(true), answered: () => Promise.resolve() };

type Frame = Readonly<Record<string, unknown>>;

/**
 * One tab. Text frames are JSON: `hello` first, then `open`, `close` and `ack` of streams, `call` and `cancel`. Answers are `item`, `end` and
 * `failure` of a channel, `done` and `failed` of a call. The next item of a stream is made when the page has taken the last ones.
 */
export class LiveConnection {
  readonly #socket: WebSocket;
  readonly #parts: ConnectionParts;
  readonly #channels = new Map<number, Channel>();
  readonly #over = new AbortController();
  #isKnown: boolean;
  readonly #calls = new Map<number, AbortController>();
  #silence: Disposable | undefined;
  #beat: Disposable | undefined;

  constructor(socket: WebSocket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#isKnown = parts.login === undefined;
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('close', () => this.#closed());
    socket.on('error', () => socket.terminate());
    parts.login?.ended.addEventListener('abort', this.#loggedOut, { once: true });
    this.#silence = parts.clock.after(helloMs, () => this.#end(closes.slow, 'No hello came.'));
    this.#beatLater();
  }

  end(why: string): void {
    this.#end(closes.ending, why);
  }

  readonly #loggedOut = (): void => this.#end(closes.denied, 'The login has ended.');

  #closed(): void {
    this.#over.abort(new Error('The page closed the connection.'));
    this.#silence?.[Symbol.dispose]();
    this.#beat?.[Symbol.dispose]();
    this.#parts.login?.ended.removeEventListener('abort', this.#loggedOut);
    this.#parts.over();
  }

  #end(code: number, why: string): void {
    this.#over.abort(new Error(why));
    this.#socket.close(code, why);
    // A page that does not answer the close is let go of.
    this.#silence?.[Symbol.dispose]();
    this.#silence = this.#parts.clock.after(1000, () => this.#socket.terminate());
  }

  #heard(): void {
    this.#silence?.[Symbol.dispose]();
    this.#silence = this.#parts.clock.after(silentMs, () => this.#socket.terminate());
  }

  #beatLater(): void {
    this.#beat = this.#parts.clock.after(beatMs, () => {
      this.#send({ t: 'beat', now: this.#parts.clock.now() });
      this.#beatLater();
    });
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#over.signal.aborted) return;
    let frame: Frame;
    try {
      if (isBinary) throw new Error('binary');
      const parsed: unknown = JSON.parse((data as Buffer).toString('utf8'));
      if (typeof parsed !== 'object' || parsed === null) throw new Error('no object');
      frame = parsed as Frame;
    } catch {
      return this.#end(closes.bad, 'A frame is one JSON object.');
    }
    if (!this.#isKnown && !this.#isHello(frame))
      return this.#end(closes.denied, 'The first frame is hello, with csrf.');
    this.#heard();
    const { t } = frame;
    if (t === 'hello') this.#send({ t: 'welcome', now: this.#parts.clock.now() });
    else if (t === 'open') this.#open(frame);
    else if (t === 'close') this.#channels.get(Number(frame['ch']))?.stop.abort();
    else if (t === 'ack') this.#acknowledge(frame);
    else if (t === 'call') this.#call(frame);
    else if (t === 'cancel') this.#calls.get(Number(frame['id']))?.abort(new Error('The page gave the call up.'));
    else if (t === 'beat') this.#answerBeat(frame);
    else this.#end(closes.bad, 'Frames are hello, open, close, ack, call, cancel and beat.');
  }

  /** With a time of the page, which measures how long the answer takes; without one it answers a beat of ours. */
  #answerBeat({ at }: Frame): void {
    if (typeof at === 'number') this.#send({ t: 'beat', now: this.#parts.clock.now(), at });
  }

  #isHello({ t, csrf }: Frame): boolean {
    const { login } = this.#parts;
    this.#isKnown = t === 'hello' && (!login || (typeof csrf === 'string' && login.hasCsrf(csrf)));
    return this.#isKnown;
  }

  #acknowledge({ ch, bytes }: Frame): void {
    const channel = this.#channels.get(Number(ch));
    if (!channel || typeof bytes !== 'number' || !(bytes > 0)) return;
    channel.unread = Math.max(0, channel.unread - bytes);
    if (channel.unread < windowBytes) channel.room?.resolve();
  }

  #open({ ch, stream, input }: Frame): void {
    if (typeof ch !== 'number' || !Number.isSafeInteger(ch) || this.#channels.has(ch)) {
      return this.#end(closes.bad, 'A channel has a number of its own.');
    }
    if (this.#channels.size >= mostChannels) return this.#fail(ch, tooMany('streams', mostChannels));
    const channel: Channel = { stop: new AbortController(), unread: 0, room: undefined };
    this.#channels.set(ch, channel);
    this.#follow(ch, channel, stream, input).catch(() => {});
  }

  async #follow(ch: number, channel: Channel, stream: unknown, input: unknown): Promise<void> {
    const signal = AbortSignal.any([channel.stop.signal, this.#over.signal]);
    try {
      const op = this.#parts.table.stream(stream);
      for await (const item of this.#parts.stream(op, input ?? {}, { caller: this.#parts.caller, signal })) {
        channel.unread += await this.#sent({ t: 'item', ch, item });
        while (channel.unread >= windowBytes && !signal.aborted) {
          const room = deferred();
          channel.room = room;
          using _abort = onAbort(signal, () => room.resolve());
          await room.promise;
        }
      }
      if (!this.#over.signal.aborted) this.#send({ t: 'end', ch });
    } catch (thrown) {
      this.#fail(ch, thrown);
    } finally {
      this.#channels.delete(ch);
    }
  }

  #call({ id, op, input }: Frame): void {
    if (typeof id !== 'number') return this.#end(closes.bad, 'A call has a number.');
    if (this.#calls.has(id)) return this.#end(closes.bad, 'A call has a number of its own.');
    if (this.#calls.size >= mostCalls) return this.#failCall(id, tooMany('calls', mostCalls));
    const stop = new AbortController();
    this.#calls.set(id, stop);
    this.#run(id, op, input, AbortSignal.any([stop.signal, this.#over.signal])).catch(() => {});
  }

  async #run(id: number, op: unknown, input: unknown, signal: AbortSignal): Promise<void> {
    const { table, call, caller, login } = this.#parts;
    try {
      const person = login && pageReach;
      const output = await call(table.operation(op), input ?? {}, { caller, signal, person });
      await this.#sent({ t: 'done', id, output });
    } catch (thrown) {
      this.#failCall(id, thrown);
    } finally {
      this.#calls.delete(id);
    }
  }

  #fail(ch: number, thrown: unknown): void {
    if (!this.#over.signal.aborted) this.#send({ t: 'failure', ch, ...errorBody(known(thrown)) });
  }

  #failCall(id: number, thrown: unknown): void {
    if (!this.#over.signal.aborted) this.#send({ t: 'failed', id, ...errorBody(known(thrown)) });
  }

  /** How many bytes that was. */
  #send(frame: Frame, sent?: () => void): number {
    if (this.#socket.readyState !== this.#socket.OPEN) {
      sent?.();
      return 0;
    }
    const text = jsonText(frame);
    this.#socket.send(text, sent);
    if (this.#socket.bufferedAmount > mostUnsent) this.#socket.terminate();
    return text.length;
  }

  /** The same, and waits for the network if much is on its way: acknowledging is the page's word only. */
  async #sent(frame: Frame): Promise<number> {
    const gone = deferred();
    const size = this.#send(frame, gone.resolve);
    if (this.#socket.bufferedAmount < windowBytes) return size;
    using _abort = onAbort(this.#over.signal, gone.resolve);
    await gone.promise;
    return size;
  }
}

const known = (thrown: unknown): FairleadError =>
  thrown instanceof FairleadError ? thrown : new FairleadError('internal', 'Internal error.');

const tooMany = (what: string, most: number): FairleadError =>
  new FairleadError('limit_reached', `This page has ${most} ${what} open already.`, { hint: 'Close one first.' });
