import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import { Emitter } from '../../lib/emitter.ts';
import type { RecentSecrets } from '../person/recent-secrets.ts';
import type { Channel } from '../terminal/channel.ts';
import { InputQueue, type InputLane } from './input-queue.ts';
import {
  changedLine,
  emptyLine,
  type JudgeTyped,
  lineAfter,
  type TypedAs,
  typeKeys,
  type TypedLine,
} from './typed-line.ts';
import { driverEchoes } from '../shells/input-mode.ts';
import { timings } from '../waiting/timings.ts';

const { reactMs, replyMs, interruptMs } = timings.keyboard;

export interface InputEvent {
  /** Of what was sent as a secret only a mask and the end of the line. */
  readonly bytes: Uint8Array;
  readonly by: string;
  /** False while the program reads without echo: then the bytes are a secret. To be read during the event. */
  readonly echo: boolean | undefined;
  readonly atMs: number;
}

/** Whether there is echo is asked for only when somebody records: it is a call into the system for every line typed. */
class Keys implements InputEvent {
  readonly bytes: Uint8Array;
  readonly by: string;
  readonly atMs: number;
  readonly #process: Channel['process'];

  constructor(bytes: Uint8Array, by: string, atMs: number, process: Channel['process']) {
    this.bytes = bytes;
    this.by = by;
    this.atMs = atMs;
    this.#process = process;
  }

  get echo(): boolean | undefined {
    return driverEchoes(this.#process?.inputMode());
  }
}

export interface LastInput {
  readonly atMs: number;
  /** Where the output ended then. */
  readonly offset: number;
  /** It ended a line. */
  readonly entered?: boolean;
  /** It ended a line that nobody was waiting for: the next prompt may belong to what ran before it. */
  readonly ahead?: boolean;
  /** It was Ctrl-C. */
  readonly stops?: boolean;
}

/** The keyboard, for one sender only. */
export interface KeyboardLane extends InputLane {
  /** `as`: instead of what the turn is for. */
  write(bytes: Uint8Array, as?: TypedAs): Promise<void>;
  /** Somebody judges what is entered. */
  readonly isJudged: boolean;
  /** Throws when these keys would be refused, for who types them in several writes: half of a line must not stand there. */
  check(keys: string): void;
}

/** What the keyboard does for whoever has his turn. */
interface Typist {
  /** Throws when the bytes are refused; the answer is to be called once they have arrived. */
  readonly begin: (bytes: Uint8Array, as?: TypedAs) => () => void;
  readonly isJudged: () => boolean;
  readonly check: KeyboardLane['check'];
}

class Turn implements KeyboardLane {
  readonly #lane: InputLane;
  readonly #typist: Typist;

  constructor(lane: InputLane, typist: Typist) {
    this.#lane = lane;
    this.#typist = typist;
  }

  get signal(): AbortSignal {
    return this.#lane.signal;
  }

  get over(): FairleadError | undefined {
    return this.#lane.over;
  }

  get isJudged(): boolean {
    return this.#typist.isJudged();
  }

  async write(bytes: Uint8Array, as?: TypedAs): Promise<void> {
    // Before anybody hears of bytes that will not go.
    if (this.over) throw this.over;
    const arrived = this.#typist.begin(bytes, as);
    await this.#lane.write(bytes);
    arrived();
  }

  check(keys: string): void {
    this.#typist.check(keys);
  }
}

export interface TurnOptions {
  readonly by: string;
  readonly size: number;
  readonly secret?: boolean;
  readonly as?: TypedAs | undefined;
}

export interface KeyboardInit {
  readonly channel: Channel;
  readonly clock: Clock;
  /** Whatever the far side prints. */
  readonly output: { readonly on: (listener: () => void) => Disposable };
  /** Offset the next byte of output will get. */
  readonly offset: () => number;
  /** The shell is known to read no commands just now. */
  readonly busy: () => boolean;
  /** Where secrets go that the channel does not conceal itself. */
  readonly secrets: () => RecentSecrets;
  /** Before anything is sent. */
  readonly used: () => void;
  /** The program takes bracketed pastes. */
  readonly pastes: () => boolean;
  /** Who judges lines at present; nobody: every line may be entered. */
  readonly judge?: (() => JudgeTyped | undefined) | undefined;
  /** Others may have typed before. */
  readonly begun: boolean;
}

const maxPendingInput = 4 << 20;

/** No terminal keeps less of a line. */
const shortLine = 255;

/** What goes into a terminal: one sender at a time, each byte attributed, secrets seen by nobody. */
export class Keyboard {
  readonly events = new Emitter<InputEvent>();
  readonly #init: KeyboardInit;
  readonly #queue: InputQueue;
  #last: LastInput | undefined;
  /** The newest input is the first since Ctrl-C, or a further piece of that line. */
  #afterStop = false;
  #lastAhead: number | undefined;
  /** What was typed by anybody since the last line end. */
  #line: TypedLine;

  constructor(init: KeyboardInit) {
    this.#init = init;
    this.#line = init.begun ? changedLine : emptyLine;
    this.#queue = new InputQueue({
      write: (bytes) => init.channel.write(bytes),
      maxPendingBytes: maxPendingInput,
    });
  }

  get last(): LastInput | undefined {
    return this.#last;
  }

  get pendingBytes(): number {
    return this.#queue.pendingBytes;
  }

  get lastAhead(): number | undefined {
    return this.#lastAhead;
  }

  /** Sends bytes as one body. Resolves when the far side accepted all of them. */
  async send(bytes: Uint8Array, by: string, signal: AbortSignal, as: TypedAs = 'keys'): Promise<void> {
    this.#mustFit(bytes);
    await this.#queue.send(bytes, signal, () => {
      const arrived = this.#judged(bytes, as);
      this.#note(bytes, by);
      return arrived;
    });
  }

  /** The keyboard for one sender: nobody else's bytes come between those of `work`. Ctrl-C ends the turn. */
  async turn<T>(options: TurnOptions, work: (lane: KeyboardLane) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { by, size, secret = false, as: usually = 'keys' } = options;
    const begin: Typist['begin'] = (bytes, as = usually) => {
      this.#mustFit(bytes);
      const arrived = secret && as === 'person' ? this.#unjudged(bytes) : this.#judged(bytes, as);
      if (secret) this.#noteSecret(bytes, by);
      else this.#note(bytes, by);
      return arrived;
    };
    const isJudged = (): boolean => this.#init.judge?.() !== undefined;
    const typist: Typist = { begin, isJudged, check: (keys) => this.#check(keys) };
    return await this.#queue.turn(size, (lane) => work(new Turn(lane, typist)), signal);
  }

  /**
   * What the terminal itself says to the program, if it may still go when its turn has come. No call waits for it, and a far side
   * that is gone needs none.
   */
  reply(bytes: Uint8Array, mayGo: () => boolean): void {
    const begin = (): (() => void) => {
      if (!mayGo()) throw new FairleadError('cancelled', 'The program that asked is gone.');
      return () => {};
    };
    this.#queue.send(bytes, AbortSignal.timeout(replyMs), begin).catch(() => {});
  }

  /**
   * Ctrl-C, ahead of text that waits. Behind input that nobody reads the byte means nothing: when text was under way and
   * the terminal does not react, the program in the foreground gets the signal itself.
   */
  async interrupt(bytes: Uint8Array, by: string, signal: AbortSignal): Promise<void> {
    const { channel, clock, output } = this.#init;
    const overtakes = this.#queue.pendingBytes > 0;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(interruptMs)]);
    const sent = this.#queue.interrupt(bytes, limit, () => {
      // Behind Ctrl-V, or in a paste, it drops nothing.
      this.#line = typeKeys(this.#line, Buffer.from(bytes).toString('latin1'), false).line;
      this.#note(bytes, by);
      return () => {};
    });
    if (!overtakes || !channel.kill) return sent;
    sent.catch(() => {});
    const reacted = deferred<boolean>();
    using _output = output.on(() => reacted.resolve(true));
    using _limit = clock.after(reactMs, () => reacted.resolve(false));
    if (!(await reacted.promise)) await channel.kill('INT');
  }

  /** Refuses what waits and what comes. */
  close(error: FairleadError): void {
    this.#queue.close(error);
  }

  /** Waits for a write under way, so that its owner can end after it. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }

  /** What is over the end of a line would be lost without a word, and half a command run. */
  #mustFit(bytes: Uint8Array): void {
    if (bytes.length <= shortLine) return;
    const most = this.#init.channel.process?.longestLine?.();
    const longest = most === undefined ? 0 : longestLine(bytes);
    if (most === undefined || longest <= most) return;
    throw new FairleadError('too_large', `A line of ${longest} bytes is too long for this program.`, {
      hint: `It reads whole lines, of which the terminal keeps ${most} bytes. Nothing was typed; put the text into a file.`,
    });
  }

  #check(keys: string): void {
    const judge = this.#init.judge?.();
    if (judge) lineAfter(this.#line, { keys, as: 'keys', pastes: this.#init.pastes() }, judge);
  }

  /** Lets bytes through whose turn has come, or throws. The answer is to be called once they have arrived. */
  #judged(bytes: Uint8Array, as: TypedAs): () => void {
    const judge = this.#init.judge?.();
    const before = this.#line;
    const pastes = this.#init.pastes();
    const after = (): TypedLine => lineAfter(before, { keys: Buffer.from(bytes).toString(), as, pastes }, judge);
    const allowed = judge && after();
    // Until then nobody knows how much of them arrives.
    this.#line = changedLine;
    return () => {
      // Where nobody judges, the program has them before they are looked at.
      this.#line = allowed ?? after();
    };
  }

  /** A secret is a person's, and never becomes a string: that could not be overwritten. */
  #unjudged(bytes: Uint8Array): () => void {
    const entered = bytes.at(-1) === 13 || bytes.at(-1) === 10;
    this.#line = changedLine;
    return () => {
      if (entered) this.#line = emptyLine;
    };
  }

  #note(bytes: Uint8Array, by: string): void {
    const atMs = this.#typed(bytes);
    // Before the bytes go: a program that has read its secret turns echo on again.
    if (this.events.size > 0) this.events.emit(new Keys(bytes, by, atMs, this.#init.channel.process));
  }

  #noteSecret(bytes: Uint8Array, by: string): void {
    const { channel, secrets } = this.#init;
    const atMs = this.#typed(bytes);
    if (channel.conceal) channel.conceal(bytes);
    else secrets().add(bytes);
    this.events.emit({ bytes: masked(bytes), by, echo: false, atMs });
  }

  #typed(bytes: Uint8Array): number {
    const { busy, channel, clock, offset, used } = this.#init;
    used();
    const atMs = clock.monotonic();
    const entered = bytes.includes(13) || bytes.includes(10);
    const early = entered && busy();
    const at = offset();
    this.#afterStop = this.#last?.stops === true || (this.#afterStop && this.#goesOn(at));
    // A program that reads lines takes it, unless it was just told to stop; where nobody can tell, it is taken to.
    const ahead = early && (this.#afterStop || channel.process?.reads?.() === false);
    const stops = bytes[0] === 3 && bytes.every((byte) => byte === 3);
    this.#last = { atMs, offset: at, entered, ahead, stops };
    if (early) this.#lastAhead = this.#last.offset;
    return atMs;
  }

  /** The line that was begun before, unless a program that has printed something since waits for a new one. */
  #goesOn(offset: number): boolean {
    if (this.#last?.entered !== false) return false;
    return this.#last.offset === offset || this.#init.channel.process?.reads?.() !== true;
  }
}

/** Line ends as they are, and a mask for what stands between them. */
function masked(bytes: Uint8Array): Uint8Array {
  const shown: string[] = [];
  for (const byte of bytes) {
    if (byte === 13 || byte === 10) shown.push(String.fromCharCode(byte));
    else if (shown.at(-1) !== '•••') shown.push('•••');
  }
  return Buffer.from(shown.join(''));
}

function longestLine(bytes: Uint8Array): number {
  let longest = 0;
  let from = 0;
  for (let at = 0; at <= bytes.length; at++) {
    if (at < bytes.length && bytes[at] !== 10 && bytes[at] !== 13) continue;
    longest = Math.max(longest, at - from);
    from = at + 1;
  }
  return longest;
}
