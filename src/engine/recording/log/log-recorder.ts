import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../system/incident.ts';
import type { Size } from '../../terminal/channel.ts';
import { Faults } from '../../terminal/faults.ts';
import { EchoedInput } from '../cast/echoed-input.ts';
import type { PartFile } from '../part-file.ts';
import type { BlockMark, RecordingSource } from '../source.ts';
import { BlockCount } from './block-count.ts';
import type { ExitReason, LogEntry } from './entry.ts';
import { type LogEventName, logLine } from './log-line.ts';
import { MarkedOutput, markEvents } from './marked-output.ts';

/** Limits of one recording; beyond the first three it goes on in another. */
export interface LogLimits {
  readonly rawBytes: number;
  readonly blocks: number;
  /** Milliseconds; 0 means none. Asked for each time. */
  readonly idleMs: () => number;
  /** Bytes that wait for the disk: beyond it output is counted and left out. */
  readonly waitingBytes: number;
  /** The same while too many recordings wait for their markdown. */
  readonly isBehind: () => boolean;
}

interface LogRecorderInit {
  readonly source: RecordingSource;
  readonly entry: LogEntry;
  readonly file: PartFile;
  readonly clock: Clock;
  readonly limits: LogLimits;
  /** It should go on in another recording. Told once. */
  readonly onFull: (reason: ExitReason) => void;
  /** Once a second at most, after something was recorded. */
  readonly onTick: () => void;
  readonly log?: Log | undefined;
}

const flushMs = 1000;
const flushBytes = 64 << 10;
const flushEvents = 100;
/** Output of one event. A terminal that is resumed brings all at once what it printed meanwhile. */
const mostPerLine = 256 << 10;

/** More names are not listed. */
const mostTypists = 5;

/** So often at least it looks whether the limit of idle time has changed. */
const mostIdleMs = 60_000;

/** One raw log of one terminal, as it is written. */
export class LogRecorder {
  readonly source: RecordingSource;
  readonly #init: LogRecorderInit;
  readonly #output: MarkedOutput;
  readonly #blocks = new BlockCount();
  readonly #listeners: Disposable[] = [];
  readonly #faults: Faults;
  readonly #unsure: EchoedInput;
  /** Unix time less monotonic time. */
  readonly #epochMs: number;
  readonly #typists = new Set<string>();
  #traces: readonly string[];
  #micros = 0;
  #bytes = 0;
  #lost = 0;
  #events = 0;
  #failed = 0;
  #isMarked = false;
  #isFull = false;
  #cwd: string | undefined;
  #lastMs: number;
  #flushTimer: Disposable | undefined;
  #idleTimer: Disposable | undefined;
  #stopped: { readonly reason: ExitReason; readonly micros: number } | undefined;

  constructor(init: LogRecorderInit) {
    this.#init = init;
    this.source = init.source;
    this.#faults = new Faults(init.entry.terminal, init.log);
    this.#output = new MarkedOutput(init.entry.from_offset);
    this.#lastMs = init.clock.monotonic();
    this.#epochMs = init.clock.now() - this.#lastMs;
    this.#traces = init.entry.trace_ids;
    this.#unsure = new EchoedInput((text, atMs) => this.#add('in', text, this.#at(atMs)));
  }

  /** Its facts as they are now. */
  get entry(): LogEntry {
    return {
      ...this.#init.entry,
      block_count: this.#blocks.value,
      bytes_raw: this.#bytes,
      osc133_active: this.#isMarked,
      trace_ids: [...this.#traces],
      to_offset: this.#output.writtenTo,
      ...(this.#failed > 0 && { failed_count: this.#failed }),
      ...(this.#typists.size > 0 && { typists: [...this.#typists] }),
      ...(this.#stopped && {
        ended_at: new Date(this.#stopped.micros / 1000).toISOString(),
        exit_reason: this.#stopped.reason,
      }),
    };
  }

  get stopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** What went wrong with the disk. */
  get error(): unknown {
    return this.#init.file.error;
  }

  /** Begins where the entry says: with what the terminal still has from there on, then with what comes. */
  begin(): void {
    const { source, entry } = this.#init;
    this.#resized(source.size);
    const now = this.#micros;
    if (source.title !== '') this.#add('title', source.title, now);
    this.#cwd = source.place.cwd;
    if (this.#cwd !== undefined) this.#add('cwd', this.#cwd, now);
    if (entry.from_offset < source.end) this.#catchUp();
    else {
      const mark = source.markNow();
      if (source.isAlternate) this.#add('screen', 'alternate', now);
      if (mark) this.#mark(mark, now);
    }
    this.#listen();
  }

  addTrace(id: string): readonly string[] {
    if (!this.#traces.includes(id)) this.#traces = [...this.#traces, id];
    return this.#traces;
  }

  async flush(): Promise<void> {
    this.#events = 0;
    await this.#init.file.flush();
  }

  /** Takes nothing more. Settles when all of it is on the disk, or the disk failed. */
  async stop(reason: ExitReason): Promise<LogEntry> {
    if (!this.#stopped) {
      this.#letGo();
      const now = this.#at(this.#init.clock.monotonic());
      this.#faults.guard(() => {
        this.#unsure.end();
        this.#pieces(this.#output.end(), now);
        this.#tellLost(now);
      }, 'a session log');
      this.#stopped = { reason, micros: now };
    }
    await this.#init.file.close();
    return this.entry;
  }

  #letGo(): void {
    this.#isFull = true;
    for (const listener of this.#listeners) listener[Symbol.dispose]();
    this.#flushTimer?.[Symbol.dispose]();
    this.#idleTimer?.[Symbol.dispose]();
  }

  #listen(): void {
    const { source, entry, clock } = this.#init;
    const now = (): number => this.#at(clock.monotonic());
    this.#listeners.push(
      source.onOutput((bytes, atMs) => this.#receive(bytes, atMs)),
      source.onMark((mark) => this.#output.mark(mark)),
      source.onResize((size) => this.#resized(size)),
      source.onTitle((title) => this.#add('title', title, now())),
      source.onPeople((event, atMs = clock.monotonic()) => {
        if ('typed' in event && this.#typists.size < mostTypists) this.#typists.add(event.typed.by);
        this.#add('people', JSON.stringify(event), this.#at(atMs));
      }),
    );
    if (!entry.input) return;
    this.#listeners.push(
      // Text typed without echo may be a password.
      source.onInput((bytes, echo, atMs) => {
        if (echo === true) this.#add('in', bytes, this.#at(atMs));
        else if (echo === undefined) this.#unsure.input(Buffer.from(bytes).toString(), atMs);
      }),
    );
  }

  #receive(bytes: Uint8Array, atMs: number): void {
    const { file, limits } = this.#init;
    this.#lastMs = atMs;
    if (file.error !== undefined) return;
    const micros = this.#at(atMs);
    if (this.#init.entry.input) this.#unsure.output(Buffer.from(bytes).toString());
    if (file.waiting + bytes.length > limits.waitingBytes || limits.isBehind()) {
      this.#pieces(this.#output.skip(bytes.length), micros);
      this.#lost += bytes.length;
      return;
    }
    this.#tellLost(micros);
    this.#pieces(this.#output.output(bytes), micros);
    this.#idleTimer ??= this.#armIdle();
  }

  /** Output that another process received, or that came before the recording. */
  #catchUp(): void {
    const { source, entry, clock } = this.#init;
    const { bytes, missed, marks } = source.past(entry.from_offset);
    const now = this.#at(clock.monotonic());
    if (missed > 0) {
      this.#output.skip(missed);
      this.#lost = missed;
      this.#tellLost(now);
    }
    for (const mark of marks) this.#output.mark(mark);
    this.#pieces(this.#output.output(bytes), now);
  }

  #pieces(pieces: ReturnType<MarkedOutput['output']>, micros: number): void {
    for (const piece of pieces) {
      if ('mark' in piece) this.#mark(piece.mark, micros);
      else {
        this.#bytes += piece.bytes.length;
        for (let at = 0; at < piece.bytes.length; at += mostPerLine) {
          this.#add('out', piece.bytes.subarray(at, at + mostPerLine), micros);
        }
      }
    }
    const { limits } = this.#init;
    if (this.#bytes >= limits.rawBytes) this.#full('rotated_size');
    else if (this.#blocks.value >= limits.blocks) this.#full('rotated_blocks');
  }

  #mark(mark: BlockMark, micros: number): void {
    this.#isMarked = true;
    if (mark.kind === 'input') this.#tellPlace(micros);
    for (const [name, text] of markEvents(mark)) {
      this.#blocks.accept(name, text);
      if (name === 'block_exit' && text !== '' && text !== '0') this.#failed += 1;
      this.#add(name, text, micros);
    }
  }

  #tellPlace(micros: number): void {
    const { cwd } = this.source.place;
    if (cwd === undefined || cwd === this.#cwd) return;
    this.#cwd = cwd;
    this.#add('cwd', cwd, micros);
  }

  #tellLost(micros: number): void {
    if (this.#lost > 0) this.#add('gap', String(this.#lost), micros);
    this.#lost = 0;
  }

  #resized({ cols, rows }: Size): void {
    this.#add('resize', `${cols}x${rows}`, this.#at(this.#init.clock.monotonic()));
  }

  #add(name: LogEventName, data: Uint8Array | string, micros: number): void {
    const { file, clock, onTick } = this.#init;
    file.append(logLine(micros, name, data));
    this.#events += 1;
    if (this.#events >= flushEvents || file.waiting >= flushBytes)
      this.#faults.guard(() => void this.flush(), 'a flush');
    this.#flushTimer ??= clock.after(flushMs, () => {
      this.#flushTimer = undefined;
      void this.flush();
      onTick();
    });
  }

  #full(reason: ExitReason): void {
    if (this.#isFull || this.#stopped) return;
    this.#isFull = true;
    this.#init.onFull(reason);
  }

  /** One timer regardless of output: if it fires early, it is set again for the rest. */
  #armIdle(): Disposable | undefined {
    const { clock, limits } = this.#init;
    const limit = limits.idleMs();
    const look = (): void => {
      this.#idleTimer = undefined;
      const now = limits.idleMs();
      const left = this.#lastMs + now - clock.monotonic();
      if (now > 0 && left <= 0) this.#full('rotated_idle');
      else this.#idleTimer = this.#armIdle();
    };
    if (limit === 0) return undefined;
    return clock.after(Math.min(mostIdleMs, Math.max(1, this.#lastMs + limit - clock.monotonic())), look);
  }

  /** Unix time in microseconds; never goes back. */
  #at(monotonicMs: number): number {
    this.#micros = Math.max(this.#micros, Math.round((this.#epochMs + monotonicMs) * 1000));
    return this.#micros;
  }
}
