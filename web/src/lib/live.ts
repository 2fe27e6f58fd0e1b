/**
 * One socket for the tab: streams that go on after a reconnect, and calls. It knows neither page nor browser, so that a test can cut it
 * as often as it likes: what it needs of them is in `LiveParts`.
 */

export type LinkState = 'connecting' | 'live' | 'offline';

export interface LinkNews {
  readonly state: LinkState;
  /** When it tries again, by the clock of the parts. */
  readonly nextTryAt?: number;
  /** The server said that it ends; terminals go on without it. */
  readonly isRestarting?: boolean;
  /** The login is over: it does not try again. */
  readonly isSignedOut?: boolean;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** What a stream's reader does. `input` is asked for at each (re)connect: it says from where to go on. */
export interface Reader<Item> {
  readonly stream: string;
  readonly input: () => object;
  /** The server sends no more than a window ahead of what was taken; with a promise, an item counts as taken when it settles. */
  readonly item: (item: Item) => void | Promise<void>;
  readonly ended?: () => void;
  readonly failed?: (failure: Failure) => void;
  /** Nothing comes while the tab has been hidden for a while; then it goes on from `input`. */
  readonly pausesWhenHidden?: boolean;
}

/** The part of a browser's WebSocket that is used. */
export interface Socket {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

export interface LiveParts {
  readonly csrf: string | undefined;
  readonly open: () => Socket;
  readonly clock: { now(): number; after(ms: number, run: () => void): () => void };
  readonly random: () => number;
  readonly isHidden: () => boolean;
  /** Calls back when the network is there again, and when the tab is shown or hidden. */
  readonly signs: (heard: (sign: 'online' | 'shown' | 'hidden') => void) => void;
}

export interface LiveEvents {
  readonly link: (news: LinkNews) => void;
  /** How long the server took to answer, in ms. */
  readonly roundTrip: (ms: number) => void;
}

interface OpenReader {
  readonly reader: Reader<never>;
  /** 0 while it is not open. */
  ch: number;
  /** Characters taken and not acknowledged. */
  taken: number;
}

interface Waiting {
  readonly done: (output: unknown) => void;
  readonly failed: (failure: Failure) => void;
}

type Frame = Readonly<Record<string, unknown>>;

const isOpenState = 1;
const ackEvery = 64 << 10;
const beatMs = 15_000;
const lostMs = 20_000;
/** A connection that may be dead, because the network was gone or the machine asleep, has to answer within this time. */
const probeMs = 3000;
const leastDelayMs = 500;
const mostDelayMs = 10_000;
const hiddenMs = 30_000;

export class CallFailed extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export class Live {
  readonly #parts: LiveParts;
  readonly #on: LiveEvents;
  readonly #readers = new Set<OpenReader>();
  readonly #calls = new Map<number, Waiting>();
  #socket: Socket | undefined;
  #isWelcome = false;
  #next = 1;
  #delayMs = leastDelayMs;
  /** Of the next try. */
  #stopWaiting: (() => void) | undefined;
  #stopSilence: (() => void) | undefined;
  #stopBeat: (() => void) | undefined;
  #stopHiding: (() => void) | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(parts: LiveParts, on: LiveEvents) {
    this.#parts = parts;
    this.#on = on;
    parts.signs((sign) => this.#heardSign(sign));
    if (parts.isHidden()) this.#hide();
    on.link({ state: 'connecting' });
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#isWelcome && this.#socket?.readyState === isOpenState;
  }

  /** Reads a stream until the answer is called. */
  read<Item>(reader: Reader<Item>): () => void {
    const open: OpenReader = { reader: reader as Reader<never>, ch: 0, taken: 0 };
    this.#readers.add(open);
    if (this.isOpen) this.#open(open);
    return () => {
      this.#readers.delete(open);
      this.#close(open);
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
    this.#stopWaiting?.();
    this.#connect();
  };

  /** Leaves for good. */
  end(): void {
    this.#isOver = true;
    this.#stopWaiting?.();
    this.#stopHiding?.();
    this.#lose(1000);
  }

  #heardSign(sign: 'online' | 'shown' | 'hidden'): void {
    if (sign === 'hidden') return this.#hide();
    if (sign === 'shown') this.#show();
    if (this.#socket) this.#probe();
    else this.tryNow();
  }

  #hide(): void {
    this.#stopHiding ??= this.#parts.clock.after(hiddenMs, () => {
      this.#isPaused = true;
      for (const open of this.#readers) if (open.reader.pausesWhenHidden) this.#close(open);
    });
  }

  #show(): void {
    this.#stopHiding?.();
    this.#stopHiding = undefined;
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.isOpen) for (const open of this.#readers) if (open.ch === 0) this.#open(open);
  }

  #connect(): void {
    const socket = this.#parts.open();
    this.#socket = socket;
    this.#isWelcome = false;
    this.#listen(lostMs);
    socket.onopen = () => this.#send({ t: 'hello', csrf: this.#parts.csrf });
    socket.onmessage = ({ data }: { readonly data: unknown }) => {
      this.#listen(lostMs);
      const text = String(data);
      this.#take(JSON.parse(text) as Frame, text.length);
    };
    socket.onclose = ({ code }: { readonly code: number }) => this.#lose(code);
  }

  /** Whether a connection that looks open still is. */
  #probe(): void {
    if (!this.isOpen) return;
    this.#beat();
    this.#listen(probeMs);
  }

  /** Without a frame for so long the other side counts as lost. A browser's own close would wait for an answer first. */
  #listen(ms: number): void {
    this.#stopSilence?.();
    this.#stopSilence = this.#parts.clock.after(ms, () => this.#lose(1006));
  }

  #beatLater(): void {
    this.#stopBeat?.();
    this.#stopBeat = this.#parts.clock.after(beatMs, () => {
      this.#beat();
      this.#beatLater();
    });
  }

  #beat(): void {
    this.#send({ t: 'beat', at: this.#parts.clock.now() });
  }

  #lose(code: number): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#stopSilence?.();
    this.#stopBeat?.();
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const open of this.#readers) open.ch = 0;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { failed } of calls) failed(unknownOutcome);
    if (this.#isOver) return;
    if (code === 4401) {
      this.#isOver = true;
      return this.#on.link({ state: 'offline', isSignedOut: true });
    }
    const delay = this.#delayMs * (0.75 + this.#parts.random() / 2);
    this.#delayMs = Math.min(mostDelayMs, this.#delayMs * 2);
    const nextTryAt = this.#parts.clock.now() + delay;
    this.#on.link({ state: 'offline', nextTryAt, isRestarting: code === 1001 });
    this.#stopWaiting = this.#parts.clock.after(delay, () => this.#connect());
  }

  #open(open: OpenReader): void {
    if (this.#isPaused && open.reader.pausesWhenHidden) return;
    open.ch = this.#next++;
    open.taken = 0;
    this.#send({ t: 'open', ch: open.ch, stream: open.reader.stream, input: open.reader.input() });
  }

  #close(open: OpenReader): void {
    if (open.ch !== 0) this.#send({ t: 'close', ch: open.ch });
    open.ch = 0;
  }

  #take(frame: Frame, size: number): void {
    const { t, ch, id } = frame;
    if (t === 'welcome') {
      this.#isWelcome = true;
      this.#delayMs = leastDelayMs;
      this.#on.link({ state: 'live' });
      this.#beat();
      this.#beatLater();
      for (const open of this.#readers) this.#open(open);
    } else if (t === 'beat') {
      if (typeof frame['at'] === 'number') this.#on.roundTrip(this.#parts.clock.now() - frame['at']);
      // A hidden tab may be late with its own beat, never with this answer.
      else this.#send({ t: 'beat' });
    } else if (t === 'item' || t === 'end' || t === 'failure') {
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
    const { ch } = open;
    const taking = (open.reader.item as (one: unknown) => void | Promise<void>)(item);
    const took = (): void => {
      // Of a channel that was closed meanwhile nothing is counted any more.
      if (open.ch !== ch) return;
      open.taken += size;
      if (open.taken < ackEvery) return;
      this.#send({ t: 'ack', ch, bytes: open.taken });
      open.taken = 0;
    };
    if (taking) void taking.then(took, took);
    else took();
  }

  #send(frame: object): void {
    if (this.#socket?.readyState === isOpenState) this.#socket.send(JSON.stringify(frame));
  }
}

const offline: Failure = { code: 'offline', message: 'You are offline. Nothing was sent.' };
const unknownOutcome: Failure = { code: 'unknown', message: 'The link broke. We do not know whether it arrived.' };
