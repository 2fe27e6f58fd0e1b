/** One socket for the tab: streams that go on after a reconnect, and calls. */

export type LinkState = 'connecting' | 'live' | 'offline';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** What a stream's reader does. `input` is asked for at each (re)connect: it says from where to go on. */
export interface Reader<Item> {
  readonly stream: string;
  readonly input: () => object;
  readonly item: (item: Item) => void;
  readonly ended?: () => void;
  readonly failed?: (failure: Failure) => void;
}

interface OpenReader {
  readonly reader: Reader<never>;
  ch: number;
  /** Characters received and not acknowledged. */
  unread: number;
}

interface Waiting {
  readonly done: (output: unknown) => void;
  readonly failed: (failure: Failure) => void;
}

const ackEvery = 64 << 10;
const lostMs = 20_000;
const mostDelayMs = 10_000;

export class CallFailed extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export class Live {
  readonly #csrf: string | undefined;
  readonly #changed: (state: LinkState, nextTryAt: number | undefined) => void;
  readonly #readers = new Set<OpenReader>();
  readonly #calls = new Map<number, Waiting>();
  #socket: WebSocket | undefined;
  #next = 1;
  #delayMs = 500;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(csrf: string | undefined, changed: (state: LinkState, nextTryAt: number | undefined) => void) {
    this.#csrf = csrf;
    this.#changed = changed;
    addEventListener('online', this.tryNow);
    document.addEventListener('visibilitychange', this.#seen);
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Reads a stream until the answer is called. */
  read<Item>(reader: Reader<Item>): () => void {
    const open: OpenReader = { reader: reader as Reader<never>, ch: 0, unread: 0 };
    this.#readers.add(open);
    if (this.isOpen) this.#open(open);
    return () => {
      this.#readers.delete(open);
      this.#send({ t: 'close', ch: open.ch });
    };
  }

  /** Never sent twice: when the link breaks, the caller learns that the outcome is unknown. */
  call<Output>(op: string, input: object, signal?: AbortSignal): Promise<Output> {
    if (!this.isOpen) return Promise.reject(new CallFailed(offline));
    const id = this.#next++;
    signal?.addEventListener('abort', () => this.#send({ t: 'cancel', id }), { once: true });
    return new Promise((resolve, reject) => {
      this.#calls.set(id, {
        done: (output) => resolve(output as Output),
        failed: (failure) => reject(new CallFailed(failure)),
      });
      this.#send({ t: 'call', id, op, input });
    });
  }

  readonly tryNow = (): void => {
    if (this.#socket || this.#isOver) return;
    clearTimeout(this.#timer);
    this.#connect();
  };

  readonly #seen = (): void => {
    if (document.visibilityState === 'visible') this.tryNow();
  };

  #connect(): void {
    this.#changed('connecting', undefined);
    const { protocol, host } = location;
    const socket = new WebSocket(`${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/live`);
    this.#socket = socket;
    socket.onopen = () => {
      this.#send({ t: 'hello', csrf: this.#csrf });
      this.#heard();
    };
    socket.onmessage = ({ data }) => {
      this.#heard();
      const text = String(data);
      this.#take(JSON.parse(text) as Record<string, unknown>, text.length);
    };
    socket.onclose = ({ code }) => this.#lost(code);
  }

  #heard(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#socket?.close(), lostMs);
  }

  #lost(code: number): void {
    clearTimeout(this.#silence);
    this.#socket = undefined;
    for (const { failed } of this.#calls.values()) failed(unknownOutcome);
    this.#calls.clear();
    if (code === 4401) {
      this.#isOver = true;
      this.#changed('offline', undefined);
      return;
    }
    const delay = this.#delayMs * (0.75 + Math.random() / 2);
    this.#delayMs = Math.min(mostDelayMs, this.#delayMs * 2);
    this.#changed('offline', Date.now() + delay);
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #open(open: OpenReader): void {
    open.ch = this.#next++;
    open.unread = 0;
    this.#send({ t: 'open', ch: open.ch, stream: open.reader.stream, input: open.reader.input() });
  }

  #take(frame: Record<string, unknown>, size: number): void {
    const { t, ch, id } = frame;
    if (t === 'welcome') {
      this.#delayMs = 500;
      this.#changed('live', undefined);
      for (const open of this.#readers) this.#open(open);
    } else if (t === 'beat') this.#send({ t: 'beat' });
    else if (t === 'item' || t === 'end' || t === 'failure') {
      const open = [...this.#readers].find((one) => one.ch === ch);
      if (!open) return;
      if (t === 'item') this.#item(open, frame['item'], size);
      else if (t === 'end') open.reader.ended?.();
      else open.reader.failed?.(frame['error'] as Failure);
    } else if (t === 'done' || t === 'failed') {
      const waiting = this.#calls.get(Number(id));
      this.#calls.delete(Number(id));
      if (t === 'done') waiting?.done(frame['output']);
      else waiting?.failed(frame['error'] as Failure);
    }
  }

  #item(open: OpenReader, item: unknown, size: number): void {
    open.unread += size;
    (open.reader.item as (one: unknown) => void)(item);
    if (open.unread < ackEvery) return;
    this.#send({ t: 'ack', ch: open.ch, bytes: open.unread });
    open.unread = 0;
  }

  #send(frame: object): void {
    if (this.isOpen) this.#socket?.send(JSON.stringify(frame));
  }
}

const offline: Failure = { code: 'offline', message: 'You are offline. Nothing was sent.' };
const unknownOutcome: Failure = { code: 'unknown', message: 'The link broke. We do not know whether it arrived.' };
