import { FairleadError } from '../../contract/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { deferred } from '../../lib/deferred.ts';
import { Emitter } from '../../lib/emitter.ts';
import type { RecentSecrets } from '../person/recent-secrets.ts';
import type { Screen } from '../screen/screen.ts';
import type { Blocks } from '../terminal/blocks.ts';
import type { Channel } from '../terminal/channel.ts';
import type { OutputLog } from '../terminal/output-log.ts';
import type { Usage } from '../terminal/organs/usage.ts';
import { InputQueue, type InputLane } from './input-queue.ts';
import { KeyJudge } from './key-judge.ts';
import { type CommandCount, type KeyboardHolder, KeyboardLease } from './keyboard-lease.ts';
import { type LastInput, TypeAhead } from './type-ahead.ts';
import type { JudgeTyped, TypedAs } from './typed-line.ts';
import { driverEchoes } from '../shells/input-mode.ts';
import { timings } from '../waiting/timings.ts';
import { timeLimit } from '../../system/time-limit.ts';

const { reactMs, replyMs, interruptMs } = timings.keyboard;

export interface InputEvent {
  /** Of what was sent as a secret only a mask and the end of the line. */
  readonly bytes: Uint8Array;
  readonly by: string;
  /** False while the program reads without echo: then the bytes are a secret. To be read during the event. */
  readonly echo: boolean | undefined;
  readonly atMs: number;
}

/** Echo is asked for only when a listener reads it: it is a call into the system for every line typed. */
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

/** The keyboard, for one sender only. */
export interface KeyboardLane extends InputLane {
  /** `as`: instead of what the turn is for. */
  write(bytes: Uint8Array, as?: TypedAs): Promise<void>;
  /** Policy judges what is entered. */
  readonly isJudged: boolean;
  /** Throws if policy would refuse these keys. Call it before splitting a line over several writes. */
  check(keys: string): void;
}

/** Throws when the bytes are refused; the answer is to be called once they have arrived. */
type Begin = (bytes: Uint8Array, as?: TypedAs) => () => void;

class Turn implements KeyboardLane {
  readonly #lane: InputLane;
  readonly #judge: KeyJudge;
  readonly #begin: Begin;

  constructor(lane: InputLane, judge: KeyJudge, begin: Begin) {
    this.#lane = lane;
    this.#judge = judge;
    this.#begin = begin;
  }

  get signal(): AbortSignal {
    return this.#lane.signal;
  }

  get over(): FairleadError | undefined {
    return this.#lane.over;
  }

  get isJudged(): boolean {
    return this.#judge.isAsked;
  }

  async write(bytes: Uint8Array, as?: TypedAs): Promise<void> {
    // Emit no input events for a turn that is over.
    if (this.over) throw this.over;
    const arrived = this.#begin(bytes, as);
    await this.#lane.write(bytes);
    arrived();
  }

  check(keys: string): void {
    this.#judge.check(keys);
  }
}

export interface TurnOptions {
  readonly by: string;
  readonly size: number;
  readonly secret?: boolean;
  readonly as?: TypedAs | undefined;
}

interface KeyboardInit {
  readonly channel: Channel;
  readonly clock: Clock;
  readonly output: { readonly on: (listener: () => void) => Disposable };
  readonly log: OutputLog;
  readonly blocks: Blocks;
  readonly screen: Pick<Screen, 'modes'>;
  /** Takes secrets that the channel does not conceal itself. */
  readonly secrets: RecentSecrets;
  readonly usage: Usage;
  readonly judge: (() => JudgeTyped | undefined) | undefined;
  /** A previous process may have typed before. */
  readonly begun: boolean;
  /** A program is known to ask for a secret. */
  readonly asksSecret: () => boolean;
}

/** What was typed, as far as others may know. */
interface Typed {
  readonly by: string;
  readonly kind: KeyboardHolder['kind'];
  /** How many; undefined for a secret. */
  readonly bytes: number | undefined;
  /** It ends a line, or drops it. */
  readonly ends: boolean;
}

const maxPendingInput = 4 << 20;

/** No terminal keeps less of a line. */
const shortLine = 255;

/** What goes into a terminal: one sender at a time, each byte attributed, secrets masked. */
export class Keyboard {
  /** What was typed, before it is sent. */
  readonly events = new Emitter<InputEvent>();
  /** Who typed, before it is sent. */
  readonly typed = new Emitter<Typed>();
  /** Who has it. */
  readonly lease: KeyboardLease;
  readonly #init: KeyboardInit;
  readonly #queue: InputQueue;
  readonly #judge: KeyJudge;
  readonly #ahead: TypeAhead;

  constructor(init: KeyboardInit) {
    this.#init = init;
    this.lease = new KeyboardLease(init.clock, () => commandCount(init.blocks));
    this.#judge = new KeyJudge(init);
    this.#ahead = new TypeAhead({ ...init, process: init.channel.process });
    this.#queue = new InputQueue({
      write: (bytes) => init.channel.write(bytes),
      maxPendingBytes: maxPendingInput,
    });
  }

  get last(): LastInput | undefined {
    return this.#ahead.last;
  }

  /** Where the output ended when the newest line was entered that the shell was not ready for. */
  get lastAhead(): number | undefined {
    return this.#ahead.lastAhead;
  }

  /** Bytes are on their way to the far side, or wait for others that are. */
  get isBusy(): boolean {
    return this.#queue.pendingBytes > 0;
  }

  /**
   * Sends bytes as one body. Resolves when the far side accepted all of them. `epoch`: a person has taken the keyboard over with this
   * number.
   */
  async send(bytes: Uint8Array, by: string, signal: AbortSignal, as: TypedAs = 'keys', epoch?: number): Promise<void> {
    this.#mustFit(bytes);
    this.lease.admit(epoch);
    if (as !== 'person' && this.#personTypes) await this.#personPauses(signal);
    await this.#queue.send(bytes, signal, () => {
      this.lease.admit(epoch);
      const arrived = this.#judge.judged(bytes, as);
      const kind = kindOf(as);
      this.lease.typed(by, kind);
      this.#note(bytes, by, kind);
      return arrived;
    });
  }

  /** The keyboard for one sender: no other bytes come between those of `work`. Ctrl-C ends the turn. */
  async turn<T>(options: TurnOptions, work: (lane: KeyboardLane) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { by, size, secret = false, as: usually = 'keys' } = options;
    // An answer that a person gives belongs to the program that asks, also while another person has the keyboard.
    const isAnswer = usually === 'person';
    if (!isAnswer) {
      this.lease.admit();
      if (this.#personTypes) await this.#personPauses(signal);
    }
    const begin: Begin = (bytes, as = usually) => {
      this.#mustFit(bytes);
      if (!isAnswer) {
        this.lease.admit();
        this.lease.typed(by, 'agent');
      }
      const arrived = secret && as === 'person' ? this.#judge.unjudged(bytes) : this.#judge.judged(bytes, as);
      if (secret) this.#noteSecret(bytes, by, kindOf(usually));
      else this.#note(bytes, by, kindOf(usually));
      return arrived;
    };
    return await this.#queue.turn(size, (lane) => work(new Turn(lane, this.#judge, begin)), signal);
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
   * Ctrl-C, ahead of text that waits. Behind unread input the byte means nothing: when text was under way and the terminal does
   * not react, the program in the foreground gets the signal itself.
   */
  async interrupt(bytes: Uint8Array, by: string, signal: AbortSignal, as: TypedAs = 'keys'): Promise<void> {
    const { channel, clock, output } = this.#init;
    const overtakes = this.#queue.pendingBytes > 0;
    const limit = timeLimit(signal, interruptMs);
    const interrupted = this.#queue.interrupt(bytes, limit.signal, () => {
      this.#judge.interrupted(bytes);
      this.#note(bytes, by, kindOf(as));
      return () => {};
    });
    const sent = interrupted.finally(() => limit[Symbol.dispose]());
    if (!overtakes || !channel.kill) return sent;
    sent.catch(() => {});
    const reacted = deferred<boolean>();
    using _output = output.on(() => reacted.resolve(true));
    using _limit = clock.after(reactMs, () => reacted.resolve(false));
    if (!(await reacted.promise)) await channel.kill('INT');
  }

  /** Rejects everything queued; later sends are rejected with the latest reason. */
  close(error: FairleadError): void {
    this.lease.close();
    this.#queue.close(error);
  }

  /** Settles when the write under way is done. */
  get whenIdle(): Promise<void> {
    return this.#queue.idle();
  }

  get #personTypes(): boolean {
    return this.lease.holder?.kind === 'person';
  }

  async #personPauses(signal: AbortSignal): Promise<void> {
    await this.lease.whenPersonPauses(signal);
    this.lease.admit();
  }

  /** In canonical mode the kernel drops bytes past the line limit, and a truncated command would run: refuse. */
  #mustFit(bytes: Uint8Array): void {
    this.#queue.mustBeOpen();
    if (bytes.length <= shortLine) return;
    const most = this.#init.channel.process?.longestLine?.();
    const longest = most === undefined ? 0 : longestLine(bytes);
    if (most === undefined || longest <= most) return;
    throw new FairleadError('too_large', `A line of ${longest} bytes is too long for this program.`, {
      hint: `It reads whole lines, of which the terminal keeps ${most} bytes. Nothing was typed; put the text into a file.`,
    });
  }

  #note(bytes: Uint8Array, by: string, kind: KeyboardHolder['kind']): void {
    const atMs = this.#used(bytes);
    this.typed.emit({ by, kind, bytes: this.#isSecret(kind) ? undefined : bytes.length, ends: endsLine(bytes) });
    // Before the bytes go: a program that has read its secret turns echo on again.
    if (this.events.size > 0) this.events.emit(new Keys(bytes, by, atMs, this.#init.channel.process));
  }

  #noteSecret(bytes: Uint8Array, by: string, kind: KeyboardHolder['kind']): void {
    const { channel, secrets } = this.#init;
    const atMs = this.#used(bytes);
    this.typed.emit({ by, kind, bytes: undefined, ends: endsLine(bytes) });
    if (channel.conceal) channel.conceal(bytes);
    else secrets.add(bytes);
    this.events.emit({ bytes: masked(bytes), by, echo: false, atMs });
  }

  /** A program reads without echo, or is known to ask for a secret. The driver is asked for a person's keys only: agents know no secrets. */
  #isSecret(kind: KeyboardHolder['kind']): boolean {
    const { channel, asksSecret } = this.#init;
    if (asksSecret()) return true;
    return kind === 'person' && driverEchoes(channel.process?.inputMode()) === false;
  }

  #used(bytes: Uint8Array): number {
    this.#init.usage.mark();
    return this.#ahead.note(bytes);
  }
}

const commandCount = ({ state, current, last }: Blocks): CommandCount => ({
  isRunning: state === 'running',
  count: (current ?? last)?.id ?? 0,
  lastExit: last?.exitCode,
});

const kindOf = (as: TypedAs): KeyboardHolder['kind'] => (as === 'person' ? 'person' : 'agent');

/** Enter, Ctrl+C and Ctrl+D: what is typed next is another line. */
const endsLine = (bytes: Uint8Array): boolean => [13, 10, 3, 4].includes(bytes.at(-1) ?? 0);

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
